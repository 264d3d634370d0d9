# SPDX-License-Identifier: Apache-2.0
"""The contents of kernkit's wheel, and the use of the wheel in a new environment."""

import collections
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile

import pytest
from commands import ENVIRONMENT, run
from kernkit.driver.release import difference

pytestmark = pytest.mark.all
pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")

BUILD = """
import os, sys
from scikit_build_core import build
os.chdir(sys.argv[1])
print(getattr(build, sys.argv[2])(sys.argv[3]))
"""


def build(source, hook, output):
    """Calls a hook of the build backend, like a build frontend; returns the path of the written file."""
    output.mkdir(exist_ok=True)
    return output / run(sys.executable, "-c", BUILD, source, hook, output).splitlines()[-1]


@pytest.fixture(scope="module")
def sdist(root, tmp_path_factory):
    return build(root, "build_sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Returns the wheel built from the sdist, as pip builds it from an index, with file permissions of umask 077."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder)
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    return build(next(folder.iterdir()), "build_wheel", folder / "made")


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """Returns a new environment with the wheel; the dependencies come from this environment."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin/python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps",
        "--no-index", "--disable-pip-version-check", wheel)  # fmt: skip
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    here = [path for path in sys.path if path.endswith("-packages")]
    pathlib.Path(packages, "dependencies.pth").write_text("\n".join(here))
    return folder


def command(environment, *arguments, code=0, **options):
    """Runs the installed `kernkit` outside the repository and returns its output."""
    result = subprocess.run(
        [environment / "bin/kernkit", *map(str, arguments)],
        cwd=environment, capture_output=True, text=True, **options,
    )  # fmt: skip
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def files_below(folder):
    """Returns {relative path: (content, whether it is executable)}, following links."""
    contents_by_path = {}
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if "cache" not in name]
        for path in (pathlib.Path(parent, name) for name in names):
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            contents_by_path[path.relative_to(folder).as_posix()] = path.read_bytes(), executable
    return contents_by_path


def test_the_tree_and_the_sdist_make_the_same_wheel(root, wheel, tmp_path):
    direct = build(root, "build_wheel", tmp_path)
    assert direct.name == wheel.name and wheel.name.endswith("-py3-none-any.whl")
    assert difference(direct, wheel) == ""


# Copyright notices of NVIDIA's files, and the first bytes of compiled code: ELF, archives, device code.
FOREIGN = re.compile(rb"(?i)copyright[^\n]{0,40}NVIDIA[ ]C|NVIDIA[ ]CORPORATION &|\A(?:\x7fELF|!<arch>|\x50\xed\x55\xba)")


def contents(archive):
    """Returns {path: content} of the files in a wheel or an sdist."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return {name: opened.read(name) for name in opened.namelist()}
    with tarfile.open(archive) as opened:
        return {each.name: opened.extractfile(each).read() for each in opened if each.isfile()}


def test_archives_hold_nothing_of_nvidia_and_no_compiled_code(sdist, wheel):
    """The archives contain no compiled code and no file of NVIDIA, as the page on licences states."""
    for archive in (sdist, wheel):
        contents_by_path = contents(archive)
        assert len(contents_by_path) > 500
        assert [name for name, content in contents_by_path.items() if FOREIGN.search(content)] == []
        assert [name for name in contents_by_path if re.search(r"\.(so|a|o|cubin|fatbin|pyc)(\.|$)|(^|/)nvidia/", name)] == []


@pytest.mark.parametrize(
    "content", ["/* Copyright (c) 2024, NVIDIA" + " CORPORATION. */", "\n// NVIDIA" + " CORPORATION & AFFILIATES", "\x7fELF", "!<arch>\n"]
)
def test_a_foreign_file_is_found(content):
    assert FOREIGN.search(content.encode())


COPY = "{{cookiecutter.library_name}}/third_party/kernkit/"


@pytest.fixture(scope="module")
def package(environment):
    (folder,) = environment.glob("lib/python*/site-packages/kernkit")
    return folder


def repeated(archive, sdk):
    """Returns the paths of files whose content occurs more often in an archive than in the SDK."""
    expected = collections.Counter(sdk)
    paths = collections.defaultdict(list)
    for name, content in contents(archive).items():
        paths[content].append(name)
    return sorted(name for content, count in expected.items() if len(paths[content]) > count for name in paths[content])


def test_the_wheel_contains_one_sdk(root, wheel, tmp_path):
    sdk = [content for path, (content, _) in files_below(root / "sdk").items() if content and path != "python/kernkit/project/names.py"]
    assert len(sdk) > 600
    assert repeated(wheel, sdk) == []
    planted = shutil.copy(wheel, tmp_path)
    with zipfile.ZipFile(planted, "a") as archive:
        archive.writestr("kernkit/template/tensor.h", (root / "sdk/include/kernkit/tensor.h").read_bytes())
    assert repeated(pathlib.Path(planted), sdk) == ["kernkit/sdk/include/kernkit/tensor.h", "kernkit/template/tensor.h"]


def test_the_template_and_the_sdk_arrive_through_their_links(root, environment, package):
    template = files_below(root / "template")
    assert files_below(package / "template") == {path: template[path] for path in template if not path.startswith(COPY)}
    sdk = files_below(root / "sdk")
    elsewhere = {path for path in sdk if path.startswith(("python/", "cmake/wheel/"))}
    assert files_below(package / "sdk") == {path: sdk[path] for path in sdk.keys() - elsewhere}
    assert len(elsewhere) == len(files_below(root / "sdk/python")) + 2
    assert not [path for path in package.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("parts", ["ptx", "plots,frameworks,tvm_ffi_compat"])
def test_new_puts_the_copy_together_from_the_one_sdk(root, environment, package, parts, tmp_path):
    """`kernkit new` of the wheel, `kernkit new` of the repository, and cookiecutter with the installed template write
    the same files."""
    for kind in ("wheel", "repository", "cookiecutter"):
        (tmp_path / kind).mkdir()
    options = ["new", "fast_ops", "--no-git", *([] if parts == "ptx" else ["--without", "ptx", "--with", parts]), "--output"]
    command(environment, *options, tmp_path / "wheel")
    environ = {**ENVIRONMENT, "PYTHONPATH": str(root / "sdk/python")}
    for module, *arguments in (("kernkit", *options, tmp_path / "repository"),
                               ("cookiecutter", "--no-input", "-o", tmp_path / "cookiecutter", package / "template",
                                "library_name=fast_ops", f"parts={parts}")):  # fmt: skip
        subprocess.run([sys.executable, "-B", "-m", module, *map(str, arguments)], check=True, env=environ, cwd=tmp_path)
    rendered_files = files_below(tmp_path / "repository/fast_ops")
    assert {"third_party/kernkit/CMakeLists.txt", "third_party/kernkit_dev/python/kernkit/driver/library.py"} <= rendered_files.keys()
    assert files_below(tmp_path / "wheel/fast_ops") == rendered_files == files_below(tmp_path / "cookiecutter/fast_ops")


def test_components_are_checked_before_anything_is_written(environment, tmp_path):
    message = command(environment, "new", "fast_ops", "--output", tmp_path, "--with", "rugs", code=3)
    assert message.startswith('kernkit: unsupported component "rugs"; supported components: ptx, gpu, ') and message.endswith(", plots\n")
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_that_of_the_header(root, wheel, environment):
    header = (root / "sdk/include/kernkit/base/version.h").read_text()
    major, minor, patch = re.findall(r"#define KERNKIT_VERSION_\w+ (\d+)", header)
    assert wheel.name.split("-")[1] == f"{major}.{minor}.{patch}"
    assert command(environment, "--version") == f"kernkit {major}.{minor}.{patch}\n"


def test_the_command_line(root, environment, library, tmp_path):
    listing = command(environment, "--help")
    for name in ("new", "add", "update", "doctor", "bindings", "cmakedir", "exit codes: 0 done"):
        assert name in listing
    command(environment, "frobnicate", code=2)
    write = ["bindings", library, "--output", tmp_path / "x", "--package"]
    rejected = command(environment, *write, "x-y", code=3)
    assert rejected == 'kernkit: --package: "x-y" is not the name of a Python package; enter identifiers, separated by dots\n'
    command(environment, *write, "x")
    assert "def scale(" in (tmp_path / "x/_ops.py").read_text()
    assert command(environment, "doctor", library).startswith("ok    schemas   2 ops: add, scale\n")


def build_outputs(environment, source):
    """Returns the files in a project's wheel, built in the environment."""
    environ = {**ENVIRONMENT, "VIRTUAL_ENV": str(environment), "CMAKE_ARGS": "-DKERNKIT_CUDA=OFF"}
    result = subprocess.run(
        [environment / "bin/python", "-c", BUILD, source, "build_wheel", source],
        capture_output=True, text=True, env=environ,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    with zipfile.ZipFile(source / result.stdout.splitlines()[-1]) as archive:
        return set(archive.namelist())


def test_find_package_in_a_build_by_scikit_build_core(root, environment, tmp_path):
    consumer = tmp_path / "consumer"
    shutil.copytree(root / "tests/consumers/wheel", consumer)
    shutil.copytree(root / "tests/consumers/negate", consumer / "negate")
    assert "consumer/libconsumer.so" in build_outputs(environment, consumer)


def test_a_library_that_finds_the_wheel(environment, tmp_path):
    """The installed command creates, packages and updates a library that finds kernkit in the wheel."""
    answers = ["--sdk", "find_package", "--cuda", "none"]
    command(environment, "new", "fast_ops", "--output", tmp_path, *answers)
    library = tmp_path / "fast_ops"
    assert not list(library.glob("third_party/kernkit*"))
    assert {"fast_ops/_ops.py", "fast_ops/libfast_ops.so"} <= build_outputs(environment, library)
    assert "nothing to do" in command(environment, "update", "--library", library)


def test_a_library_without_dev_uses_the_wheel(environment, package, tmp_path):
    """A library without dev uses the wheel in its own environment, or the wheel of the program kernkit on PATH."""
    command(environment, "new", "fast_ops", "--output", tmp_path, "--without", "dev", "--cuda", "none", "--no-git")
    library = tmp_path / "fast_ops"
    inherited = {key: value for key, value in ENVIRONMENT.items() if key != "PYTHONPATH"}
    for number, (venv, path) in enumerate(((environment, ""), (sys.prefix, f"{environment}/bin:"))):
        environ = {**inherited, "VIRTUAL_ENV": str(venv), "KK_VENV": str(venv), "PATH": path + inherited["PATH"]}
        result = subprocess.run(["./kk", "doctor"], cwd=library, env=environ, capture_output=True, text=True)
        # ./kk doctor runs and reports that the library is not built.
        message = "kernkit: build/release/lib/libfast_ops.so cannot be read: No such file or directory\n"
        assert (result.returncode, result.stderr) == (3, message), result.stdout
        configure = ["cmake", "-S", library, "-B", tmp_path / str(number), "-G", "Ninja"]
        result = subprocess.run(list(map(str, configure)), env=environ, capture_output=True, text=True)
        assert f"-- kernkit: tests and benchmarks use the installed kernkit in {package}/sdk\n" in result.stdout, result.stderr
        assert result.returncode == 0, result.stderr


def test_find_package_by_the_folder_that_is_printed(root, environment, tmp_path):
    for part in ("wheel", "negate"):
        shutil.copytree(root / "tests/consumers" / part, tmp_path, dirs_exist_ok=True)
    shutil.copytree(root / "tests/consumers/negate", tmp_path / "negate")
    listing = tmp_path / "CMakeLists.txt"
    folder = command(environment, "cmakedir").strip()
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja"]
    configure += [f"-Dkernkit_DIR={folder}", "-DKERNKIT_CUDA=OFF"]
    text_of_listing = listing.read_text()
    listing.write_text(text_of_listing + "find_package(kernkit 0.1.0 REQUIRED)\n")
    run(*configure)
    # CMake must find the environment's dlpack.h although the environment is not active.
    inherited = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "DLPACK_INCLUDE_DIR")}
    path = ":".join(path_entry for path_entry in os.environ["PATH"].split(":") if not path_entry.startswith(sys.prefix))
    configure[configure.index("-B") + 1] = tmp_path / "not_active"
    result = subprocess.run([*map(str, configure)], capture_output=True, text=True, env={**inherited, "PATH": path})
    assert result.returncode == 0, result.stdout + result.stderr
    for wrong in ("0.0", "0.2", "1.1", "0.1.999"):
        listing.write_text(text_of_listing.replace("kernkit 0.1 ", f"kernkit {wrong} "))
        rejected = subprocess.run([*map(str, configure)], capture_output=True, text=True)
        assert "compatible with requested version" in " ".join(rejected.stderr.split())
