# SPDX-License-Identifier: Apache-2.0
"""Libraries from the template can be built, tested, benchmarked, packaged, installed and called."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest
from elftools.elf.elffile import ELFFile
from rendering import CALL, CALLED, NAME, check, render, run

DESCRIPTION = "Fast operations, for a test."
ADDED = [
    ("mix", "(Tensor(a!) z, Tensor x, int n, Tensor y, bool flag, float alpha=2.0) -> ()"),
    ("row_sum", "(Tensor(a!) y, Tensor x, float alpha=1.0) -> ()", "--kind", "row_reduction"),
    ("row_norm", "(Tensor(a!) y, Tensor x, Tensor z, int n, bool flag, float alpha=1.0) -> ()", "--kind", "row"),
    (
        "attend",
        "(Tensor q, Tensor? mask, Tensor(a!) o, float[] w, int[] window, Tensor(b!)[] error, "
        "Callable count, ScalarType dtype, Device device, str mode='full', bool causal=False) "
        "-> (Tensor lse, int n)",
        "--kind",
        "custom",
    ),
]
@pytest.mark.slow
def test_the_template_itself_builds_unchanged(template, dlpack_include, tmp_path):
    options = {
        "CMAKE_BUILD_TYPE": "Debug",
        "DLPACK_INCLUDE_DIR": dlpack_include,
        "KERNKIT_BUILD_BENCHMARKS": "OFF",
        "KERNKIT_CUDA": "OFF",
        "KERNKIT_WERROR": "ON",
    }
    arguments = [f"-D{key}={value}" for key, value in options.items()]
    source = template / "{{cookiecutter.library_name}}"
    check("cmake", "-S", source, "-B", tmp_path, "-G", "Ninja", *arguments)
    check("cmake", "--build", tmp_path, "-j", "2", "--target", "template_library_python")
    check("cmake", "--build", tmp_path, "-j", "2", "--target", "silu_and_mul_test")
    check(tmp_path / "bin/silu_and_mul_test")
    assert (tmp_path / "python/template_library/libtemplate_library.so").exists()
    show = "import pydoc, template_library as t; print(pydoc.plain(pydoc.render_doc(t)))"
    shown = check(sys.executable, "-B", "-c", show, cwd=tmp_path / "python")
    assert "FUNCTIONS\n    silu_and_mul(y: 'Tensor', x: 'Tensor') -> 'None'\n" in shown


@pytest.fixture(scope="session")
def driver_environment(driver_environment):
    """Returns environment variables for ./kk with a separate compiler cache. A shared cache may return another
    library's object, which names that library's sources as dependencies."""
    return {**driver_environment, "CCACHE_NAMESPACE": "test_builds"}


@pytest.fixture(scope="module")
def library(template, environment, driver_environment, tmp_path_factory):
    """Returns a library with the default answers and a kernel of each kind, committed, after `./kk all`. The name of
    its folder has characters at which compilers or linkers could split the path."""
    output = tmp_path_factory.mktemp("library") / "a b,c"
    output.mkdir()
    result = render(template, output, environment, library_name=NAME, description=DESCRIPTION)
    assert result.returncode == 0, result.stdout
    folder = output / NAME
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")
    for name, schema, *kind in ADDED:
        check("./kk", "add", name, schema, *kind, cwd=folder, env=driver_environment)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "three kernels")
    printed = check("./kk", "all", cwd=folder, env=driver_environment)
    (folder / "build/printed").write_text(printed)
    return folder


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def wheel(library):
    (path,) = (library / "dist").glob("*.whl")
    return path


@pytest.mark.all
def test_one_command_does_everything(library):
    printed = (library / "build/printed").read_text()
    assert re.search(r"\n\d\d+ passed, 0 failed, \d+ skipped in \d+ s\n", printed)  # ctest's
    assert re.search(r"\n\d\d+ passed, 0 failed, \d+ skipped\n", printed)  # the total
    assert len(re.findall(r"\n\d+ passed in ", printed)) == 2  # pytest ran on the build and on the installed wheel
    for implementation in (NAME, f"{NAME}-threads"):
        assert len(re.findall(rf"\nsilu_and_mul/\w+/{implementation}/", printed)) == 12
    assert "\ncopy/float32/memcpy/" in printed
    assert re.search(r"  wheel: \d+ s\n", printed) and re.search(r"  together: \d+ s\n", printed)
    assert git(library, "status", "--short") == ""


@pytest.mark.all
def test_an_added_kernel_is_six_files_and_a_line(library):
    stat = git(library, "diff", "--shortstat", "HEAD~1")
    assert re.match(r" 25 files changed, \d+ insertions\(\+\)\n", stat)
    assert git(library, "diff", "--numstat", "HEAD~1", "kernels/CMakeLists.txt")[:4] == "4\t0\t"


ADDED_CALL = """
import numpy, fast_ops
x = numpy.array([[1, -2], [3, 4]], "float32")
z, y = numpy.empty_like(x), numpy.empty(2, "float32")
fast_ops.mix(z, x, n=3, y=x, flag=True)
fast_ops.row_sum(y, x, alpha=0.5)
print(z.tolist(), y.tolist())
"""


@pytest.mark.all
def test_added_kernels_are_called_with_keywords(library):
    env = {**os.environ, "PYTHONPATH": str(library / "build/wheel/installed")}
    printed = check(sys.executable, "-B", "-c", ADDED_CALL, env=env)
    assert printed == "[[12.0, -24.0], [36.0, 48.0]] [-0.5, 3.5]\n"


@pytest.mark.all
def test_a_run_of_the_benchmarks_is_reported(library, driver_environment):
    check("./kk", "report", cwd=library, env=driver_environment)
    page = (library / "build/bench/report/report.md").read_text()
    for row in ("silu_and_mul float16", "mix float32", "row_sum float64"):
        assert f"### {row}\n" in page
    assert f"| **{NAME}** |" in page and f"| **{NAME}-threads** |" in page and "±" not in page
    result = run("./kk", "bench", "--compare", "none.json", cwd=library, env=driver_environment)
    assert (result.returncode, result.stdout) == (1, "kk: --compare: file none.json not found; name the run.json of an earlier run\n")


@pytest.mark.all
def test_a_benchmark_verifies_its_results(library, driver_environment):
    header = library / "kernels/mix/mix.cc"
    text = header.read_text()
    try:
        header.write_text(text.replace("const int64_t count = x.numel();",
                                       "const int64_t count = x.numel() - 1;"))  # fmt: skip
        once = ("--rounds=1", "--benchmark_min_time=0.001", "--benchmark_repetitions=1")
        result = run("./kk", "bench", "mix", *once, cwd=library, env=driver_environment)
    finally:
        header.write_text(text)
    assert result.returncode == 1
    assert re.search(r"\nfailed: mix/\S+: the result is wrong\n", result.stdout)


@pytest.mark.all
def test_each_op_has_its_contract_tested(library):
    bin = library / "build/release/bin"
    rules = {"ByteOffset", "Empty", "TensorsDevice", "FailedLaunch"}
    for op in ("silu_and_mul", "mix", "row_sum", "attend"):
        listed = check(bin / f"{NAME}_cuda_test", f"--gtest_filter=Contract/{op}.*", "--gtest_list_tests")
        assert rules <= set(listed.split()), listed
    assert "Contract/" not in check(bin / f"{NAME}_test", "--gtest_list_tests")


def linked(printed):
    return set(re.findall(r"Linking \w+ (?:shared library|executable) (\S+)", printed))


@pytest.mark.all
def test_programs_do_not_grow_with_the_ops(library, driver_environment):
    """./kk test OP links only the programs of this op, and compiles no unchanged file again."""
    at = {"cwd": library, "env": driver_environment}
    check("cmake", "--build", "--preset", "release", **at)
    check("cmake", "--build", "--preset", "release", "--target", "clean", **at)
    log = check("./kk", "test", "mix", **at)
    assert linked(log) == {"bin/mix_test", "bin/mix_cuda_test"}
    assert len(re.findall(r"^\[  PASSED  \] \d+ tests?\.$", log, re.MULTILINE)) == 2
    assert not re.search(r"Building .*(silu_and_mul|row_sum|row_norm|attend)", log)
    output = check("cmake", "--build", "--preset", "release", **at)
    assert linked(output) == {f"bin/{NAME}_test", f"bin/{NAME}_cuda_test", f"lib/lib{NAME}.so"}
    compiled = re.findall(r"Building \w+ object (\S+)", log + output)
    assert len(set(compiled)) == len(compiled)
    assert run("./kk", "test", "none", **at).stdout.endswith("kk: op none: tests/none_test.cc not found; name an op that has a test\n")


@pytest.mark.all
def test_an_edit_links_its_own_programs_and_no_more(library, driver_environment):
    def linked_after(path, more, *targets):
        (library / path).open("a").write(more)
        return linked(check("cmake", "--build", "--preset", "release", *targets, cwd=library, env=driver_environment))

    of_mix = ("--target", "mix_test", "mix_cuda_test", "mix_bench")
    linked_after("tests/mix_test.cc", "")  # removes the text that another test appended
    linked_after("tests/mix_test.cc", "", *of_mix)
    tests = {f"bin/{NAME}_test", f"bin/{NAME}_cuda_test"}
    try:
        assert linked_after("tests/mix_test.cc", "// edited\n", *of_mix) == {"bin/mix_test", "bin/mix_cuda_test"}
        assert linked_after("tests/mix_test.cc", "") == tests
        assert linked_after("kernels/mix/mix.cc", "// edited\n", *of_mix) == {"bin/mix_test", "bin/mix_cuda_test", "bin/mix_bench"}
        assert linked_after("kernels/mix/mix.cc", "") == tests | {f"lib/lib{NAME}.so"}
        assert linked_after("kernels/mix/mix.cc", "") == set()
        assert linked_after("kernels/mix/mix.cc", "", "--target", "row_sum_test") <= {"bin/row_sum_test"}
        assert linked_after("kernels/mix/mix.cc", "// again\n", "--target", "row_sum_test") == set()
    finally:
        git(library, "checkout", "--", "tests/mix_test.cc", "kernels/mix/mix.cc")


@pytest.mark.all
def test_one_wheel_serves_every_python(wheel):
    assert re.fullmatch(rf"{NAME}-0\.1\.0-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name)
    archive = zipfile.ZipFile(wheel)
    names = {name for name in archive.namelist() if name.startswith(NAME + "/")}
    files = {"", "__init__.py", "_ops.py", "py.typed", f"lib{NAME}.so"}
    assert names == {f"{NAME}/{file}" for file in files}
    with archive.open(f"{NAME}/lib{NAME}.so") as stream:
        elf = ELFFile(stream)
        symbols = [symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()]
        tags = elf.get_section_by_name(".dynamic").iter_tags()
        needed = {tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"}
    assert "__tvm_ffi_silu_and_mul" in symbols
    assert [symbol for symbol in symbols if re.match("_?Py", symbol)] == []
    libc = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
    assert needed <= libc | {"libpthread.so.0", "libdl.so.2", "librt.so.1"}
    metadata = archive.read(f"{NAME}-0.1.0.dist-info/METADATA").decode()
    assert re.findall("Requires-Dist: (.*)", metadata) == ["apache-tvm-ffi>=0.1.14"]


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(library, driver_environment, tmp_path):
    def digests():
        paths = sorted((library / "dist").iterdir())
        return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]

    before = digests()
    assert len(before) == 2
    for objects in ("silu_and_mul", "__"):  # removes the objects of an op, and of the SDK
        shutil.rmtree(library / f"build/release/kernels/CMakeFiles/{NAME}_objects.dir/{objects}")
    check("./kk", "wheel", cwd=library, env={**driver_environment, "CCACHE_RECACHE": "1"})
    assert digests() == before


@pytest.mark.all
def test_the_wheel_by_the_python_of_debian(library, driver_environment, tmp_path):
    """A wheel can be built by Debian's pip of 2022, which passes no settings to the build backend."""
    debian = pathlib.Path("/usr/bin/python3")
    version = "import sys; print(sys.version_info[:2])"
    if not debian.exists() or run(debian, "-c", version).stdout != run(sys.executable, "-c", version).stdout:
        pytest.skip(f"/usr/bin/python3 is missing or is not Python {HERE}")
    check(debian, "-m", "venv", tmp_path / "venv")
    (packages,) = tmp_path.glob("venv/lib/python3*/site-packages")
    # Python searches this folder after the environment's own packages, which include pip.
    (packages / "more.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    check("./kk", "wheel", cwd=library, env={**driver_environment, "KK_VENV": str(tmp_path / "venv")})


@pytest.mark.slow
def test_everything_without_a_network(template, environment, tmp_path):
    """Everything works without a network after the wheels of requirements.txt were downloaded."""
    if run("unshare", "-rn", "true").returncode != 0:
        pytest.skip("the network cannot be disabled: unshare -rn is not permitted")
    result = render(template, tmp_path, environment, library_name=NAME)
    assert result.returncode == 0, result.stdout
    folder, wheels = tmp_path / NAME, tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels]
    check(*pip, "-r", folder / "requirements.txt")
    env = {key: value for key, value in environment.items() if key not in ("LIBRARY", "KK_VENV")}
    env.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), HOME=str(tmp_path))
    printed = check("unshare", "-rn", "./kk", "all", cwd=folder, env=env)
    assert re.search(r"  together: \d+ s\n", printed)


def python_of(version):
    """Returns a Python interpreter of this version from PATH or pyenv, or None."""
    pythons = [shutil.which(f"python{version}")]
    if shutil.which("pyenv"):
        root = pathlib.Path(run("pyenv", "root").stdout.strip())
        pythons += root.glob(f"versions/{version}.*/bin/python{version}")
    for python in filter(None, pythons):
        if run(python, "-c", "import ensurepip").returncode == 0:
            return python
    return None


HERE = "{}.{}".format(*sys.version_info)


@pytest.mark.all
@pytest.mark.parametrize(
    "version",
    [HERE, *(pytest.param(f"3.{n}", marks=pytest.mark.slow) for n in range(9, 14))],
)
def test_the_wheel_installs_into_a_fresh_environment(wheel, tmp_path, version):
    python = sys.executable if version == HERE else python_of(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    check(python, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    installed = run(python, "-m", "pip", "install", "--quiet", wheel, "numpy")
    if installed.returncode != 0 and "Could not find a version" in installed.stdout:
        pytest.skip("pip could not install apache-tvm-ffi and NumPy")
    assert installed.returncode == 0, installed.stdout
    assert check(python, "-c", CALL.format(name=NAME), cwd=tmp_path) == CALLED


FRAMEWORK_CALLS = {
    "torch": """
import torch, fast_ops
y = torch.empty(1, 2)
fast_ops.silu_and_mul(y, torch.tensor([[1.0, -2, 3, 4]]))
print(y.double().numpy().round(4).tolist(), fast_ops.__version__)
""",
    "jax": """
import jax, jax_tvm_ffi, numpy, fast_ops
function = fast_ops._ops.library.get_function("silu_and_mul")
jax_tvm_ffi.register_ffi_target("silu_and_mul", function, ["rets", "args"], platform="cpu")
call = jax.ffi.ffi_call("silu_and_mul", jax.ShapeDtypeStruct((1, 2), "float32"))
y = numpy.asarray(jax.jit(call)(jax.numpy.array([[1.0, -2, 3, 4]])), "float64")
print(y.round(4).tolist(), fast_ops.__version__)
""",
}


@pytest.mark.all
@pytest.mark.parametrize("framework", FRAMEWORK_CALLS)
def test_frameworks_call_the_wheel(library, framework):
    pytest.importorskip("jax_tvm_ffi" if framework == "jax" else framework)
    env = {**os.environ, "PYTHONPATH": str(library / "build/wheel/installed")}
    assert check(sys.executable, "-B", "-c", FRAMEWORK_CALLS[framework], env=env) == CALLED


@pytest.mark.all
def test_pip_builds_the_sdist(library, wheel, driver_environment, tmp_path):
    (sdist,) = (library / "dist").glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    env = {**driver_environment, "KERNKIT_CUDA": "OFF"}
    check(*pip, "--wheel-dir", tmp_path, sdist, env=env)
    (again,) = tmp_path.glob("*.whl")
    of_pip, of_kk = (
        {name for name in zipfile.ZipFile(path).namelist() if not name.endswith("/")}
        for path in (again, wheel)
    )
    assert of_pip == of_kk


CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(fast_ops 0.1 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE fast_ops::fast_ops)
"""
CONSUMER_MAIN = """
#include <stdio.h>
int __tvm_ffi_silu_and_mul(void*, const void*, int, void*);
const char* kernkit_last_error(void);
int main(void) {
  char result[16] = {0};
  const int code = __tvm_ffi_silu_and_mul(0, 0, 0, result);
  return !(code == -1 && printf("%s\\n", kernkit_last_error()) > 0);
}
"""


@pytest.mark.all
def test_the_library_installs_a_cmake_package(library, tmp_path):
    check("cmake", "--install", library / "build/release", "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "main.c").write_text(CONSUMER_MAIN)
    prefix = f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"
    check("cmake", "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja", prefix)
    check("cmake", "--build", tmp_path / "b")
    printed = check(tmp_path / "b/consumer")
    assert printed == "TypeError: silu_and_mul(): takes 2 arguments (y, x), got 0\n"


# Tests with answers other than the defaults, and with names that are unusual but valid.


def build(folder, environment, *options):
    """Configures, builds and tests the library in `folder` with the preset cpu; returns the output of a call from
    Python."""
    at = {"cwd": folder, "env": environment}
    check("cmake", "--preset", "cpu", *options, **at)
    check("cmake", "--build", "--preset", "cpu", **at)
    check("ctest", "--preset", "cpu", "--no-tests=error", **at)
    env = {**environment, "PYTHONPATH": f"{folder}/build/cpu/python"}
    return check(sys.executable, "-B", "-c", CALL.format(name=folder.name), env=env)


@pytest.mark.slow
def test_the_race_detector_s_preset_finds_a_race(template, environment, driver_environment, tmp_path):
    """The preset tsan reports a planted race between CUDA threads, which run on the CPU."""
    result = render(template, tmp_path, environment, library_name=NAME)
    assert result.returncode == 0, result.stdout
    at = {"cwd": tmp_path / NAME, "env": driver_environment}
    kernel = tmp_path / NAME / "kernels/silu_and_mul/silu_and_mul.cu"

    def tried():
        check("cmake", "--build", "--preset", "tsan", "--target", f"{NAME}_cuda_test", **at)
        return run("ctest", "--preset", "tsan", "-R", "cuda_test.Contract/silu_and_mul.RunsOnCuda", **at)

    check("cmake", "--preset", "tsan", **at)
    result = tried()
    assert "100% tests passed, 0 tests failed out of 1" in result.stdout, result.stdout
    text, line = kernel.read_text(), "      out[i] = result;\n"
    assert text.count(line) == 1
    kernel.write_text(text.replace(line, "      out[0] = ups;\n" + line))
    result = tried()
    assert result.returncode != 0
    assert re.search(r"ThreadSanitizer: data race(.|\n)*silu_and_mul_kernel<float, [0-9]+>", result.stdout)


@pytest.mark.slow
def test_a_library_on_an_installed_kernkit(
    root, template, environment, driver_environment, prefix, tmp_path
):
    answers = {"library_name": "x2", "sdk": "find_package", "licence": "none", "cuda": "required"}
    result = render(template, tmp_path, environment, author="A B <a@b.org>", **answers)
    assert result.returncode == 0, result.stdout
    library = tmp_path / "x2"
    assert not list(library.glob("third_party/kernkit*")) and not (library / "LICENSE").exists()
    assert b"SPDX-License-Identifier" not in (library / "CMakeLists.txt").read_bytes()
    toml = (library / "pyproject.toml").read_text()
    assert 'authors = [{name = "A B", email = "a@b.org"}]\n' in toml
    assert not re.search("^license =", toml, re.MULTILINE)
    tools = {**driver_environment, "PYTHONPATH": str(root / "sdk/python")}
    assert build(library, tools, f"-DCMAKE_PREFIX_PATH={prefix}").startswith("[[2.1932, -0.9536]]")
