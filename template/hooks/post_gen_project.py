# SPDX-License-Identifier: Apache-2.0
"""Makes the copied tree the library's own: its name, its description, its dlpack.h.

No source goes through Jinja, which would change C++ without a word; names are replaced as plain
text. Jinja renders this file, though, before Python runs it, in one place only, in main(): the
answers are JSON inside a string literal, so whatever they contain stays data.
"""

import os
import sys

# A hook runs as a file in the folder for temporary files, whose other files are no modules of ours.
sys.path = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

import glob  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402

SENTINEL = "template_library"
SENTINEL_DESCRIPTION = "template library description"
SDK = os.path.join("third_party", "kernkit")
DLPACK = os.path.join("third_party", "dlpack", "include")


def substitute(text: bytes, name: str, description: str) -> bytes:
    """Replaces the sentinels in one pass, so that an answer which contains one stays as it is."""
    answers = {
        SENTINEL.encode(): name.encode(),
        SENTINEL.upper().encode(): name.upper().encode(),
        SENTINEL_DESCRIPTION.encode(): description.encode(),
    }
    return re.sub(b"|".join(answers), lambda found: answers[found.group()], text)


def remove_build_outputs() -> None:
    """What a build in the template's own tree has left there, and what was copied with it."""
    for folder in ("build", ".venv", ".pytest_cache"):
        shutil.rmtree(folder, ignore_errors=True)
    for folder, folders, _ in os.walk("."):
        if "__pycache__" in folders:
            shutil.rmtree(os.path.join(folder, "__pycache__"))
            folders.remove("__pycache__")


def rename(name: str, description: str) -> None:
    """Puts the answers into all files and into their names, but for third_party/."""
    for folder, folders, files in os.walk(".", topdown=False):
        if os.path.relpath(folder).split(os.sep)[0] == "third_party":
            continue
        for file in files:
            path = os.path.join(folder, file)
            with open(path, "rb") as stream:
                old = stream.read()
            new = substitute(old, name, description)
            if new != old:
                with open(path, "wb") as stream:
                    stream.write(new)
        for entry in files + folders:
            if SENTINEL in entry:
                path = os.path.join(folder, entry)
                os.rename(path, os.path.join(folder, entry.replace(SENTINEL, name)))


def has_dlpack(include: str) -> bool:
    """Whether `include` holds dlpack/dlpack.h, 1.0 or newer."""
    try:
        with open(os.path.join(include, "dlpack", "dlpack.h"), encoding="utf-8") as stream:
            version = re.search(r"#define\s+DLPACK_MAJOR_VERSION\s+(\d+)", stream.read())
    except (OSError, UnicodeDecodeError):
        return False
    return version is not None and int(version.group(1)) >= 1


def dlpack_candidates(answers: dict) -> list:
    """Where dlpack.h may be: this Python, a .venv beside the template, the system."""
    candidates = []
    wheel = importlib.util.find_spec("tvm_ffi")  # finds it without importing it
    if wheel is not None:
        candidates += [os.path.join(place, "include") for place in wheel.submodule_search_locations]
    for key in ("_repo_dir", "_template"):
        # The template as it was given: a path, perhaps relative to the caller's folder, or a URL.
        template = os.path.join(os.environ.get("PWD", ""), str(answers.get(key)))
        if os.path.isfile(os.path.join(template, "cookiecutter.json")):
            venv = os.path.join(glob.escape(os.path.dirname(os.path.abspath(template))), ".venv")
            candidates += sorted(
                glob.glob(os.path.join(venv, "lib", "python3*", "*-packages", "tvm_ffi", "include"))
            )
    return candidates + ["/usr/include", "/usr/local/include"]


def copy_dlpack(answers: dict) -> None:
    """Copies dlpack.h into the library, or ends the run with one sentence."""
    wanted = os.environ.get("DLPACK_INCLUDE_DIR")
    if wanted and not has_dlpack(wanted):
        sys.exit(
            f"kernkit: DLPACK_INCLUDE_DIR is {wanted}, which holds no dlpack/dlpack.h of version "
            "1.0 or newer; set it to a folder that does, or unset it"
        )
    for include in [wanted] if wanted else dlpack_candidates(answers):
        if has_dlpack(include):
            os.makedirs(os.path.join(DLPACK, "dlpack"), exist_ok=True)
            shutil.copyfile(
                os.path.join(include, "dlpack", "dlpack.h"),
                os.path.join(DLPACK, "dlpack", "dlpack.h"),
            )
            return
    sys.exit(
        "kernkit: no dlpack/dlpack.h of version 1.0 or newer was found; type "
        f"{sys.executable} -m pip install apache-tvm-ffi (its wheel holds the file), or set "
        "DLPACK_INCLUDE_DIR to the folder that holds dlpack/dlpack.h, and start again"
    )


def main() -> None:
    answers = json.loads({{ cookiecutter | tojson | tojson }})
    if not os.path.isfile(os.path.join(SDK, "CMakeLists.txt")):
        sys.exit(
            "kernkit: the template's symbolic links are lost (in a zip file, or on a disk that has "
            "none); use a git clone of the repository"
        )
    copy_dlpack(answers)
    remove_build_outputs()
    rename(answers["library_name"], answers["description"])


if __name__ == "__main__":
    main()
