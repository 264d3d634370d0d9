# SPDX-License-Identifier: Apache-2.0
"""Calls of PyTorch's operators for the tests: arguments for each overload."""

import os

import pytest

torch = pytest.importorskip("torch")
# Disables inductor's cache, whose entries from an earlier run may be for other overloads of an operator.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
UTILITIES = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static",
             "test_aot_dispatch_dynamic")  # fmt: skip


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


# The cases of tests/interop/frameworks.
CASES = {
    "scale.functional": lambda: (normal(3, 4), 2.0),
    "scale.default": lambda: (normal(3, 4), normal(3, 4), 2.0),
    "scale_.default": lambda: (normal(3, 4), 2.0),
    "add.functional": lambda: (normal(3, 4), normal(3, 4)),
    "add.default": lambda: (normal(3, 4), normal(3, 4), normal(3, 4)),
    "silu_and_mul.functional": lambda: (normal(3, 8),),
    "silu_and_mul.default": lambda: (normal(3, 4), normal(3, 8)),
    "rms_norm.default": lambda: (normal(3, 8), normal(8), 1e-5),
    "rms_norm.default without weight": lambda: (normal(3, 8),),
    "rms_norm_out.functional": lambda: (normal(3, 8),),
    "rms_norm_out.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "fused_add_rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "row_max.default": lambda: (normal(3, 8),),
    "sum_list.functional": lambda: ([normal(3, 8), normal(3, 8)],),
    "sum_list.default": lambda: (normal(3, 8), [normal(3, 8), normal(3, 8)]),
    "many.functional": lambda: (normal(3, 8), normal(3, 8), 2, 0.5, True, "abc", torch.float64),
    "many.default": lambda: (normal(3, 8), normal(3, 8), None, 2, 0.5, True, "abc", torch.float64),
    "output_last.functional": lambda: (2.0, normal(3, 8)),
    "quant.functional": lambda: (normal(3, 8), 4),
    "quant.default": lambda: (torch.empty(3, 8, dtype=torch.int8), normal(3, 2), normal(3, 8), 4),
}
# The row kernels.
ROWS = {
    "rms_norm.functional": lambda: (normal(3, 8),),
    "rms_norm.functional with weight": lambda: (normal(3, 8), normal(8), 1e-5),
    "rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "layer_norm.functional": lambda: (normal(3, 8), normal(8), normal(8)),
    "layer_norm.functional without weight": lambda: (normal(3, 8),),
    "layer_norm.default": lambda: (normal(3, 8), normal(3, 8)),
    "fused_add_rms_norm.functional": lambda: (normal(3, 8), normal(3, 8) + 1, normal(8)),
    "fused_add_rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(3, 8), normal(3, 8) + 1),
    "softmax.functional": lambda: (normal(3, 8),),
    "softmax.default": lambda: (normal(3, 8), normal(3, 8)),
    "gelu_and_mul.functional": lambda: (normal(3, 8),),
    "gelu_and_mul.default": lambda: (normal(3, 4), normal(3, 8)),
    "rms_norm_fp8.functional": lambda: (normal(3, 8), normal(8)),
    "rms_norm_fp8.default": lambda: (normal(3, 8).to(torch.float8_e4m3fn), normal(3), normal(3, 8), normal(8)),
}
# The reference library.
REFERENCE = {
    "scale.functional": lambda: (normal(3, 4), 2.0),
    "scale.default": lambda: (normal(3, 4) + 1, normal(3, 4), 2.0),
    "add.functional": lambda: (normal(3, 4), normal(3, 4) + 1),
    "add.default": lambda: (normal(3, 4) + 2, normal(3, 4), normal(3, 4) + 1),
}


def overload(torch_ops, case):
    name, _, which = case.split(" ")[0].partition(".")
    return getattr(getattr(torch_ops, name), which)


def tensors(arguments):
    return [a for a in arguments if isinstance(a, torch.Tensor)]


def flat(result):
    return [] if result is None else list(result) if isinstance(result, tuple) else [result]


def reference_silu(x):
    d = x.shape[-1] // 2
    return torch.nn.functional.silu(x[..., :d]) * x[..., d:]


def reference_rms(x, weight=None, eps=1e-6):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


def after_all_kinds(x):
    """Returns the expected results of the model in the tests of torch.export, which calls forms and ops of each kind
    from all three libraries."""
    normed = reference_rms(torch.nn.functional.layer_norm(x, x.shape[-1:]))
    gelu = torch.nn.functional.gelu(x[:, :4]) * x[:, 4:]
    return reference_silu(x) + 1, gelu, (2 * normed).softmax(-1), x.argmax(1)
