# SPDX-License-Identifier: Apache-2.0
"""Where the SDK is, and its version: the wheel's, a library's copy, or the repository's."""

import pathlib
import re

_HERE = pathlib.Path(__file__).resolve().parent


def sdk_folder() -> pathlib.Path:
    """The folder that holds include/, cmake/ and python/."""
    inside = _HERE / "sdk"
    return inside if inside.is_dir() else _HERE.parents[1]


def version_of(folder: pathlib.Path) -> str:
    """What version.h of an SDK says, as in "0.1.0"."""
    text = (folder / "include/kernkit/base/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define KERNKIT_VERSION_\w+ (\d+)", text))


def version() -> str:
    """The version of this kernkit."""
    return version_of(sdk_folder())
