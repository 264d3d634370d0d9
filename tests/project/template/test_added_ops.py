# SPDX-License-Identifier: Apache-2.0
"""The contract tests of ops that `./kk add` has added pass in `./kk test OP`."""

import pytest
from rendering import NAME, check, render

LINE = "(Tensor(a!) y, Tensor x, float beta=1.0) -> ()"
NUMERIC = {  # op: (schema, kind)
    "sums": (LINE, "elementwise"),
    "norms": (LINE, "row"),
    "reduced": (LINE, "row_reduction"),
}
RESULTS = {
    "results": ("(Tensor x, Tensor? mask) -> (Tensor, Tensor, int n)", "custom"),
}
CUSTOM = {
    "no_result": ("(Tensor(a!) y, Tensor? mask, Tensor[] xs, int[] n) -> ()", "custom"),
    "one_result": ("(Tensor x) -> Tensor", "custom"),
    "of_a_list": ("(Tensor[] xs, float[] w) -> Tensor", "custom"),
}


@pytest.mark.parametrize(
    "ops",
    [pytest.param(ops, marks=mark) for ops, mark in ((RESULTS, pytest.mark.all), (CUSTOM, pytest.mark.slow), (NUMERIC, pytest.mark.slow))],
    ids=["results", "custom", "numeric"],
)
def test_added_ops_pass_their_contract_tests(template, environment, driver_environment, tmp_path, ops):
    """Ops that are added after the library was configured pass their contract tests on the CPU and in the simulator."""
    result = render(template, tmp_path, environment, library_name=NAME)
    assert result.returncode == 0, result.stdout
    at = {"cwd": tmp_path / NAME, "env": {**driver_environment, "KERNKIT_CUDA": "OFF"}}
    check("cmake", "--preset", "release", **at)
    for op, (schema, kind) in ops.items():
        check("./kk", "add", op, schema, "--kind", kind, **at)
        printed = check("./kk", "test", op, **at)
        assert f"Linking CXX executable bin/{op}_cuda_test" in printed and printed.count("[  PASSED  ]") == 2, printed
