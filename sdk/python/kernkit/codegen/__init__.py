# SPDX-License-Identifier: Apache-2.0
"""What writes source: C++ of a new op, and the Python modules of a library."""
