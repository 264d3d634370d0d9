# SPDX-License-Identifier: Apache-2.0
"""Configuration with an unsupported compiler or option fails with a message that gives the reason."""

import os
import shutil
import sys

import pytest
from rendering import run

LISTING = """
cmake_minimum_required(VERSION 3.25)
project(probe VERSION 1.0.0 LANGUAGES CXX)
{before}
add_subdirectory("{root}/sdk" sdk)
kernkit_find_cuda()
kernkit_add_library(probe)
{after}
"""


@pytest.fixture
def configure(root, tmp_path, dlpack_include):
    """Configures a library without ops; returns CMake's exit code and output."""

    def configure(*options, before="", after="", **environment):
        (tmp_path / "CMakeLists.txt").write_text(LISTING.format(root=root, before=before, after=after))
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("KERNKIT_", "CUDA", "NVCC"))}
        arguments = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DDLPACK_INCLUDE_DIR={dlpack_include}", *options]
        return run(*arguments, env={**inherited, **environment})

    return configure


@pytest.fixture
def failing_nvcc(tmp_path):
    """Returns the path of an nvcc that fails when it runs."""
    path = tmp_path / "bin/nvcc"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\necho 'nvcc fatal   : Could not set up the environment' >&2\nexit 1\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "how, expected", [("PATH", ""), ("CUDACXX", "AUTO"), ("-DCMAKE_CUDA_COMPILER", "AUTO"), ("PATH", "ON"), ("CUDACXX", "ON")]
)
def test_a_cuda_compiler_that_fails_is_an_error(configure, failing_nvcc, how, expected):
    options = [f"-DKERNKIT_CUDA={expected}"]
    environment = {}
    if how == "PATH":
        environment["PATH"] = f"{failing_nvcc.parent}:{os.environ['PATH']}"
    elif how == "CUDACXX":
        environment["CUDACXX"] = str(failing_nvcc)
    else:
        options.append(f"{how}={failing_nvcc}")
    result = configure(*options, **environment)
    assert result.returncode != 0
    assert "nvcc fatal   : Could not set up the environment" in result.stdout
    assert "KERNKIT_CUDA=OFF" in result.stdout and "CPU only" not in result.stdout


def test_no_cuda_compiler_and_cuda_that_is_left_out_are_none(configure, failing_nvcc, tmp_path):
    result = configure("-DKERNKIT_CUDA=OFF", CUDACXX=str(failing_nvcc))
    assert result.returncode == 0 and "kernkit: CPU only" in result.stdout
    (tmp_path / "few").mkdir()
    for tool in ("cmake", "ninja", "c++", "as", "ld", "ar", "ranlib"):
        (tmp_path / "few" / tool).symlink_to(shutil.which(tool))
    result = configure("-DKERNKIT_CUDA=AUTO", PATH=str(tmp_path / "few"))
    assert result.returncode == 0 and "kernkit: CPU only" in result.stdout, result.stdout
    result = configure("-DKERNKIT_CUDA=AUTO", CUDACXX="/none/nvcc")
    assert result.returncode != 0 and 'compiler "/none/nvcc"' in result.stdout


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no CUDA compiler")
@pytest.mark.parametrize(
    "environment, sentence",
    [
        ({"CUDAARCHS": "35"}, "Unsupported gpu architecture"),
        ({"NVCC_CCBIN": "/none"}, "Failed to preprocess host compiler properties"),
        ({"CUDAFLAGS": "--arch"}, "nvcc fatal"),
    ],
    ids=str,
)
def test_nvcc_that_cannot_compile_is_an_error(configure, environment, sentence):
    result = configure(**environment)
    assert result.returncode != 0 and "CPU only" not in result.stdout
    assert sentence in " ".join(result.stdout.split())


@pytest.mark.all
def test_a_wheel_is_not_made_without_cuda_where_the_compiler_fails(default_library, failing_nvcc, tmp_path):
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KERNKIT_")}
    arguments = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheels", default_library]
    result = run(sys.executable, *arguments, env={**inherited, "CUDACXX": str(failing_nvcc)})
    assert result.returncode != 0 and "nvcc fatal" in result.stdout
    assert not list(tmp_path.glob("wheels/*.whl"))


@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"])
def test_options_of_the_whole_build_that_flush_subnormals(configure, option):
    result = configure("-DKERNKIT_CUDA=OFF", f"-DCMAKE_CXX_FLAGS=-O2 {option}")
    output = " ".join(result.stdout.split())
    assert result.returncode != 0 and f"kernkit: CMAKE_CXX_FLAGS has {option}, which links start-up code" in output
    assert "use OPTIONS: kernkit_add_kernel(probe <op> ... OPTIONS -ffast-math)" in output


@pytest.mark.parametrize(
    "location, options",
    [
        ("CMAKE_CXX_FLAGS_RELEASE", {"options": ["-DCMAKE_CXX_FLAGS_RELEASE=-O3 -ffast-math"]}),
        ("CMAKE_SHARED_LINKER_FLAGS", {"options": ["-DCMAKE_SHARED_LINKER_FLAGS=-ffast-math"]}),
        ("CMAKE_CUDA_FLAGS", {"options": ["-DCMAKE_CUDA_FLAGS=-Xcompiler -Wall,-ffast-math"]}),
        ("CMAKE_CXX_FLAGS", {"after": "string(APPEND CMAKE_CXX_FLAGS \" -ffast-math\")"}),
        ("CMAKE_CXX_FLAGS", {"CXXFLAGS": "-ffast-math"}),
        ("COMPILE_OPTIONS of the target probe", {"before": "add_compile_options(-ffast-math)"}),
        ("LINK_OPTIONS of the target probe", {"before": "add_link_options(-Ofast)"}),
        ("LINK_OPTIONS of the target probe", {"after": "target_link_options(probe PRIVATE -ffast-math)"}),
        ("COMPILE_OPTIONS of the target probe_objects",
         {"after": "target_compile_options(probe_objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffast-math>)"}),
    ],
)  # fmt: skip
def test_fast_math_is_rejected_in_each_property(configure, location, options):
    options = dict(options)
    result = configure("-DKERNKIT_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Release", *options.pop("options", []), **options)
    assert result.returncode != 0 and f"kernkit: {location} has -" in " ".join(result.stdout.split())


@pytest.mark.parametrize("flags", ["-O3", "-fno-fast-math", "-DNAME=-ffast-mathematics", "-fno-unsafe-math-optimizations"])
def test_other_options_are_taken(configure, flags):
    result = configure("-DKERNKIT_CUDA=OFF", f"-DCMAKE_CXX_FLAGS={flags}")
    assert result.returncode == 0, result.stdout
