# SPDX-License-Identifier: Apache-2.0
"""The command update of a library's ./kk. The library's copy of kernkit has no template, so another kernkit updates the
library."""

import contextlib
import os
import pathlib
import tempfile

from .. import programs
from ..errors import UserError
from ..project import copies
from . import tools
from .options import Options
from .tools import PYTHON


def update(options: Options) -> None:
    """Updates the library, and deletes the files that pip installed for the update. Raises UserError if no kernkit
    other than the library's copy is found."""
    with contextlib.ExitStack() as scratch:
        update_by(options, scratch)


def update_by(options: Options, scratch: contextlib.ExitStack) -> None:
    """Updates the library. `scratch`: the context that deletes the files that pip installs for the update. Raises
    UserError if no kernkit other than the library's copy is found."""
    arguments, source = list(options.positional), ""
    if "--from" in arguments:
        at = arguments.index("--from")
        if at + 1 == len(arguments):
            raise UserError("--from needs a kernkit: a checkout of kernkit's repository, a wheel, or any other "
                        "pip requirement")  # fmt: skip
        source = arguments[at + 1]
        del arguments[at : at + 2]
    own_copy = (tools.ROOT / copies.SDK / "python").resolve()
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)
             if path and pathlib.Path(path).resolve() != own_copy]  # fmt: skip
    if source and os.path.isdir(f"{source}/sdk/python/kernkit"):  # a checkout is used without being installed
        paths.insert(0, os.path.abspath(f"{source}/sdk/python"))
    elif source:
        target = scratch.enter_context(tempfile.TemporaryDirectory(prefix="kernkit-"))
        tools.pip_install("--no-index", "--no-deps", "--no-build-isolation", "--target", target, source)
        paths.insert(0, target)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    imported = programs.run([PYTHON, "-c", "import kernkit"], env=environment, capture_output=True)
    if imported.returncode != 0:
        raise UserError(f"no other kernkit than this library's copy is installed; run: ./kk {' '.join(['update', *arguments])} "
                    "--from WHERE, a checkout of kernkit's repository, a wheel, or any other pip requirement")  # fmt: skip
    if not os.environ.get("KK_VENV") and not tools.has_module("cookiecutter"):
        tools.pip_install("cookiecutter>=1.7.3")  # renders the template
    tools.run_here(*tools.KERNKIT, "update", *arguments, env=environment)
