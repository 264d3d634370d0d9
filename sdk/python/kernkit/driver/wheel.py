# SPDX-License-Identifier: Apache-2.0
"""The commands wheel and wheels of a library's ./kk, which write the wheel and the sdist to dist/."""

import os
import pathlib
import shutil
import subprocess
from typing import Dict

from .. import programs
from ..errors import UserError
from . import simulated_cuda, tools
from .options import Options
from .tools import PYTHON, ROOT, library_name, need_aarch64, run, run_here

CIBUILDWHEEL = "cibuildwheel==4.2.1"


def build_archive(
    kind: str, folder: str, settings: Dict[str, str], environment: Dict[str, str], sources: pathlib.Path = ROOT
) -> None:
    """Builds a "wheel" or "sdist" of the project in `sources`. Calls scikit-build-core's own function, because the pip
    of Debian 12 and of Ubuntu 22.04 does not pass `settings` to scikit-build-core. A relative `folder` is below
    `sources`."""
    code = f"from scikit_build_core.build import build_{kind}; build_{kind}({folder!r}, {settings!r})"
    run_here(PYTHON, "-c", code, cwd=sources, stdout=subprocess.DEVNULL, env={**os.environ, **environment})


def repair(wheel: pathlib.Path, output: str, environment: Dict[str, str], sources: pathlib.Path = ROOT) -> None:
    """Writes a copy of a wheel to the folder `output` below `sources`. The copy has stripped libraries, and the
    platform tag of the glibc that the libraries need; scikit-build-core only sets the tag "linux". Raises UserError if
    auditwheel rejects the wheel."""
    done = programs.run(
        ["auditwheel", "repair", "--strip", "--plat", "auto", "--wheel-dir", output, str(wheel)],
        cwd=sources, env={**os.environ, **environment, "AUDITWHEEL_PATCHER": "none"}, capture_output=True, text=True,
        umask=0o022,  # umask of auditwheel: determines the modes of folders in the wheel
    )  # fmt: skip
    if done.returncode != 0:
        raise UserError(f"auditwheel rejected the wheel\n{done.stderr}")


def for_processor(processor: str) -> Dict[str, str]:
    """Returns the environment variables with which a wheel is built for another processor: the platform in the wheel's
    tag, and PATH with Debian's GNU tools for the processor."""
    return {"_PYTHON_HOST_PLATFORM": f"linux-{processor}", "PATH": f"/usr/{processor}-linux-gnu/bin:{os.environ['PATH']}"}


def build_wheel(preset: str = "release") -> None:
    """Writes to dist/ a wheel with the library in build/`preset`, and the sdist. The wheel contains the library that
    the tests have tested; `pip wheel .` would compile the library again. The same sources give the same bytes, because
    the archives contain a fixed time. The wheel of preset release stays in dist/ when another preset's wheel is
    made."""
    package = f"build/{preset}/python/{library_name()}"
    run("cmake", "--preset", preset)
    run("cmake", "--build", "--preset", preset, "--target", f"{library_name()}_python")
    made = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1735689600")}
    if preset != "release":
        made.update(for_processor(preset))
    for folder in ["build/wheel"] + ["dist"] * (preset == "release"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    settings = {"wheel.cmake": "false", "wheel.platlib": "true", "wheel.packages": package,
                "sdist.include": package}  # fmt: skip
    build_archive("wheel", "build/wheel", settings, made)
    (wheel,) = (ROOT / "build/wheel").glob("*.whl")
    repair(wheel, "dist", made)
    build_archive("sdist", "dist", {}, made)
    run("ls", "-l", "dist")


def try_wheel() -> None:
    """Installs the wheel in build/wheel/installed, and runs the tests in tests/ with the installed package."""
    wheels = [path.relative_to(ROOT) for path in (ROOT / "dist").glob("*.whl")]
    run(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps",
        "--no-index", "--target", "build/wheel/installed", *wheels)  # fmt: skip
    run(*simulated_cuda.pytest(), "-q", "-p", "no:cacheprovider", "-o",
        "pythonpath=../build/wheel/installed", "tests")  # fmt: skip


def wheel(options: Options) -> None:
    if options.architectures:
        need_aarch64()
        return build_wheel(options.architectures)
    build_wheel()
    try_wheel()


def wheels(options: Options) -> None:
    """Builds the wheels that [tool.cibuildwheel] in pyproject.toml selects, in containers with an old glibc. These
    wheels replace the wheel of `./kk wheel` in dist/. Raises UserError if neither docker nor podman is installed."""
    if not any(map(shutil.which, ("docker", "podman"))):
        raise UserError("wheels needs docker or podman, because cibuildwheel builds in containers; install docker or podman")
    tools.pip_install(CIBUILDWHEEL)
    for path in (ROOT / "dist").glob("*.whl"):
        path.unlink()
    run(PYTHON, "-m", "cibuildwheel", "--platform", "linux", "--output-dir", "dist")
