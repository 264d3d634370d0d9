# SPDX-License-Identifier: Apache-2.0
"""Tools around kernkit's C++ headers: see `kernkit --help`."""
