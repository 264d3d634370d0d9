# SPDX-License-Identifier: Apache-2.0
"""The two folders of a library's copy of kernkit. The template's hook loads this module."""

SDK = "third_party/kernkit"  # the files that a library needs to be built and shipped
DEVELOPMENT = "third_party/kernkit_dev"  # contract tests, simulator and command line
FOLDERS = (SDK, DEVELOPMENT)


def is_copied(path: str) -> bool:
    """Returns whether a path in a library is in the library's copy of kernkit."""
    return path.startswith(tuple(f"{folder}/" for folder in FOLDERS))
