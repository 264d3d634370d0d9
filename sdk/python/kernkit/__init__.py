# SPDX-License-Identifier: Apache-2.0
"""The command line of kernkit and the modules that its commands use, see `kernkit --help`.

A library's copy of kernkit splits this package into two folders: third_party/kernkit contains the modules that
`kernkit bindings` needs during a build, and third_party/kernkit_dev contains the other modules.
"""

import pathlib

_DEVELOPMENT = pathlib.Path(__file__).resolve().parents[3] / "kernkit_dev/python/kernkit"
if _DEVELOPMENT.is_dir():
    __path__.append(str(_DEVELOPMENT))

pytest_plugins = ("kernkit.pytest_plugin",)  # plugin that `pytest -p kernkit` loads
