# SPDX-License-Identifier: Apache-2.0
"""The commands dist and release of ./kk in kernkit's repository. `dist` builds the archives of a release in two folders
and checks that their bytes are equal. `release` first checks that the last commit meets all requirements of a
release."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .. import programs, sdk
from ..errors import UserError
from ..project import git
from ..release import readiness
from ..simulator import prebuilt
from . import simulator_wheel
from .options import Options
from .tools import PYTHON, ROOT, print_heading, run
from .wheel import build_archive

DIST = "dist"
REQUIREMENTS = "tests/requirements-release.txt"  # pip requirements of the tools that check and describe archives
# (folder in which the archives are built, umask of the build).
FOLDERS: Tuple[Tuple[str, int], ...] = (("first", 0o022), ("second folder/with spaces", 0o077))
FROM_SDIST = "from the sdist"


def _unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpacks an archive into a new folder. The umask of this process limits the permissions of the files."""
    folder.mkdir(parents=True)
    run("tar", "--no-same-permissions", "-xf", archive, "-C", folder)


def _build(sources: pathlib.Path, kinds: Tuple[str, ...], epoch: str) -> Dict[str, pathlib.Path]:
    """Builds an archive of each kind in `kinds`, "sdist" or "wheel", in `sources`/dist. Returns {file name: path}.
    epoch: time in the archives [s since 1970]."""
    for kind in kinds:
        build_archive(kind, str(sources / DIST), {}, {"SOURCE_DATE_EPOCH": epoch}, sources)
    return {path.name: path for path in (sources / DIST).iterdir()}


def _members(path: pathlib.Path) -> Iterator[Tuple[str, Any]]:
    """Yields (name, attributes) for each file in an archive. The attributes are the content, the time of the last
    change, the mode and, in a tar archive, the owner."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for each in archive.infolist():
                yield each.filename, (archive.read(each), each.date_time, each.external_attr)
    else:
        with tarfile.open(path) as archive:
            for one in archive:
                file = archive.extractfile(one) if one.isfile() else None
                yield one.name, (file.read() if file else one.linkname, one.mtime, one.mode, one.uname)


def difference(first: pathlib.Path, second: pathlib.Path) -> str:
    """Returns "" for archives with equal bytes, otherwise a message that names the first file that
    differs."""
    if first.read_bytes() == second.read_bytes():
        return ""
    names: List[str] = []
    for (name, content), (other_name, other_content) in zip(_members(first), _members(second)):
        if (name, content) != (other_name, other_content):
            names = [name, other_name]
            break
    at = f"at {' and '.join(sorted(set(names)))}" if names else "in the order or number of files, or in their compression"
    return f"{first.name}: the archives of two folders differ {at}; remove what depends on folder, umask or time"


def _time_of(commit: str) -> str:
    """Returns the time of a commit, in decimal digits [s since 1970]."""
    return git.output(ROOT, "log", "-1", "--format=%ct", commit)


def _build_in_folders(commit: str, folder: pathlib.Path, build: Callable[[pathlib.Path], Dict[str, pathlib.Path]]
                      ) -> List[Dict[str, pathlib.Path]]:  # fmt: skip
    """Unpacks the sources of a commit into each folder of FOLDERS, below `folder`, and calls build(sources) there.
    Returns the results of build()."""
    sources = folder / "sources.tar"
    git.output(ROOT, "archive", "--output", str(sources), commit)
    builds: List[Dict[str, pathlib.Path]] = []
    for name, mask in FOLDERS:
        former = os.umask(mask)
        try:
            _unpack(sources, folder / name)
            builds.append(build(folder / name))
        finally:
            os.umask(former)
    return builds


def _require_equal(builds: List[Dict[str, pathlib.Path]]) -> None:
    """Raises UserError if an archive of a later build differs from the archive of the same name in the first build."""
    for build in builds[1:]:
        for file, path in sorted(build.items()):
            if message := difference(builds[0][file], path):
                raise UserError(message)


def reproducible_archives(commit: str, folder: pathlib.Path) -> List[pathlib.Path]:
    """Builds the sdist and the wheel of a commit in two folders with different umasks, and the wheel also from the
    sdist. Returns the archives of the first build, whose time is the time of the commit.

    folder: an empty folder for the builds. Raises UserError if two builds have different bytes."""
    epoch = _time_of(commit)
    builds = _build_in_folders(commit, folder, lambda sources: _build(sources, ("sdist", "wheel"), epoch))
    (sdist,) = (path for path in builds[0].values() if path.suffix == ".gz")
    _unpack(sdist, folder / FROM_SDIST)
    (unpacked,) = (folder / FROM_SDIST).iterdir()
    builds.append(_build(unpacked, ("wheel",), epoch))
    _require_equal(builds)
    return sorted(builds[0].values())


def reproducible_simulator(commit: str, folder: pathlib.Path, processor: str = "") -> pathlib.Path:
    """Compiles the wheel kernkit-simulator of a commit in two folders with different umasks. Returns the wheel of the
    first build, whose time is the time of the commit.

    folder: an empty folder for the builds. processor: see simulator_wheel.build(). Raises UserError if the builds have
    different bytes, or a build failed."""
    epoch = _time_of(commit)
    builds = _build_in_folders(commit, folder, lambda sources: simulator_wheel.build(sources, epoch, processor))
    _require_equal(builds)
    (wheel,) = builds[0].values()
    return wheel


def environment_with(folder: pathlib.Path, *installs: Tuple[Any, ...]) -> pathlib.Path:
    """Makes a new Python environment in `folder`, and runs `pip install` there once for each list of arguments. Returns
    the folder bin of the environment."""
    run(PYTHON, "-m", "venv", "--clear", folder)
    for words in installs:
        run(folder / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *words)
    return folder / "bin"


def bill_of_materials(wheel: pathlib.Path, project: pathlib.Path, tools: pathlib.Path, folder: pathlib.Path) -> str:
    """Returns a CycloneDX document (JSON) that lists the wheel and the packages that the wheel requires.

    project: the wheel's pyproject.toml. tools: folder with the program cyclonedx-py. folder: folder for a new
    environment. Raises UserError if cyclonedx-py fails."""
    package = wheel.name.partition("-")[0]
    own = ("--no-index", "--no-deps", "--find-links", wheel.parent, package)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().partition("\n\n")[0].splitlines()
    needed = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    programs_of_wheel = environment_with(folder, own, *([tuple(needed)] if needed else []))
    run(programs_of_wheel / "python", "-c", f"import {package}")
    run(programs_of_wheel / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "uninstall", "--yes", "setuptools", "pip")
    done = programs.run([tools / "cyclonedx-py", "environment", "--output-reproducible", "--mc-type", "library",
                         "--pyproject", project, programs_of_wheel / "python"],
                        capture_output=True, text=True)  # fmt: skip
    if done.returncode != 0:
        raise UserError(f"cyclonedx-py failed: {done.stderr}")
    document = json.loads(done.stdout)
    # pyproject.toml contains no version, so cyclonedx-py cannot write it into the document.
    document["metadata"]["component"]["version"] = sdk.version_of(ROOT / "sdk")
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def dist(options: Options) -> None:
    """Writes the sdist and the wheel of the last commit, the bill of materials and SHA256SUMS to dist/. --simulator
    adds the wheel kernkit-simulator for this machine's processor and for the processor of --arch, and its bill of
    materials. Raises UserError if two builds have different bytes."""
    if options.architectures and not options.is_simulator:
        raise UserError(f"dist --arch {options.architectures}: only the wheel kernkit-simulator depends on the processor; add --simulator")
    commit = git.output(ROOT, "rev-parse", "HEAD")
    if git.output(ROOT, "status", "--porcelain"):
        print("note: uncommitted changes are not part of the archives")
    target = ROOT / DIST
    projects = {"kernkit": ROOT / "pyproject.toml", prebuilt.PACKAGE: ROOT / simulator_wheel.PROJECT / "pyproject.toml"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        print_heading(f"sdist and wheel of {commit[:12]}, in two folders")
        archives = reproducible_archives(commit, folder)
        for processor in ["", *filter(None, [options.architectures])] if options.is_simulator else []:
            print_heading(f"kernkit-simulator of {commit[:12]} for {processor or 'this machine'}, compiled in two folders")
            builds = folder / f"simulator {processor}"
            builds.mkdir()
            archives.append(reproducible_simulator(commit, builds, processor))
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        made = [pathlib.Path(shutil.copyfile(path, target / path.name)) for path in archives]
        print_heading("checks of the package's metadata, and the bill of materials")
        tools = environment_with(folder / "tools", ("-r", ROOT / REQUIREMENTS))
        run(tools / "twine", "check", "--strict", *made)
        for package, project in projects.items():
            wheels = [path for path in made if path.name.startswith(f"{package}-") and path.suffix == ".whl"]
            if wheels:  # the first wheel is for this machine's processor
                run(tools / "validate-pyproject", project)
                bill = target / f"{package}-{sdk.version_of(ROOT / 'sdk')}.cdx.json"
                bill.write_text(bill_of_materials(wheels[0], project, tools, folder / f"environment of {package}"), encoding="utf-8")
                made.append(bill)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (target / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print("".join(sums), end="")


def release(options: Options) -> None:
    """Raises UserError with a list of the requirements of a release that the last commit does not meet. If the commit
    meets all of them, runs dist() unless `options` has --check."""
    found = readiness.problems(ROOT)
    if found:
        raise UserError("\n".join(["this commit cannot be released:", *(f"  {problem}" for problem in found)]))
    print(f"version {sdk.version_of(ROOT / 'sdk')} may be released")
    if not options.is_check:
        dist(options)
