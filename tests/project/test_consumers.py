# SPDX-License-Identifier: Apache-2.0
"""Other projects use kernkit by find_package, by add_subdirectory, and from C."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import tvm_ffi
from commands import ENVIRONMENT, run
from elftools.elf.elffile import ELFFile
from kernkit.binaries.identity import read_identity
from kernkit.binaries.library import read_library
from kernkit.commands.doctor import examine


@pytest.fixture
def outside(root, tmp_path):
    return copy_of_consumers(root, tmp_path / "out side")


def copy_of_consumers(root, copy):
    """Copies tests/consumers into a folder outside the repository."""
    shutil.copytree(root / "tests/consumers", copy)
    for project in ("find_package", "add_subdirectory"):
        shutil.copytree(copy / "negate", copy / project / "negate")
    return copy


def build_and_call(source, *options):
    listing = (source / "CMakeLists.txt").read_text().splitlines()
    assert len(listing) <= 12
    build = source / "build"
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DKERNKIT_CUDA=OFF", *options)
    run("cmake", "--build", build)
    module = tvm_ffi.load_module(str(build / "libconsumer.so"))
    x = np.array([1, -2, 0], "float32")
    y = np.zeros_like(x)
    module.negate(y, x)
    np.testing.assert_array_equal(y, -x)


def test_find_package(prefix, outside):
    assert not list(prefix.rglob("dlpack/dlpack.h"))
    listing = outside / "find_package/CMakeLists.txt"
    again = "find_package(kernkit REQUIRED)\nfind_package(kernkit 0.1 REQUIRED)\n"
    listing.write_text(listing.read_text().replace("find_package(kernkit REQUIRED)\n", again))
    build_and_call(outside / "find_package", f"-DCMAKE_PREFIX_PATH={prefix}")


def test_a_library_without_cuda_files_has_nothing_of_cuda(prefix, outside):
    """A library without CUDA files has no CUDA runtime and no CUDA in its identity, even if nvcc was found. A .cu file
    or a CUDA library adds both."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    source = outside / "find_package"
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DKERNKIT_CUDA=ON")
    build_and_call(source, f"-DCMAKE_PREFIX_PATH={prefix}", *options)
    assert "CUDA:STRING=ON" in (source / "build/CMakeCache.txt").read_text()
    library = source / "build/libconsumer.so"
    assert re.findall(r".*(?:cuda[A-Z]|cudart|__cuda).*", run("nm", library)) == []
    assert read_identity(library)["cuda"] == "none"
    assert library.stat().st_size < 200_000

    listing = source / "CMakeLists.txt"
    lines = listing.read_text()
    (source / "more.cu").touch()
    for with_cuda in (
        lines.replace("CPU_ONLY", "CPU_ONLY LIBRARIES CUDA::cudart_static"),
        lines + "target_sources(consumer_objects PRIVATE more.cu)\n",
    ):
        listing.write_text(with_cuda)
        run("cmake", source / "build")
        commands = run("ninja", "-C", source / "build", "-t", "commands", "libconsumer.so")
        assert re.search(r"-DKERNKIT_WITH_CUDA .*negate_export.cc", commands)
        assert re.search(r"-Dcuda=\"?[\d.]+ for \d", commands)


@pytest.mark.all
def test_code_written_for_tvm_ffi(prefix, root, tmp_path):
    source = tmp_path / "moving"
    shutil.copytree(root / "docs/examples/moving", source)
    run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", "-DKERNKIT_CUDA=OFF", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", source / "build")
    library = source / "build/libmoving.so"
    assert "tvm_ffi" not in run("readelf", "-d", library)
    assert [finding for finding in examine(read_library(library)) if not finding.ok] == []
    x = np.array([[3.0, 4.0]])
    out = np.zeros_like(x)
    module = tvm_ffi.load_module(str(library))
    module.rms_norm(out, x, None, 0.0)
    np.testing.assert_allclose(out, x / np.sqrt(12.5))
    # The op rows has no schema line, so its error names "argument 1"; the op columns has a schema line with the name x.
    assert (module.rows(x), module.columns(x)) == (1, 2)
    with pytest.raises(TypeError, match=r"^rows\(\): argument 1: expected Tensor, got int 1$"):
        module.rows(1)
    with pytest.raises(TypeError) as error:
        module.columns(1)
    assert str(error.value) == "columns(): x: expected Tensor, got int 1"

    # The page lists the failures of this op's contract tests: {rule: message}.
    output = subprocess.run([source / "build/contract_test"], capture_output=True, text=True).stdout
    broken = {
        "ByteOffset": "rms_norm() with 8 of its address in byte_offset for x: out: element 0 is ",
        "PartialOverlap": "rms_norm() with out in the memory of x, 1 elements from its first: out: element 1 is ",
        "Shapes": "rms_norm() with out of shape [5, 33]: it raised InternalError: ",
        "ImpossibleShapes": "rms_norm() with a first dimension of -1 in every tensor: it raised InternalError: ",
        "Sentences": "it raised TypeError: rms_norm(): Unsupported dtype: float16; expected a message ",
        "StaysInside": "rms_norm() with 8 of its address in byte_offset for out: byte -8 from the first element of out was written",
    }
    assert set(re.findall(r"^\[  FAILED  \] Contract/rms_norm\.(\w+) \(", output, re.MULTILINE)) == set(broken), output
    for sentence in broken.values():
        assert sentence in output


@pytest.mark.parametrize("kind", ["host", "host_shared"])
def test_cpp_host(prefix, outside, library, kind):
    build = outside / "host/build"
    run("cmake", "-S", outside / "host", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    program = build / f"with_{kind}"
    assert run(program, library).splitlines() == [
        "add(Tensor(out!) z[each...], Tensor x[each...], Tensor y[each...]) -> ()",
        "scale(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()",
        "2 4 6",
        'TypeError: scale(): factor: expected float, got str "two"',
    ]
    needed = run("readelf", "-d", program)
    assert ("libkernkit_host.so.0" in needed) == (kind == "host_shared")


def test_runtime_exports_one_function(prefix):
    """libkernkit_host.so exports one function. In particular, it exports no symbol named TVMFFI*, which would take
    precedence over tvm_ffi's."""
    (shared,) = prefix.glob("lib*/libkernkit_host.so")
    with open(shared, "rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        defined = {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF"}
    assert defined == {"kernkit_host_find"}


def test_ops_that_no_line_adds_and_missing_files_are_reported(root, outside):
    source = outside / "add_subdirectory"
    listing = source / "CMakeLists.txt"
    text_of_listing = listing.read_text()

    def configure(text):
        listing.write_text(text)
        command = ["cmake", "-S", source, "-B", source / "b", "-G", "Ninja", "-DKERNKIT_CUDA=OFF"]
        result = subprocess.run(
            [*command, f"-DKERNKIT_SOURCE={root}"], capture_output=True, text=True, env=ENVIRONMENT
        )
        assert result.returncode != 0
        return " ".join(result.stderr.split())

    line = "kernkit_add_kernel(consumer negate CPU_ONLY)"
    assert "negate_export.cc exists, but no kernkit_add_kernel(... negate)" in configure(
        text_of_listing.replace(line, "")
    )
    assert "negate.cu is missing; an op without a CUDA implementation is" in configure(
        text_of_listing.replace(" CPU_ONLY", "")
    )
    assert "there is no library nobody; call kernkit_add_library(nobody) first" in configure(
        text_of_listing.replace("kernel(consumer", "kernel(nobody")
    )


def test_add_subdirectory(root, outside):
    source = outside / "add_subdirectory"
    build_and_call(source, f"-DKERNKIT_SOURCE={root}", "-DCMAKE_BUILD_TYPE=Release")
    check_identity(source)


def check_identity(source):
    """Checks that the library reports the commit of its own project, and whether its sources were edited after the
    commit."""
    git = ("git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@b")

    def built(commit=""):
        printed = run("env", f"KERNKIT_COMMIT={commit}", "cmake", "--build", source / "build")
        steps = re.findall(r"(?:Building|Linking) (?:CXX object|CXX shared library) (\S+)", printed)
        return read_identity(source / "build/libconsumer.so"), [step.rpartition("/")[2] for step in steps]

    record, steps = built()
    assert (record["library"], record["commit"], record["cuda"], steps) == ("consumer", "unknown", "none", [])
    (source / "tests").mkdir()
    (source / "tests/a.txt").write_text("a")
    run(*git, "init", "--quiet")
    run(*git, "add", "CMakeLists.txt", "negate", "tests")
    run(*git, "commit", "--quiet", "--message", "start")
    commit = run(*git, "rev-parse", "HEAD").strip()
    record, steps = built()
    assert (record["commit"], steps) == (commit, ["consumer_identity.cc.o", "libconsumer.so"])
    assert built() == (record, [])
    (source / "tests/a.txt").write_text("edited")
    assert built() == (record, [])
    (source / "negate/negate.h").open("a").write("// edited\n")
    assert built()[0]["commit"] == commit + "+"
    assert built("v1.2")[0]["commit"] == "v1.2"
    run("cmake", source / "build", "-DCMAKE_BUILD_TYPE=Debug")
    assert built()[0]["commit"] == "unknown"


def test_a_too_old_dlpack_is_rejected_by_name(outside, root, tmp_path):
    old = tmp_path / "old/dlpack"
    old.mkdir(parents=True)
    (old / "dlpack.h").write_text("#define DLPACK_VERSION 60\n")
    result = subprocess.run(
        ["cmake", "-S", outside / "add_subdirectory", "-B", tmp_path / "b", "-G", "Ninja",
         f"-DKERNKIT_SOURCE={root}", f"-DDLPACK_INCLUDE_DIR={tmp_path / 'old'}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode != 0
    assert "older than 1.0" in result.stderr and "pip install apache-tvm-ffi" in result.stderr


def test_c_program(root, library, outside, tmp_path, dlpack_include):
    program = tmp_path / "main"
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
        "-I", root / "sdk/include", "-isystem", dlpack_include,
        root / "docs/gallery/from_c/main.c", "-o", program, "-ldl")  # fmt: skip
    assert run(program, library).splitlines() == [
        "2 4 6",
        "TypeError: scale(): takes 3 arguments (y, x, factor), got 2",
    ]


@pytest.fixture(scope="module")
def four_ops(root, tmp_path_factory):
    """Returns a configured project with four ops, tests and a benchmark. The fourth op calls the third, and the third
    calls the second; `USES` of the fourth names the third only."""
    source = copy_of_consumers(root, tmp_path_factory.mktemp("four") / "ops") / "add_subdirectory"
    listing = (source / "CMakeLists.txt").read_text()
    for op, uses in (("second", ""), ("third", " USES second"), ("fourth", " USES third")):
        shutil.copytree(source / "negate", source / op)
        for file in (source / op).iterdir():
            file.write_text(file.read_text().replace("negate", op))
            file.rename(file.with_name(file.name.replace("negate", op)))
        listing += f"kernkit_add_kernel(consumer {op} CPU_ONLY{uses})\n"
    for op in ("negate", "second", "third", "fourth"):
        (source / f"{op}_test.cc").write_text(f'#include "{op}/{op}.h"\n')
    (source / "negate_bench.cc").touch()
    listing += "kernkit_add_tests(consumer .)\nkernkit_add_benchmarks(consumer .)\n"
    (source / "CMakeLists.txt").write_text(listing)
    run("cmake", "-S", source, "-B", source / "b", "-G", "Ninja", "-DKERNKIT_CUDA=OFF",
        f"-DKERNKIT_SOURCE={root}")  # fmt: skip
    return source


def test_a_program_links_its_op_and_the_ops_it_uses(four_ops):
    """After an edit of an op, only the programs of this op and of its callers are linked again."""
    build = four_ops / "b"
    expected = {
        "negate_test": {"negate"},
        "negate_bench": {"negate"},
        "second_test": {"second"},
        "third_test": {"third", "second"},
        "fourth_test": {"fourth", "third", "second"},
        "consumer_test": {"negate", "second", "third", "fourth"},
        "libconsumer.so": {"negate", "second", "third", "fourth"},
    }
    linked = {}
    for program in expected:
        inputs = run("ninja", "-C", build, "-t", "query", program)
        objects = re.findall(r"consumer_objects\.dir/(\w+)/\1(?:_export)?\.cc\.o\n", inputs)
        assert all(objects.count(op) == 2 for op in objects)
        assert "kernkit.cc.o" in inputs
        linked[program] = set(objects)
    assert linked == expected


def test_a_call_of_another_op_without_uses(four_ops):
    """If a call of another op is not declared by `USES`, the linker's error ends with the line that declares the call.
    With this line the program is linked."""
    test, listing = four_ops / "negate_test.cc", four_ops / "CMakeLists.txt"
    before = test.read_text(), listing.read_text()
    test.write_text('#include "third/third.h"\nauto* called() { return &consumer::third; }\n')
    build = ["cmake", "--build", four_ops / "b", "--target", "negate_test"]
    failed = subprocess.run(build, capture_output=True, text=True)
    assert failed.returncode != 0 and "undefined reference" in failed.stdout
    assert (
        "kernkit: a program of negate links the objects of negate alone. If its files, its test or its benchmark call "
        "functions of other ops, name these ops: kernkit_add_kernel(consumer negate ... USES third)\n"
    ) in failed.stdout
    line = "kernkit_add_kernel(consumer negate CPU_ONLY"
    assert line in before[1]
    listing.write_text(before[1].replace(line, line + " USES third"))
    run(*build)
    listing.write_text(before[1].replace(line, line + " USES fifth"))
    rejected = subprocess.run(build, capture_output=True, text=True)
    sentence = ("kernkit_add_kernel(consumer negate): USES names fifth, which is not an op of consumer; its ops are negate, "
                "second, third, fourth")  # fmt: skip
    assert rejected.returncode != 0 and sentence in " ".join((rejected.stdout + rejected.stderr).split())
    test.write_text(before[0])
    listing.write_text(before[1])


def test_an_op_without_a_benchmark_is_reported_and_not_an_error(four_ops, root):
    printed = run("cmake", "-S", four_ops, "-B", four_ops / "b")
    assert "-- kernkit: op second has no second_bench.cc, so no second_bench\n" in printed
    (four_ops / "third_test.cc").unlink()
    result = subprocess.run(
        ["cmake", "-S", four_ops, "-B", four_ops / "b"], capture_output=True, text=True
    )
    assert result.returncode != 0
    sentence = (f'kernkit: op third has no {four_ops}/third_test.cc; write there #include "kernkit/testing/contract.h" and '
                "KERNKIT_TEST_CONTRACT(third, example<float>(7)), an example for each argument, then cuda_only() if it is "
                "GPU_ONLY")  # fmt: skip
    assert sentence in " ".join(result.stderr.split())
