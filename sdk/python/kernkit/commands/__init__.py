# SPDX-License-Identifier: Apache-2.0
"""The commands: one module for each, with its arguments and its work."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # a library's copy has the package in two folders
