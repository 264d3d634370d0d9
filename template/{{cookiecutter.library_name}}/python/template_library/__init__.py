# SPDX-License-Identifier: Apache-2.0
"""template library description

The build writes the ops and their signatures, from the schema line of each op.
"""

from importlib.metadata import PackageNotFoundError, version

from . import _ops
from ._ops import *  # noqa: F403

__all__ = _ops.__all__  # names that help() lists

try:
    __version__ = version("template_library")
except PackageNotFoundError:  # not installed, but imported from a build
    __version__ = "0"
