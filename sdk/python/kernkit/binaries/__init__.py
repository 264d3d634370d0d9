# SPDX-License-Identifier: Apache-2.0
"""Readers of a built library's file."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # a library's copy has the package in two folders
