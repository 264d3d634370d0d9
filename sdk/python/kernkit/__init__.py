# SPDX-License-Identifier: Apache-2.0
"""Tools around kernkit's C++ headers: see `kernkit --help`.

A library's copy has this package in two folders: third_party/kernkit has the modules of `kernkit bindings`, which a
build runs, and third_party/kernkit_dev has the other modules.
"""

import pathlib

_DEVELOPMENT = pathlib.Path(__file__).resolve().parents[3] / "kernkit_dev/python/kernkit"
if _DEVELOPMENT.is_dir():
    __path__.append(str(_DEVELOPMENT))

pytest_plugins = ("kernkit.pytest_plugin",)  # plugin that `pytest -p kernkit` loads
