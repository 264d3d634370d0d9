# SPDX-License-Identifier: Apache-2.0
"""Generators of source: C++ of a new op, and the Python modules of a library."""
