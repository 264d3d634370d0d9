# SPDX-License-Identifier: Apache-2.0
"""Generators of source: C++ of a new op, and the Python modules of a library."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # the package's modules are in two folders in a library's copy of kernkit
