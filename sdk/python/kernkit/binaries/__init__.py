# SPDX-License-Identifier: Apache-2.0
"""Reads the file of a built library, without loading the library."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # the package's modules are in two folders in a library's copy of kernkit
