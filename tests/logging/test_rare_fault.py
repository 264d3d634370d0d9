# SPDX-License-Identifier: Apache-2.0
"""From a symptom to the line of a rare fault by the steps of docs/my-kernel-crashed.md: a program of PyTorch with CUDA tensors calls
an op whose kernel is wrong for one size of a thousand."""

import re
import sys

import called
import pytest
from test_on_cpu import kernkit, runtime  # noqa: F401

pytestmark = pytest.mark.all

SERVER = """
import random, sys, torch, tvm_ffi
ops = tvm_ffi.load_module(sys.argv[1])
sizes = random.Random(5).sample(range(1, 1001), 1000)
for size in sizes:
    x = torch.rand(size, device="cuda") + 1
    y = torch.empty_like(x)
    ops.smooth(y, x)
    if y[-1].item() != x[-1].item():
        sys.exit(f"request {size}: {y[-1].item()} is not {x[-1].item()}")
print(len(sizes))
"""


def test_from_the_log_to_the_line(root, runtime, tmp_path):  # noqa: F811
    pytest.importorskip("torch")
    faulty, repaired = called.library("called_cuda_ops"), called.library("repaired_cuda_ops")
    folder, log = tmp_path / "recordings", tmp_path / "log"
    server = ("run", "--runtime", runtime, sys.executable, "-c", SERVER)

    # One request returns wrong numbers. The log lists the call and the path of its recording.
    failed = kernkit(root, *server, faulty, KERNKIT_LOG="stats", KERNKIT_LOG_FILE=str(log), KERNKIT_RECORD=str(folder))
    assert failed.returncode == 1 and "request 517: " in failed.stderr, failed.stderr
    before, after = log.read_text().splitlines()[-2:]
    assert "smooth(y=float32[517] cuda:0, x=float32[517] cuda:0 {min 1." in before and " ok " in after
    path = folder / re.search(r"recorded in (\S+)$", before)[1]

    # The call is repeated by the simulator under memcheck, which reports the line of the fault.
    replay = ("replay", path, "--runtime", runtime, "--tool", "memcheck", "--library")
    found = kernkit(root, *replay, faulty)
    line = 1 + (root / "tests/logging/rare.cu").read_text().split("  // the sum reads past the end")[0].count("\n")
    sentence = f"thread [4, 0, 0]: Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of 2068 bytes (rare.cu:{line})"
    assert found.returncode == 1 and f"smooth_kernel: block [4, 0, 0], {sentence}" in found.stderr, found.stderr

    # No smaller size fails, so --minimize leaves the call unchanged.
    smaller = kernkit(root, *replay, faulty, "--minimize", tmp_path / "smaller")
    assert smaller.returncode == 0 and "; no size can be smaller; " in smaller.stdout, smaller.stderr

    # The tools report nothing for the repaired kernel, whose result differs from the recorded result in the wrong
    # element.
    correct = kernkit(root, *replay, repaired)
    assert correct.returncode == 1 and re.search(r"smooth: y: 1 of 517 elements differ: \[516\] was ", correct.stdout), correct.stderr
    assert "0 findings (memcheck: 0)" in correct.stderr
    assert kernkit(root, *server, repaired).stdout == "1000\n"
