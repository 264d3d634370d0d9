# SPDX-License-Identifier: Apache-2.0
"""The prebuilt runtime of the package kernkit_simulator, which replaces the runtime that CMake compiles at the first
run.

The package's file runtime.json has a digest of the sources that the runtime was compiled from. `kernkit run` uses the
runtime only if kernkit's own sources have the same digest, so that all reports follow the rules of this version."""

import hashlib
import importlib.util
import json
import pathlib
import re
from typing import Dict, NamedTuple, Optional

from ..project import manifest
from ..sdk import VERSION_HEADER, development_folder, sdk_folder, version

PACKAGE = "kernkit_simulator"  # name of the Python package; the name for pip is kernkit-simulator
RECORD = "runtime.json"
# Paths below the folder of the SDK. A library's copy has all these files, some of them in third_party/kernkit_dev.
SOURCES = ("CMakeLists.txt", "cmake/KernkitLibrary.cmake", VERSION_HEADER, "include/kernkit/abi/abi.h",
           "include/kernkit/base/cold.h", "include/kernkit/base/fixed_text.h", "include/kernkit/float.h",
           "include/kernkit/types")  # fmt: skip
SIMULATOR = "simulator"
NO_SOURCES = "tests/"  # subfolder of the simulator that has no sources of the runtime


class Prebuilt(NamedTuple):
    """A prebuilt runtime that is installed for this Python."""

    folder: pathlib.Path  # folder of the runtime and of its record
    version: str  # version of kernkit, as in "0.1.0"
    digest: str  # digest_of_sources() of the runtime's sources
    cuda: str  # version of the CUDA headers that name the driver's functions, as in "13.0"


def sources_of_runtime(*folders: pathlib.Path) -> Dict[str, pathlib.Path]:
    """Returns {path below the SDK: file} of the sources that determine the runtime.

    folders: the folder of the SDK, and in a library's copy also the folder of the files for development."""
    found = {}
    for folder in folders:
        for name in SOURCES:
            if (folder / name).is_dir():
                found.update({f"{name}/{path}": folder / name / path for path in manifest.files_below(str(folder / name))})
            elif (folder / name).is_file():
                found[name] = folder / name
        for path in manifest.files_below(str(folder / SIMULATOR)):
            if not path.startswith(NO_SOURCES):
                found[f"{SIMULATOR}/{path}"] = folder / SIMULATOR / path
    return found


def digest_of_sources(*folders: pathlib.Path) -> str:
    """Returns a digest of sources_of_runtime(), in hexadecimal digits. A library's copy and an installed kernkit of the
    same sources have the same digest."""
    digest = hashlib.sha256()
    for name, path in sorted(sources_of_runtime(*folders).items()):
        content = path.read_bytes()
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()


def write_record(folder: pathlib.Path, sdk: pathlib.Path, kernkit: str, cuda: str) -> None:
    """Writes the record of a runtime into the folder of the runtime.

    sdk: folder of the SDK that the runtime was compiled from, of version `kernkit`. cuda: version of CUDA's headers."""
    record = {"version": kernkit, "digest": digest_of_sources(sdk), "cuda": cuda}
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def find() -> Optional[Prebuilt]:
    """Returns the prebuilt runtime that is installed for this Python, or None. Does not import the package."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        folder = pathlib.Path(place)
        if (folder / RECORD).is_file():
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            return Prebuilt(folder, *(str(record.get(name, "unknown")) for name in ("version", "digest", "cuda")))
    return None


def problem_of(found: Prebuilt) -> str:
    """Returns the reason why this kernkit cannot use a prebuilt runtime, with advice; "" for a runtime that can be
    used."""
    if found.digest != digest_of_sources(*dict.fromkeys((sdk_folder(), development_folder()))):
        return (f"the prebuilt runtime was compiled from other sources than kernkit {version()}; install the kernkit-simulator that was "
                "built with this kernkit, or uninstall kernkit-simulator")  # fmt: skip
    if re.search(r"[\s:]", str(found.folder)):
        return (f"the folder {found.folder} has a space or a colon, which LD_PRELOAD does not support; install kernkit-simulator "
                "into an environment without these characters in its path")  # fmt: skip
    return ""


def description() -> str:
    """Returns a description, in one line, of the runtime that `kernkit run` uses."""
    found = find()
    if found is None:
        return "compiled at the first run"
    if problem := problem_of(found):
        return f"compiled at the first run; the runtime of kernkit-simulator {found.version} is not used: {problem}"
    return f"prebuilt, kernkit-simulator {found.version}, with the driver's functions of CUDA {found.cuda}"
