# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiler lists the registered operators of a library with the shapes of their tensors."""

from torch_cases import normal, torch


def test_the_profiler_has_operators_with_shapes(torch_reference):
    x, y = normal(3, 4), normal(3, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        torch_reference.scale(y, x, 2.0)
        torch_reference.scale(y[:2], x[:2], 2.0)
        torch_reference.scale(y, x, 3.0)
        torch_reference.add.functional(x, y)
    shapes = {(event.key, str(event.input_shapes)): event.count for event in profile.key_averages(group_by_input_shape=True)}
    assert shapes["reference::scale", "[[3, 4], [3, 4], []]"] == 2
    assert shapes["reference::scale", "[[2, 4], [2, 4], []]"] == 1
    assert shapes["reference::add", "[[3, 4], [3, 4]]"] == 1
