# SPDX-License-Identifier: Apache-2.0
"""Adapts the copied tree to the library: sets names and texts, applies the answers, copies dlpack.h.

No source goes through Jinja, which would change C++ silently. Names are replaced as plain text, and lines are chosen by
conditions in comments, so that the template itself builds. Before Python runs this file, Jinja replaces one expression
in main() by a string literal that contains the answers as JSON, so that no answer becomes code.
"""

import os
import sys

# Python writes no bytecode into the library's copy of kernkit, from which this script loads modules.
sys.dont_write_bytecode = True

# A hook runs as a file in the folder for temporary files. Other files of that folder must not be imported.
sys.path = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

import glob  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402

SENTINEL = "template_library"
SENTINEL_TEXTS = {
    "description": "template library description",
    "author": "template library author",
}
LICENCE_LINE = re.compile(rb"^(#|//) SPDX-License-Identifier: Apache-2.0\n", re.MULTILINE)
# A line with the condition under which the next lines are kept: "//@ if cuda", "#@ else", "<!--@ end -->".
CONDITION = re.compile(rb"^\s*(?:(?://|#)@ (if|else|end) ?(\w*)|<!--@ (if|else|end) ?(\w*) -->)$")
# The comment sign of a line that is commented out in the template, so that the template itself builds.
COMMENTED = re.compile(rb"^(\s*)(?://|#): ?")
SDK = os.path.join("third_party", "kernkit")
DEVELOPMENT = os.path.join("third_party", "kernkit_dev")
DLPACK = os.path.join("third_party", "dlpack", "include")
RECORD = ".kernkit.json"  # file with the answers, from which `kernkit update` renders again


def true_conditions(answers: dict) -> set:
    """Returns the conditions of lines (the words after "if") that these answers make true."""
    conditions = {answers["cuda"], answers["sdk"], answers["ci"].lower(), answers["licence"]}
    if answers["cuda"] != "none":
        conditions.add("cuda")
    if answers["licence"] != "none":
        conditions.add("licensed")
    if answers["sdk"] == "vendored":
        conditions.add(answers["dev"])
    conditions.update(answers["parts"].split(","))
    return conditions - {"none", ""}


def choose(text: bytes, conditions: set) -> bytes:
    """Returns the text without the lines of conditions and without the lines whose condition is false. Conditions do
    not nest."""
    lines = []
    keep, conditional = True, False
    for line in text.split(b"\n"):
        match = CONDITION.match(line)
        if match is None:
            if keep:
                lines.append(COMMENTED.sub(rb"\1", line) if conditional else line)
            continue
        keyword = match.group(1) or match.group(3)
        if keyword == b"if":
            keep = (match.group(2) or match.group(4)).decode() in conditions
        else:
            keep = keyword == b"end" or not keep
        conditional = keyword != b"end"
    return b"\n".join(lines)


def substitute(text: bytes, answers: dict) -> bytes:
    """Replaces the sentinels in one pass, so that a sentinel in an answer stays unchanged."""
    name = answers["library_name"].encode()
    new = {SENTINEL.encode(): name, SENTINEL.upper().encode(): name.upper()}
    for answer, sentinel in SENTINEL_TEXTS.items():
        new[sentinel.encode()] = answers[answer].encode()
    author = re.fullmatch("(.*) <(.*)>", answers["author"])
    if author is not None:  # pyproject.toml has a table for a name with an address
        table = '{name = "%s", email = "%s"}' % author.groups()
        new[b'{name = "template library author"}'] = table.encode()
    return re.sub(b"|".join(new), lambda match: new[match.group()], text)


def license_lines(text: bytes, licence: str) -> bytes:
    """Replaces the licence at the top of a source and in pyproject.toml by the library's licence."""
    line = b"" if licence == "none" else b"\\1 SPDX-License-Identifier: %s\n" % licence.encode()
    text = text.replace(b'\nlicense = "Apache-2.0"\n', b'\nlicense = "%s"\n' % licence.encode())
    return LICENCE_LINE.sub(line, text, count=1)


def remove_build_outputs() -> None:
    """Removes the copies of build outputs, which exist if the template itself was built."""
    for folder in ("build", ".venv", ".pytest_cache"):
        shutil.rmtree(folder, ignore_errors=True)
    for folder, folders, _ in os.walk("."):
        if "__pycache__" in folders:
            shutil.rmtree(os.path.join(folder, "__pycache__"))
            folders.remove("__pycache__")


def remove_other_files(answers: dict) -> None:
    """Moves the chosen licence to LICENSE, and removes the files and lines that the answers exclude."""
    licence = os.path.join("licences", answers["licence"])
    if os.path.exists(licence):
        os.rename(licence, "LICENSE")
    shutil.rmtree("licences")
    if answers["ci"] == "none":
        shutil.rmtree(".github")
    if answers["sdk"] == "find_package":
        shutil.rmtree(SDK)
    if "copied" not in true_conditions(answers):
        shutil.rmtree(DEVELOPMENT)
    if answers["cuda"] == "none" or "torch_tests" not in true_conditions(answers):
        os.remove(os.path.join("tests", "test_torch_cuda.py"))
    if answers["cuda"] == "none":
        os.remove(os.path.join("kernels", "silu_and_mul", "silu_and_mul.cu"))
        with open("CMakePresets.json", encoding="utf-8") as stream:
            lines = stream.readlines()
        with open("CMakePresets.json", "w", encoding="utf-8") as stream:
            stream.writelines(line for line in lines if '"cuda"' not in line)


def adapt(answers: dict) -> None:
    """Puts the answers into all files and into the names of files and folders, except below third_party/."""
    conditions = true_conditions(answers)
    for folder, folders, files in os.walk(".", topdown=False):
        if os.path.relpath(folder).startswith("third_party" + os.sep):
            continue
        for file in files:
            path = os.path.join(folder, file)
            with open(path, "rb") as stream:
                old = stream.read()
            new = license_lines(substitute(choose(old, conditions), answers), answers["licence"])
            if new != old:
                with open(path, "wb") as stream:
                    stream.write(new)
        for entry in files + folders:
            if SENTINEL in entry:
                path = os.path.join(folder, entry)
                os.rename(path, os.path.join(folder, entry.replace(SENTINEL, answers["library_name"])))


def load_tool(path: str):
    """Loads a module of the SDK's command line by its path, and returns it. The module's name is the last part of the
    path."""
    name = os.path.basename(path)
    spec = importlib.util.spec_from_file_location(name, os.path.join(SDK, "python", "kernkit", path + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def divide_sdk(names: str) -> None:
    """Removes the components of the SDK that the library does not use, and moves the files for development to a
    separate folder."""
    components = load_tool("scaffold/components")
    problem = components.problem(names, components.files_below(SDK))
    if problem:
        sys.exit(f"kernkit: parts: {problem}")
    components.remove_others(SDK, names)
    components.move_development(SDK, DEVELOPMENT)


def write_record(answers: dict, version: str) -> None:
    """Writes the version of kernkit and the answers from which the library was rendered."""
    answers = {key: answers[key] for key in sorted(answers) if not key.startswith("_")}
    with open(RECORD, "w", encoding="utf-8") as stream:
        json.dump({"version": version, "answers": answers}, stream, indent=2, ensure_ascii=False)
        stream.write("\n")


def has_dlpack(include: str) -> bool:
    """Returns whether the folder `include` has dlpack/dlpack.h of version 1.0 or newer."""
    try:
        with open(os.path.join(include, "dlpack", "dlpack.h"), encoding="utf-8") as stream:
            version = re.search(r"#define\s+DLPACK_MAJOR_VERSION\s+(\d+)", stream.read())
    except (OSError, UnicodeDecodeError):
        return False
    return version is not None and int(version.group(1)) >= 1


def folders_of_template(answers: dict) -> list:
    """Returns the parent folder of the template, once for each answer of cookiecutter that is a path to the template."""
    folders = []
    for key in ("_repo_dir", "_template"):
        # The template as given by the caller: a path, which can be relative to the caller's folder, or a URL.
        template = os.path.join(os.environ.get("PWD", ""), str(answers.get(key)))
        if os.path.isfile(os.path.join(template, "cookiecutter.json")):
            folders.append(os.path.dirname(os.path.abspath(template)))
    return folders


def copy_sdk(answers: dict) -> None:
    """Copies the SDK into the library if the template is in an installed wheel of kernkit. In the wheel, the SDK's
    Python code is the package that contains the template, and all other files of the SDK are in the package's folder sdk."""
    for package in folders_of_template(answers):
        is_package = os.path.isfile(os.path.join(package, "cli.py"))
        if is_package and os.path.isdir(os.path.join(package, "sdk")) and not os.path.exists(SDK):
            others = {os.path.join(package, name) for name in ("sdk", "share", "template")}

            def left_out(folder: str, names: list, others: set = others) -> list:
                return [name for name in names if name == "__pycache__" or os.path.join(folder, name) in others]

            shutil.copytree(os.path.join(package, "sdk"), SDK)
            shutil.copytree(package, os.path.join(SDK, "python", "kernkit"), ignore=left_out)


def dlpack_candidates(answers: dict) -> list:
    """Returns the include folders in which dlpack.h is searched: of this Python, of a .venv beside the template, and of
    the system."""
    candidates = []
    wheel = importlib.util.find_spec("tvm_ffi")  # finds the folder of the package without importing the package
    if wheel is not None:
        candidates += [os.path.join(location, "include") for location in wheel.submodule_search_locations]
    for folder in folders_of_template(answers):
        venv = os.path.join(glob.escape(folder), ".venv")
        candidates += sorted(glob.glob(os.path.join(venv, "lib", "python3*", "*-packages", "tvm_ffi", "include")))
    return candidates + ["/usr/include", "/usr/local/include"]


def copy_dlpack(answers: dict) -> None:
    """Copies dlpack.h into the library. Exits with an error message if no dlpack.h of version 1.0 or newer is
    found."""
    from_environment = os.environ.get("DLPACK_INCLUDE_DIR")
    if from_environment and not has_dlpack(from_environment):
        sys.exit(
            f"kernkit: DLPACK_INCLUDE_DIR is {from_environment}, which has no dlpack/dlpack.h of version "
            "1.0 or newer; set DLPACK_INCLUDE_DIR to a folder with this file, or unset the variable"
        )
    for include in [from_environment] if from_environment else dlpack_candidates(answers):
        if has_dlpack(include):
            os.makedirs(os.path.join(DLPACK, "dlpack"), exist_ok=True)
            shutil.copyfile(
                os.path.join(include, "dlpack", "dlpack.h"),
                os.path.join(DLPACK, "dlpack", "dlpack.h"),
            )
            return
    sys.exit(
        "kernkit: dlpack/dlpack.h of version 1.0 or newer not found; run "
        f"{sys.executable} -m pip install apache-tvm-ffi (its wheel holds the file), or set "
        "DLPACK_INCLUDE_DIR to the folder of dlpack/dlpack.h, and run the command again"
    )


def main() -> None:
    answers = json.loads({{ cookiecutter | tojson | tojson }})
    copy_sdk(answers)
    if not os.path.isfile(os.path.join(SDK, "CMakeLists.txt")):
        sys.exit(
            "kernkit: the template's symbolic links are lost (in a zip file, or on a file system "
            "without symbolic links); use a git clone of the repository"
        )
    copy_dlpack(answers)
    remove_build_outputs()
    version = load_tool("sdk").version_of(pathlib.Path(SDK))
    for imported in ("project/copies", "project/manifest"):  # the modules that are loaded next import both modules
        load_tool(imported)
    kept_rendering = load_tool("scaffold/kept_rendering")
    divide_sdk(answers["parts"])
    remove_other_files(answers)
    adapt(answers)
    write_record(answers, version)
    if answers["sdk"] == "vendored":
        kept_rendering.keep(".", version)


if __name__ == "__main__":
    main()
