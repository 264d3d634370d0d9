# SPDX-License-Identifier: Apache-2.0
"""template library description

The ops and their signatures are written by the build, from the line with which each is exported.
"""

from importlib.metadata import PackageNotFoundError, version

from ._ops import *  # noqa: F403

try:
    __version__ = version("template_library")
except PackageNotFoundError:  # not installed, but imported from a build
    __version__ = "0"
