# SPDX-License-Identifier: Apache-2.0
"""The kernels on PyTorch's CUDA tensors. On a machine without a GPU `./kk test` runs these tests under `kernkit
run`."""

import pytest
import template_library

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU; with nvcc and a CUDA build of PyTorch ./kk test needs none", allow_module_level=True)


def gated(x: "torch.Tensor") -> "torch.Tensor":
    """The formula of silu_and_mul in float64."""
    gate, up = x.double().chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


# Relative errors. float16 and bfloat16: one rounding, doubled for the preceding float32 arithmetic.
# Other dtypes: eight roundings.
@pytest.mark.parametrize(
    "dtype, rtol",
    [
        (torch.float16, 2**-10),
        (torch.bfloat16, 2**-7),
        (torch.float32, 2**-21),
        (torch.float64, 2**-50),
    ],
)
@pytest.mark.parametrize("n, d", [(0, 3), (3, 0), (1, 1), (7, 5), (64, 129)])
def test_values(dtype: "torch.dtype", rtol: float, n: int, d: int) -> None:
    x = torch.empty(n, 2 * d, dtype=dtype, device="cuda").uniform_(0.5, 4)
    y = torch.full((n, d), torch.nan, dtype=dtype, device="cuda")
    template_library.silu_and_mul(y, x)
    torch.testing.assert_close(y.double(), gated(x), rtol=rtol, atol=0)


def test_a_stream_of_the_caller() -> None:
    """The kernel runs in PyTorch's current stream, so it runs after the addition."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.ones(4, 6, device="cuda") + 1
        y = torch.empty(4, 3, device="cuda")
        template_library.silu_and_mul(y, x)
    stream.synchronize()
    torch.testing.assert_close(y.double(), gated(x), rtol=2**-21, atol=0)


def test_a_graph() -> None:
    x = torch.ones(4, 6, device="cuda")
    y = torch.zeros(4, 3, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        template_library.silu_and_mul(y, x)
    x.fill_(3)
    graph.replay()
    torch.testing.assert_close(y.double(), gated(x), rtol=2**-21, atol=0)


def test_a_tensor_of_the_cpu_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"silu_and_mul\(\): x: device cpu does not match y \(cuda:0\)"):
        template_library.silu_and_mul(torch.zeros(2, 3, device="cuda"), torch.zeros(2, 6))
