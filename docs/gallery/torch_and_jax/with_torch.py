# SPDX-License-Identifier: Apache-2.0
import activations.torch  # noqa: F401  defines torch.ops.activations
import torch


@torch.compile(fullgraph=True, backend="aot_eager")
def gated(x):
    return torch.ops.activations.silu_and_mul.functional(x) + 1


x = torch.tensor([[0.0, 1.0, 5.0, 2.0]])
print(gated(x))
print(torch.nn.functional.silu(x[:, :2]) * x[:, 2:] + 1)
