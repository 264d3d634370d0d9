# SPDX-License-Identifier: Apache-2.0
"""The wheel kernkit-simulator of the last commit has the same bytes when built in two folders, has the expected
contents, and runs a program in a new environment without a compiler."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import zipfile

import pytest
from commands import path_without, run
from cuda_tools import include_of, tool
from kernkit.binaries.elf import ElfFile
from kernkit.binaries.glibc import platform_tag
from kernkit.driver import release, simulator_wheel
from kernkit.driver.options import Options
from kernkit.errors import UserError
from kernkit.simulator import prebuilt, runtime

LIBRARIES = ("libcudart.so.13", "driver/libcuda.so.1", "driver/libnvJitLink.so.13")
COMPILERS = ("c++", "cc", "g++", "gcc", "clang", "clang++", "cmake", "make", "ninja", "nvcc", "ccache")


def test_without_headers_of_cuda_nothing_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "cuda_headers", lambda: None)
    message = ("dist --simulator: cuda.h and cudaTypedefs.h of CUDA 13, which define the names of the driver's functions, were not found: "
               "add --cuda, or install the CUDA toolkit")  # fmt: skip
    with pytest.raises(UserError, match=re.escape(message)):
        simulator_wheel.build(tmp_path, "1735689600")
    assert list(tmp_path.iterdir()) == []


def test_the_version_of_cuda_is_read(tmp_path, monkeypatch):
    (tmp_path / "cuda.h").write_text("#define CUDA_VERSION 13010\n")
    monkeypatch.setattr(runtime, "cuda_headers", lambda: tmp_path)
    assert simulator_wheel.version_of_cuda() == "13.1"


def test_a_processor_without_the_simulator_is_an_error():
    with pytest.raises(UserError, match="^dist --arch aarch64: only the wheel kernkit-simulator depends on the processor; add --simulator$"):
        release.dist(Options("dist", architectures="aarch64"))


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    """Returns a folder for the builds of the last commit. Skips the tests if the wheel cannot be built."""
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    if runtime.cuda_headers() is None:
        pytest.skip("no cuda.h of CUDA 13")
    if subprocess.run(["git", "rev-parse"], cwd=root, capture_output=True).returncode != 0:
        pytest.skip("this copy has no git repository")
    return tmp_path_factory.mktemp("builds")


def build(root, folder, processor=""):
    """Builds the wheel kernkit-simulator of the last commit and returns its path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "ROOT", root)
        patch.setenv("PATH", f"{sys.prefix}/bin:{os.environ['PATH']}")  # auditwheel
        return release.reproducible_simulator("HEAD", folder, processor)


@pytest.fixture(scope="module")
def simulator(root, folder):
    return build(root, folder)


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def unpacked(simulator, tmp_path_factory):
    return unpack(simulator, tmp_path_factory.mktemp("unpacked"))


@pytest.fixture(scope="module")
def sources(folder, simulator):
    """Returns the first of the folders in which the wheel was built, with the sources and the build of the runtime."""
    return folder / release.FOLDERS[0][0]


@pytest.fixture(scope="module")
def environment(root, simulator, sources, tmp_path_factory):
    """Returns a new environment in which both wheels are installed; their dependencies come from this environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "ROOT", root)
        (kernkit,) = release._build(sources, ("wheel",), "1735689600").values()
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-deps", "--no-index",
        "--disable-pip-version-check", kernkit, simulator)  # fmt: skip
    (packages,) = folder.glob("lib/python*/site-packages")
    here = [place for place in sys.path if place.endswith("-packages")]
    (packages / "dependencies.pth").write_text("\n".join(here))
    return folder


def kernkit(environment, folder, *words):
    """Runs the installed `kernkit` in a folder, with an empty cache and a PATH without compilers; returns the process
    and its processor time [s]."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("KK_", "PYTHONPATH", "CUDA_", "VIRTUAL_ENV"))}
    kept.update(PATH=path_without(folder / "programs", *COMPILERS), XDG_CACHE_HOME=str(folder / "cache"))
    command = [environment / "bin/python", "-m", "kernkit", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, env=kept)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_tag(wheel, package, machine):
    """Checks that the wheel's name has the platform tag of auditwheel, and that kernkit's reader of ELF files finds no
    newer versions of glibc."""
    versions = set()
    for name in LIBRARIES:
        file = ElfFile(package / name)
        versions |= set(file.needed_versions().values())
        assert file.machine == machine
        assert file.names_of_symbols() is None, "the library is not stripped"
    (tag,) = re.findall(rf"^kernkit_simulator-\d+\.\d+\.\d+-py3-none-(manylinux_2_\d+_{machine})(?:\.\w+)*\.whl$", wheel.name)
    assert tag == platform_tag(machine, versions)
    assert wheel.stat().st_size < 2_000_000


@pytest.mark.slow
def test_the_tag_is_that_of_the_libraries(simulator, unpacked):
    check_tag(simulator, unpacked / prebuilt.PACKAGE, "x86_64")


@pytest.mark.slow
def test_the_wheel_has_these_files(root, unpacked):
    (info,) = unpacked.glob("*.dist-info")
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    own = {f"{prebuilt.PACKAGE}/{name}" for name in ("__init__.py", prebuilt.RECORD, *LIBRARIES)}
    assert found == own | {f"{info.name}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}
    assert (info / "licenses/LICENSE").read_bytes() == (root / "LICENSE").read_bytes()
    metadata = (info / "METADATA").read_text()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata and "Requires-Dist" not in metadata
    record = json.loads((unpacked / prebuilt.PACKAGE / prebuilt.RECORD).read_text())
    assert record.keys() == {"version", "digest", "cuda"} and record["cuda"].startswith("13.")


# Copyright notices of NVIDIA, and paths of files of the CUDA toolkit.
FOREIGN = re.compile(rb"(?i)copyright[^\n\0]{0,40}NVIDIA|NVIDIA[ ]CORPORATION|/usr/local/cuda|\bcuda\w*\.h\b")


@pytest.mark.slow
def test_the_libraries_hold_nothing_of_nvidia_s_files(unpacked, sources):
    """The libraries contain no line of a comment or of code of CUDA's headers; names and numbers of CUDA's interface
    are not compared."""
    headers = include_of("cudaTypedefs.h") or runtime.cuda_headers()
    lines = {line.strip(b" *\n") for name in ("cuda.h", "cudaTypedefs.h") for line in (headers / name).read_bytes().splitlines()}
    lines = {line for line in lines if len(line) > 30 and b" " in line}
    assert len(lines) > 5000
    for name in LIBRARIES:
        content = (unpacked / prebuilt.PACKAGE / name).read_bytes()
        assert FOREIGN.findall(content) == [] and str(sources).encode() not in content
        assert [line for line in lines if line in content] == []


@pytest.mark.slow
def test_every_header_of_the_build_is_in_the_digest(simulator, sources):
    """The digest covers every header that the build reads; otherwise a runtime of other sources could be used."""
    folder = sources / simulator_wheel.BUILD / "build"
    listed = run("ninja", "-C", folder, "-t", "deps")
    files = {pathlib.Path(os.path.normpath(folder / line.strip())) for line in listed.splitlines() if line.startswith("    ")}
    of_sdk = {path.relative_to(sources / "sdk").as_posix() for path in files if sources / "sdk" in path.parents}
    assert len(of_sdk) > 200
    assert of_sdk - prebuilt.sources_of_runtime(sources / "sdk").keys() == set()


CALLS = """
import ctypes
runtime, driver = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcuda.so.1")
count, devices = ctypes.c_int(), ctypes.c_int()
print(runtime.cudaGetDeviceCount(ctypes.byref(count)), driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(devices)),
      count.value, devices.value)
"""


@pytest.mark.slow
def test_the_first_run_needs_no_compiler(environment, tmp_path):
    done, seconds = kernkit(environment, tmp_path, "run", "--devices", 2, environment / "bin/python", "-c", CALLS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 0 2 2\n", "")
    assert seconds < 5


PROGRAM = """
#include <cstdio>
__global__ void square(float* x) { x[threadIdx.x] *= x[threadIdx.x]; }
int main() {
  float* x;
  cudaMallocManaged(&x, 128);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  square<<<1, 32>>>(x);
  std::printf("%d %g\\n", cudaDeviceSynchronize(), x[31]);
}
"""


@pytest.mark.slow
def test_a_program_of_nvcc_and_its_tools_run(environment, tmp_path):
    if tool("nvcc") is None:
        pytest.skip("nvcc is not installed")
    (tmp_path / "square.cu").write_text(PROGRAM)
    run(tool("nvcc"), "-arch=compute_80", tmp_path / "square.cu", "-o", tmp_path / "square")
    done, seconds = kernkit(environment, tmp_path, "run", tmp_path / "square")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 961\n", "") and seconds < 5
    shutil.rmtree(tmp_path / "programs")
    done, _ = kernkit(environment, tmp_path, "sanitize", tmp_path / "square")
    assert done.returncode == 0 and "0 961\n" in done.stdout


@pytest.mark.slow
def test_kernkit_env_names_the_runtime(environment, tmp_path):
    done, _ = kernkit(environment, tmp_path, "env")
    line = r"^simulator prebuilt, kernkit-simulator \S+, with the driver's functions of CUDA 13\.\d$"
    assert re.search(line, done.stdout, re.MULTILINE), done.stdout


@pytest.mark.slow
def test_a_wheel_of_other_sources_is_not_used(environment, tmp_path):
    """The wheel is not used if a comment of the installed sources was changed. The runtime would have to be compiled,
    which fails without a compiler."""
    copy = tmp_path / "environment"
    shutil.copytree(environment, copy, symlinks=True)
    (source,) = copy.glob("lib/python*/site-packages/kernkit/sdk/simulator/executor.h")
    source.write_text(source.read_text() + "// A comment.\n")
    (tmp_path / "run").mkdir()
    done, _ = kernkit(copy, tmp_path / "run", "run", "true")
    assert done.returncode == 3 and "kernkit: the runtime of kernkit-simulator " in done.stderr, done.stderr
    assert "is not used: the prebuilt runtime was compiled from other sources than kernkit " in done.stderr
    assert done.stderr.rstrip().splitlines()[-1].startswith("kernkit: neither ninja nor make is installed; ")


CALLER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** libraries) {
  int devices = 0, of_driver = 0;
  void* runtime = dlopen(libraries[1], RTLD_NOW | RTLD_GLOBAL);
  void* driver = dlopen(libraries[2], RTLD_NOW);
  if (count < 3 || !runtime || !driver) return puts(dlerror());
  int (*count_devices)(int*) = (int (*)(int*))dlsym(runtime, "cudaGetDeviceCount");
  int (*init)(int) = (int (*)(int))dlsym(driver, "cuInit");
  int (*count_of_driver)(int*) = (int (*)(int*))dlsym(driver, "cuDeviceGetCount");
  printf("%d ", count_devices(&devices));
  printf("%d ", init(0));
  printf("%d ", count_of_driver(&of_driver));
  printf("%d %d\\n", devices, of_driver);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("qemu-aarch64") or not shutil.which("aarch64-linux-gnu-g++"),
                    reason="g++-aarch64-linux-gnu or qemu-user is not installed")  # fmt: skip
def test_the_wheel_for_aarch64_runs_under_qemu(root, folder, tmp_path):
    (tmp_path / "builds").mkdir()
    wheel = build(root, tmp_path / "builds", "aarch64")
    package = unpack(wheel, tmp_path / "unpacked") / prebuilt.PACKAGE
    check_tag(wheel, package, "aarch64")
    (tmp_path / "main.c").write_text(CALLER)
    run("aarch64-linux-gnu-gcc", "-D_GNU_SOURCE", tmp_path / "main.c", "-o", tmp_path / "main", "-ldl")
    printed = run("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", tmp_path / "main", *(package / name for name in LIBRARIES[:2]))
    assert printed == "0 0 0 1 1\n"
