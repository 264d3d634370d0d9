# SPDX-License-Identifier: Apache-2.0
"""Finds the folder and the version of the SDK, which is in the wheel, in a library's copy or in the repository.
Contains the messages about files that a library's copy lacks."""

import pathlib
import re

_HERE = pathlib.Path(__file__).resolve().parent
VERSION_HEADER = "include/kernkit/base/version.h"

NO_TEMPLATE = ("the template is missing: this copy of kernkit is the SDK inside a library; run "
               "./kk update --from WHERE to update the library, or install kernkit (pip install PATH, with the "
               "path of kernkit's repository or of a wheel)")  # fmt: skip

NO_DEVELOPMENT = ("third_party/kernkit has only the command bindings, and third_party/kernkit_dev, which has {command}, is not "
                  "in this library; run ./kk, which uses an installed kernkit, or ./kk update --with dev")  # fmt: skip


def sdk_folder() -> pathlib.Path:
    """Returns the folder that contains include/, cmake/ and python/."""
    inside = _HERE / "sdk"
    return inside if inside.is_dir() else _HERE.parents[1]


def python_folder() -> pathlib.Path:
    """Returns the folder on Python's path that contains this package."""
    return _HERE.parent


def development_folder() -> pathlib.Path:
    """Returns the folder that contains simulator/ and the headers for tests: third_party/kernkit_dev in a library's
    copy, otherwise the folder of the SDK."""
    beside = sdk_folder().parent / "kernkit_dev"
    return beside if beside.is_dir() else sdk_folder()


def version_of(folder: pathlib.Path) -> str:
    """Returns the version in version.h of the SDK in `folder`, as in "0.1.0"."""
    text = (folder / VERSION_HEADER).read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define KERNKIT_VERSION_\w+ (\d+)", text))


def version() -> str:
    """Returns the version of this kernkit."""
    return version_of(sdk_folder())


def without_component(name: str, what: str = "this command") -> str:
    """Returns the message for a command or an option of a component that a library's copy lacks. `what` names the
    command or the option."""
    return (f"this copy of kernkit lacks the component {name}, which provides {what}; run: ./kk update --with {name}; if "
            "kernkit is not installed, add --from WHERE, where WHERE is a checkout or a wheel of kernkit")  # fmt: skip
