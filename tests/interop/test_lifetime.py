# SPDX-License-Identifier: Apache-2.0
"""Tests orders of destruction in Python: each case runs in a separate process, which must exit with code 0 and print
nothing to stderr."""

import subprocess
import sys

import compiled
import pytest

pytestmark = pytest.mark.all

START = """
import gc, os, sys, threading
sys.modules["torch"] = None  # tvm_ffi imports PyTorch if it is installed, which takes two seconds
import numpy as np, tvm_ffi
module = tvm_ffi.load_module(sys.argv[1])
ones = lambda: module.own_memory(1000)
whole = lambda x: np.from_dlpack(x).sum() == 1000
"""

CASES = {
    "after_the_module": """
x = ones()
del module
gc.collect()
assert whole(x)
x = None
gc.collect()
assert tvm_ffi.load_module(sys.argv[1]).count_deleted() == 1
""",
    "after_exit": """
x = ones()
y = np.from_dlpack(ones())
import builtins
builtins.kept = ones()
import atexit
atexit.register(lambda z=ones(): None)
""",
    "in_a_cycle": """
class Node: pass
node = Node()
node.me, node.x = node, ones()
del node, module
""",
    "after_fork": """
x = ones()
child = os.fork()
if child == 0:
    assert whole(x)
    x = None
    gc.collect()
    assert module.count_deleted() == 1
    try:
        module.reject(1)
    except ValueError:
        sys.exit(0)
    sys.exit(1)
_, status = os.waitpid(child, 0)
assert status == 0
assert whole(x) and module.count_deleted() == 0
""",
    "from_another_thread": """
kept = [ones()]
local = threading.local()
def work():
    local.x = ones()
    kept.append(ones())
    kept.pop(0)
thread = threading.Thread(target=work)
thread.start()
thread.join()
gc.collect()
assert whole(kept[0]) and module.count_deleted() == 2
""",
    "a_callback_and_an_error": """
import builtins
def f(x):
    raise ValueError("of f")
builtins.kept = f
try:
    module.apply(f, 1)
except ValueError as error:
    builtins.error = error
""",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lifetime")
    source = compiled.ROOT / "tests/hosts/ops.cc"
    return compiled.build(source, folder / "libops.so", "-fvisibility=hidden", "-Wl,-z,nodelete")


@pytest.mark.parametrize("case", CASES)
def test_ends_well(library, case):
    command = [sys.executable, "-c", START + CASES[case], library]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
