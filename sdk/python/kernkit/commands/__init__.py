# SPDX-License-Identifier: Apache-2.0
"""The commands of kernkit. Each module has the arguments and the work of one command."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # the package's modules are in two folders in a library's copy of kernkit
