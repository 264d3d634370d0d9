# SPDX-License-Identifier: Apache-2.0
"""Long runs of PyTorch with CUDA tensors give right results, do not grow in memory, and do not hang.
KERNKIT_ENDURANCE_SECONDS sets the length of each run with threads; the default is 60 s."""

import os

import pytest

SECONDS = os.environ.get("KERNKIT_ENDURANCE_SECONDS", "60")


def check(run_client, options, *arguments):
    result = run_client(["run", *options], "torch", "torch_endurance.py", *arguments)
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["right"]), result.stdout + result.stderr


@pytest.mark.all
def test_memory_after_ten_thousand_operators(run_client):
    check(run_client, [], "memory", "10000")


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--seed", "3"]], ids=" ".join)
def test_threads(run_client, options):
    check(run_client, options, "threads", SECONDS)


@pytest.mark.slow
def test_memory_in_the_order_of_a_seed(run_client):
    check(run_client, ["--seed", "3"], "memory", "2000")
