# SPDX-License-Identifier: Apache-2.0
"""Kernels that do not depend on kernkit run unchanged from their PTX without a GPU: kernels of CUB and cooperative
groups, which are part of the toolkit, and kernels from FlashInfer's wheel. The table of kernels is in real_kernels/."""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

import flashinfer_sources
import jinja2
import pytest
from cuda_tools import tool
from published import flashinfer_command
from test_ptx_forms import forms_of, listed

KERNELS = "tests/project/real_kernels"
FLASHINFER = {
    "norm": ["norm.cu", "flashinfer_norm_binding.cu"],
    "rope": ["rope.cu", "flashinfer_rope_binding.cu"],
    "page": ["page.cu", "flashinfer_page_binding.cu"],
    "cascade": ["cascade.cu", "flashinfer_cascade_binding.cu"],
    "quantization": ["quantization.cu", "flashinfer_quantization_binding.cu"],
    "sampling": ["sampling.cu", "renorm.cu", "flashinfer_sampling_binding.cu"],
    "topk": ["topk.cu", "cub_topk.cu", "flashinfer_topk_binding.cu"],
}
ACTIVATIONS = {"silu": "silu_def_cu_str", "gelu": "gelu_def_cu_str", "gelu_tanh": "gelu_def_tanh_cu_str"}
# (kind of attention, number of kernels in its library)
ATTENTION = [("single_decode", 1), ("single_prefill", 2), ("batch_decode", 1), ("batch_prefill", 2)]
PTX = "arch=compute_{0},code=compute_{0}".format
FLAGS = ["-cudart", "shared", "-lineinfo", "-Xcompiler", "-fPIC", "-w"]


@pytest.fixture(scope="module")
def runtime(root):
    """Returns the path of the runtime that `./kk build` builds. Skips the test without the runtime or without nvcc."""
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists() or not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler, which compiles these kernels")
    return path


def kernkit_run(root, *arguments, command="run"):
    return subprocess.run([sys.executable, "-B", "-m", "kernkit", command, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip


def run_table(root, runtime, folder, seed, *names):
    """Runs the kernels of the table; returns {kernel: "right" or "wrong"} and the output on stderr."""
    arguments = ["--runtime", runtime, "--seed", seed, sys.executable, "-B", root / KERNELS, folder, *names]
    result = kernkit_run(root, *arguments)
    return dict(re.findall(r"^(.+): (right|wrong)$", result.stdout, re.MULTILINE)), result.stderr


def rows_of_page(names):
    """Returns the rows of the table in docs/running-ptx.md. The rows have the names of kernels without cases, sizes and
    types."""
    rows = {}
    for name in names:
        library, kernel = re.sub(r"\[.*\]$", "", name).split(".", 1)
        row = rows.setdefault(re.sub(r"_\d+_b?float16(_float8_\w+)?$", "", library), [])
        if kernel not in row:
            row.append(kernel)
    return [f"| {library} | {', '.join(f'`{kernel}`' for kernel in row)} |" for library, row in rows.items()]


def test_the_page_names_every_kernel(root):
    """The page lists every kernel in the table. `python tests/project/test_real_kernels.py` prints the rows."""
    names = subprocess.run([sys.executable, "-B", root / KERNELS, "--names"], capture_output=True, text=True, check=True).stdout
    page = (root / "docs/running-ptx.md").read_text()
    rows = rows_of_page(names.splitlines())
    assert re.findall(r"^\| \w+ \| `[^|]*` \|$", page.split("## Kernels by name")[1].split("\n## ")[0], re.M) == rows
    assert sum(row.count("`") // 2 for row in rows) >= 60


def check_table(root, runtime, folder, seeds, count, under_tools=True):
    for seed in seeds:
        output, errors = run_table(root, runtime, folder, seed)
        wrong = [name for name, how in output.items() if how == "wrong"]
        assert not wrong, f"seed {seed}: {wrong}\n{errors}"
        assert len(output) == count, f"{sorted(output)}\n{errors}"
        page = (root / "docs/running-ptx.md").read_text()
        assert [name for name in output if f"`{name.split('.', 1)[1].split('[')[0]}`" not in page] == [], "the page lacks these kernels"
    if under_tools:
        check_tools(root, runtime, folder)


def check_tools(root, runtime, folder):
    """Checks that the tools report only findings for which suppressions.txt gives reasons."""
    arguments = ["--suppressions", root / KERNELS / "suppressions.txt", "--runtime", runtime, "--seed", 1]
    result = kernkit_run(root, *arguments, sys.executable, "-B", root / KERNELS, folder, command="sanitize")
    assert result.returncode == 0 and "kernkit sanitize: 0 findings" in result.stderr, result.stderr


def link(folder, name, runtime, *flags):
    objects = sorted(folder.glob("*.o"))
    library = folder / f"{name}.so"
    flags = flags or ["-Wl,--no-undefined"]
    subprocess.run(["c++", "-shared", "-o", library, *objects, *flags, runtime], check=True)
    if cuobjdump := tool("cuobjdump"):
        ptx = subprocess.run([cuobjdump, "-ptx", library], capture_output=True, text=True, check=True).stdout
        forms = {form for form in forms_of(ptx) if not form.startswith("param")}  # excludes the parameters of a prototype
        assert forms - set(listed()) == set(), "forms.txt lacks these forms, which need a test (see test_ptx_forms.py)"
        assert forms


def compiled(root, folder, name, runtime):
    """Compiles a library from a file of this repository, with the options that a user would use."""
    command = ["nvcc", "-std=c++17", "-O2", f"-gencode={PTX(80)}", *FLAGS, "-c", root / KERNELS / f"{name}.cu"]
    subprocess.run([*command, "-o", folder / f"{name}.o"], check=True)
    link(folder, name, runtime)
    return folder


@pytest.fixture(scope="module")
def groups(root, runtime, tmp_path_factory):
    return compiled(root, tmp_path_factory.mktemp("groups"), "groups", runtime)


@pytest.mark.slow
def test_cooperative_groups(root, runtime, groups):
    check_table(root, runtime, groups, (0, 1, 2), 10)


def check_bits(root, runtime, monkeypatch, *arguments):
    """Checks that a program's output, which includes its results, is the same with KERNKIT_PTX_AVX2=0 and 1."""
    output = []
    for avx2 in ("0", "1"):
        monkeypatch.setenv("KERNKIT_PTX_AVX2", avx2)
        result = kernkit_run(root, "--runtime", runtime, "--seed", 3, *arguments)
        assert result.returncode == 0 and result.stdout, result.stdout + result.stderr
        output.append(result.stdout)
    assert output[0] == output[1]


@pytest.mark.all
def test_same_bits_without_avx2(root, runtime, groups, monkeypatch):
    programs = sorted(path for path in (root / "build/release/programs").glob("*") if not path.name.endswith(("_simulated", "_static")))
    sources = {path.stem for path in (root / "sdk/simulator/tests/programs").glob("*.cu")}
    assert {path.name for path in programs} == sources, "programs are missing: run ./kk build"
    for program in programs:
        check_bits(root, runtime, monkeypatch, program)
    check_bits(root, runtime, monkeypatch, sys.executable, "-B", root / KERNELS, groups)


# Calls a function of faulty.cu with 510 floats, all 1.0, and prints the error and, if the error is 0, the set of the first
# 128 results.
CALL = """
import ctypes, sys
runtime, library = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(sys.argv[1])
count, x, y = 510, ctypes.c_void_p(), ctypes.c_void_p()
values = (ctypes.c_float * count)(*[1.0] * count)
for address in (x, y):
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(4 * count)) == 0
assert runtime.cudaMemcpy(x, values, ctypes.c_size_t(4 * count), 1) == 0
error = getattr(library, sys.argv[2])(x, y, int(sys.argv[3]))
error = error or runtime.cudaMemcpy(values, y, ctypes.c_size_t(4 * count), 2)
print(error, set(values[:128]) if error == 0 else "")
"""


@pytest.fixture(scope="module")
def faulty(root, runtime, tmp_path_factory):
    """Returns call(function, argument), which calls a function of faulty.cu and returns the outcome and the simulator's
    messages."""
    folder = compiled(root, tmp_path_factory.mktemp("faulty"), "faulty", runtime)

    def call(function, argument=0):
        arguments = ["--runtime", runtime, sys.executable, "-c", CALL, folder / "faulty.so", function, argument]
        result = kernkit_run(root, *arguments)
        return result.stdout.strip(), result.stderr.replace("kernkit: (anonymous namespace)::", "").strip()

    return call


@pytest.mark.all
def test_faults_that_only_ptx_shows(root, faulty):
    """The simulator reports faults in code that g++ does not compile: cooperative groups, a kernel's heap, CUB, inline
    PTX."""
    lines = (root / KERNELS / "faulty.cu").read_text().splitlines()
    thread = "block [0, 0, 0], thread [{}, 0, 0]: ".format

    def line(text):
        return "faulty.cu:" + str(next(i for i, text_of_line in enumerate(lines, 1) if text in text_of_line))

    assert faulty("copy", 1) == ("0 {1.0}", "")
    assert faulty("copy", 0)[0] != "0 {1.0}"
    assert faulty("heap") == ("700", f"heap_after_free: {thread(0)}Invalid __global__ read of size 4 bytes, at byte 8 of 16 bytes that malloc() "
                              f"returned and free() released ({line('= mine[2]')})")  # fmt: skip
    assert faulty("address") == ("716", f"four_at_any_address: {thread(1)}Invalid __global__ read of size 16 bytes, at a misaligned address "
                                 f"({line('(x + threadIdx.x)')})")  # fmt: skip
    error, output = faulty("tile")
    assert error == "700"
    assert output.startswith(f"whole_tile: {thread(127)}Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of 2040 bytes (block_load.cuh:")
    assert line("LoadDirectBlocked") in output


@pytest.mark.slow
@pytest.mark.parametrize("name, count", [("groups", 10), ("cub", 28)])
def test_kernels_of_the_toolkit(root, runtime, tmp_path, monkeypatch, name, count):
    check_table(root, runtime, compiled(root, tmp_path, name, runtime), range(1, 21), count)
    check_bits(root, runtime, monkeypatch, sys.executable, "-B", root / KERNELS, tmp_path)


def flashinfer(csrc, includes, runtime, folder, name, files, *flags, architecture=80):
    for file in files:
        command = flashinfer_command(csrc, [*includes, *FLAGS], file, folder / f"{file.name}.o", PTX(architecture))
        subprocess.run(command, check=True, cwd=csrc)
    link(folder, name, runtime, *flags)


@pytest.mark.all
def test_flashinfers_attention_on_tensor_cores(root, csrc, runtime, tmp_path):
    flashinfer(csrc, [], runtime, tmp_path, "attention", [root / KERNELS / "attention.cu"])
    check_table(root, runtime, tmp_path, (0, 1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [64, 128, 256])
@pytest.mark.parametrize("kind, count", ATTENTION)
def test_flashinfers_attention(root, csrc, compat_includes, runtime, tmp_path, kind, count, size, dtype):
    """FlashInfer's attention kernels compute correct results, without a mask and with a causal mask. Kernels with a
    custom mask are excluded, because nothing calls them."""
    check_attention(root, csrc, compat_includes, runtime, tmp_path, kind, count, str(size), dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype, of_keys, architecture", [("float16", "float8_e4m3fn", 80), ("bfloat16", "float8_e5m2", 80),
                                                          ("float16", "float8_e5m2", 89), ("bfloat16", "float8_e4m3fn", 89)])  # fmt: skip
@pytest.mark.parametrize("kind, count", ATTENTION)
def test_flashinfers_attention_of_float8(root, csrc, compat_includes, runtime, tmp_path, kind, count, dtype, of_keys, architecture):
    """Attention kernels with 8-bit keys and values compute correct results. Keys and values are converted when loaded,
    from sm_89 on by instructions; queries and results have 16 bits."""
    check_attention(root, csrc, compat_includes, runtime, tmp_path, kind, count, "128", dtype, of_keys, architecture=architecture)


def check_attention(root, csrc, compat_includes, runtime, tmp_path, kind, count, size, *dtypes, architecture=80):
    pytest.importorskip("torch")
    options = (dtypes[0], size, *dtypes[1:])
    (folder,) = set(flashinfer_sources.rendered(csrc, tmp_path, kind, *options, architecture="8.0").values())
    files = [path for path in sorted(pathlib.Path(folder).glob("*.cu")) if not re.search("mask_[23]", path.name)]
    includes = [*compat_includes, "-I", folder, "-static-global-template-stub=false"]  # FlashInfer's own options
    flashinfer(csrc, includes, runtime, tmp_path, "_".join((kind, size, *dtypes)), files, "-Wl,-z,lazy", architecture=architecture)
    check_table(root, runtime, tmp_path, (1, 2, 3), count)


@pytest.mark.slow
@pytest.mark.parametrize("name, count", [("norm", 19), ("rope", 22), ("page", 8), ("cascade", 6), ("quantization", 4),
                                         ("sampling", 15), ("topk", 6)])  # fmt: skip
def test_flashinfer(root, csrc, compat_includes, runtime, tmp_path, name, count):
    """FlashInfer's exported functions compute correct results for device tensors on a separate stream."""
    flashinfer(csrc, compat_includes, runtime, tmp_path, name, [csrc / file for file in FLASHINFER[name]])
    check_table(root, runtime, tmp_path, range(1, 21), count, under_tools=name in ("norm", "page", "cascade", "quantization"))


@pytest.mark.slow
def test_flashinfers_activations(root, csrc, compat_includes, runtime, tmp_path):
    """Activation kernels compute correct results. Their files are rendered from a template in FlashInfer's Python
    code."""
    module = ast.parse((csrc.parents[1] / "jit/activation.py").read_text())
    texts = {
        node.targets[0].id: node.value.value for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    files = []
    for activation, definition in ACTIVATIONS.items():
        files.append(tmp_path / f"{activation}_and_mul.cu")
        template = jinja2.Template(texts["activation_templ"])
        files[-1].write_text(template.render(act_func_name=activation, act_func_def=texts[definition]))
    flashinfer(csrc, compat_includes, runtime, tmp_path, "activation", files)
    check_table(root, runtime, tmp_path, range(1, 21), 18)


if __name__ == "__main__":
    print("\n".join(rows_of_page(subprocess.check_output([sys.executable, "-B", KERNELS, "--names"], text=True).splitlines())))
