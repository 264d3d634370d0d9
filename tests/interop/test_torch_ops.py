# SPDX-License-Identifier: Apache-2.0
"""Tests the operators of PyTorch that `kernkit bindings --torch` writes. Run by ./kk test --with torch."""

import copy
import gc
import importlib
import os
import re
import subprocess
import sys

import packages
import pytest
from packages import write_package
from torch_cases import CASES, REFERENCE, ROWS, UTILITIES, flat, normal, overload, reference_rms, reference_silu, tensors, torch


@pytest.mark.parametrize("case", CASES)
def test_opcheck(torch_ops, case):
    outcomes = torch.library.opcheck(overload(torch_ops, case), CASES[case](), test_utils=UTILITIES)
    assert set(outcomes.values()) == {"SUCCESS"}


@pytest.mark.parametrize("case", REFERENCE)
def test_opcheck_of_the_reference_library(torch_reference, case):
    outcomes = torch.library.opcheck(overload(torch_reference, case), REFERENCE[case](), test_utils=UTILITIES)
    assert set(outcomes.values()) == {"SUCCESS"}


@pytest.mark.parametrize("case", ROWS)
def test_opcheck_of_the_kernels_of_rows(torch_rows, case):
    """Row kernels pass all utilities of opcheck, except test_schema for float8, which torch cannot compare."""
    arguments = ROWS[case]()
    utilities = UTILITIES[any(x.dtype == torch.float8_e4m3fn for x in tensors(arguments)):]
    outcomes = torch.library.opcheck(overload(torch_rows, case), arguments, test_utils=utilities)
    assert set(outcomes.values()) == {"SUCCESS"}


def test_functional_forms_of_the_kernels_of_rows(torch_rows):
    x, w, b = normal(3, 8), normal(8), normal(8) + 1
    gelu = torch.nn.functional.gelu(x[:, :4]) * x[:, 4:]
    added = x + w
    pairs = [
        (torch_rows.rms_norm.functional(x, w), reference_rms(x, w)), (torch_rows.softmax.functional(x), x.softmax(-1)),
        (torch_rows.layer_norm.functional(x, w, b), torch.nn.functional.layer_norm(x, (8,), w, b)),
        (torch_rows.gelu_and_mul.functional(x), gelu),
        (torch_rows.fused_add_rms_norm.functional(x, w.expand(3, 8).contiguous(), b), (reference_rms(added, b), added)),
    ]  # fmt: skip
    for got, expected in pairs:
        torch.testing.assert_close(got, expected)


def test_cuda_kernels_use_the_callers_stream(torch_rows, device, monkeypatch):
    """Kernels for CUDA tensors run on the caller's stream. The test calls the kernels as torch's dispatcher would, with
    tensors of the simulator, which torch does not support as a device."""
    written = importlib.import_module("on_rows._torch")
    assert torch._C._dispatch_has_kernel_for_dispatch_key("on_rows::rms_norm", "CUDA")
    marked = []
    monkeypatch.setattr(written, "__kk_wrote", marked.extend)
    x, w = normal(3, 8), normal(8)
    y, on_device = device.put(torch.zeros(3, 8).numpy()), [device.put(t.numpy()) for t in (x, w)]
    with torch.no_grad():
        assert device.calls(lambda: written.__kk_kernel_of_rms_norm(y, *on_device)) == 1
    torch.testing.assert_close(torch.from_numpy(device.get(y)), reference_rms(x, w))
    assert marked == [y]


def test_ops_on_a_gpu(root, library, tmp_path):
    """Operators work with torch's CUDA tensors on a side stream, called directly and compiled by torch.compile."""
    if not torch.cuda.is_available():
        pytest.skip("torch found no GPU")
    write_package(root, library, tmp_path, "on_gpu_ops", "--torch")
    packages.imported(tmp_path, "on_gpu_ops.torch")
    scale, stream = torch.ops.on_gpu_ops.scale, torch.cuda.Stream()
    x = torch.arange(1 << 20, device="cuda", dtype=torch.float32)

    def twice(x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        scale(y, x, 2.0)
        scale(z, y, 2.0)
        return z + 1

    for run in (twice, torch.compile(twice, fullgraph=True)):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)
            got = run(x)
            assert not stream.query()
        stream.synchronize()
        torch.testing.assert_close(got, 4 * x + 1)


@pytest.mark.parametrize("of, case", [("torch_ops", case) for case in CASES] + [("torch_rows", case) for case in ROWS]
                         + [("torch_reference", case) for case in REFERENCE])  # fmt: skip
def test_meta_tensors_run_no_kernel(request, of, case):
    """For meta tensors, operators return the shapes, dtypes and strides of the kernel's results."""
    op = overload(request.getfixturevalue(of), case)
    arguments = {"torch_ops": CASES, "torch_rows": ROWS, "torch_reference": REFERENCE}[of][case]()
    expected = op(*copy.deepcopy(arguments))

    def meta(value):
        if isinstance(value, list):
            return [x.to("meta") for x in value]
        return value.to("meta") if isinstance(value, torch.Tensor) else value

    got = op(*map(meta, arguments))
    assert [(t.shape, t.dtype, t.stride(), t.device.type) for t in flat(got)] == [
        (t.shape, t.dtype, t.stride(), "meta") for t in flat(expected)
    ]


def test_a_size_that_does_not_divide_is_rejected(torch_ops, plain):
    q, s, x = torch.empty(3, 8, dtype=torch.int8), normal(3, 2), normal(3, 8)
    with pytest.raises(ValueError, match=r"s: shape \[3, 2\] does not match \[n, d / group\] with n = 3 \(bound by x\)"):
        plain.quant(q, s, x, 3)
    with pytest.raises(RuntimeError, match=r"quant\(\): s: d / group is not an integer"):
        torch_ops.quant.functional(x, 3)


def test_the_page_shows_how(shaped):
    # [use]
    import torch

    import shaped.torch  # torch.ops.shaped

    @torch.compile(fullgraph=True, backend="aot_eager")
    def gated(x):
        return torch.ops.shaped.silu_and_mul.functional(x) + 1
    # [/use]

    torch.testing.assert_close(gated(normal(3, 8)), reference_silu(normal(3, 8)) + 1)


def test_the_caller_chooses_the_sizes_that_the_line_leaves_open(torch_ops):
    values, indices = torch_ops.top.functional(normal(3, 8), k=2)
    assert values.shape == (3, 2) and indices.dtype == torch.int32
    for dtype in (torch.float64, torch.float32):
        cast = torch.compile(torch_ops.cast.functional, fullgraph=True, backend="aot_eager")
        assert torch.equal(cast(normal(3), y_dtype=dtype), normal(3).to(dtype)) and cast(normal(3), y_dtype=dtype).dtype == dtype


def test_python_keywords_and_defaults_that_torch_cannot_express(torch_ops, plain):
    x = normal(4)
    assert torch.equal(torch_ops.odd.functional(x), x * float("inf"))
    assert torch.equal(torch_ops.odd.functional(x, 2.0), x * 2)


def test_ops_without_an_operator(shaped, plain, torch_ops):
    """An op that cannot be an operator of torch is a plain function, and a comment in the generated module gives the
    reason."""
    assert plain.total(torch.ones(3)) == 3.0
    assert not hasattr(torch_ops, "total")
    text = (shaped / "shaped/_torch.py").read_text()
    assert re.findall(r"# (\w+)\(.*\n# No operator of torch: (.*)\.", text) == [("total", "a result that is not a tensor would break the graph of torch.compile")]


def test_a_plain_function_rejects_a_fake_tensor(plain):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(3, 8)
    with pytest.raises(ValueError, match=r"silu_and_mul\(\): [xy]: data is null"):
        plain.silu_and_mul(torch.empty(3, 4), fake)


def test_the_operators_outlive_every_name_of_theirs(torch_ops):
    gc.collect()
    torch.testing.assert_close(torch.ops.shaped.scale.functional(torch.ones(2), 2.0), torch.full((2,), 2.0))
    torch.ops.shaped.scale_(torch.ones(2), 2.0)


def test_inference_tensors_are_written(torch_ops):
    with torch.inference_mode():
        y = torch.zeros(3)
        torch_ops.scale(y, torch.ones(3), 2.0)
        assert y.tolist() == [2, 2, 2]


def test_import_needs_no_framework(shaped, tmp_path):
    """The package itself can be imported while torch and jax cannot."""
    program = """
import sys
sys.modules["torch"] = sys.modules["jax"] = None
import numpy, shaped
y = numpy.zeros(3, "float32")
shaped.scale(y, numpy.ones(3, "float32"), 2.0)
assert y.tolist() == [2, 2, 2]
for module in ("torch", "jax"):
    try:
        __import__("shaped." + module)
    except ImportError as error:
        print(error)
"""
    env = {**os.environ, "PYTHONPATH": str(shaped), "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    result = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, cwd=tmp_path)
    torch_message, jax_message = result.stdout.splitlines() or [result.stderr, ""]
    assert torch_message.startswith("shaped.torch needs PyTorch, which cannot be imported: ")
    assert torch_message.endswith("; run: pip install torch")
    assert jax_message.startswith("shaped.jax needs JAX, which cannot be imported: ")


def test_an_invalid_namespace_is_rejected(root, library, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "kernkit", "bindings", str(library), "--package", "p", "--output", str(tmp_path), "--torch",
         "--torch-namespace", "a-b"],
        cwd=root / "sdk/python", capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 3 and result.stderr == 'kernkit: --torch-namespace: "a-b" is not a Python identifier; enter letters, digits and _\n'


@pytest.mark.slow
def test_calls_are_cheap_beside_torchs(shaped, root, tmp_path):
    print(packages.ratios(root, shaped, "torch", tmp_path))

