# SPDX-License-Identifier: Apache-2.0
"""Tests logs and recordings of calls with CUDA tensors in the simulator."""

import re

import called
import numpy as np
import pytest
from kernkit.calls import recording

CODE = """
rows = load("kernkit_row_kernels_on_cpu")
put, get = rows.on_device, lambda t: (a := np.empty(tuple(t.shape), "float32"), rows.copy(a, t))[0]
x = put(np.arange(24, dtype="float32").reshape(3, 8))
y = put(np.zeros((3, 8), "float32"))
with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), rows.new_stream()):
    rows.softmax(y, x)
print(get(y)[0, 7])
"""


def settings(tmp_path, **others):
    called.library("kernkit_row_kernels_on_cpu")
    return {"KERNKIT_LOG": "stats,softmax", "KERNKIT_RECORD": str(tmp_path / "calls"), "KERNKIT_RECORD_CALLS": "all,softmax", **others}


def test_tensors_are_read_on_the_stream_of_the_call(tmp_path):
    result = called.run(CODE, **settings(tmp_path))
    before, after = result.stderr.splitlines()
    assert re.search(r"\(y=float32\[3, 8\] cuda:0, x=float32\[3, 8\] cuda:0 \{min 0.0 max 23.0 nan 0 inf 0\}\) stream 0x[0-9a-f]+ tid", before)
    assert re.search(r"ok \d+ us y \{min 0.00057661\d+ max 0.632332\d* nan 0 inf 0\}", after)
    (path,) = (tmp_path / "calls").iterdir()
    call = recording.read(path)
    assert {s.device for s in call.storages} == {(2, 0)}
    x = np.arange(24, dtype="float32")
    assert x.tobytes() in [s.content for s in call.storages]
    (written,) = call.results.written.values()
    assert np.frombuffer(written, "float32")[7] == np.float32(result.stdout)


@pytest.mark.all
def test_a_captured_stream_is_not_read(tmp_path):
    """While the stream is captured, tensors are not read: the log and the recording name the reason, and the call is
    captured."""
    capture = """
stream = rows.new_stream()
with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream):
    rows.capture(stream, True)
    rows.softmax(y, x)
    print(rows.capture(stream, False))
"""
    code = CODE[: CODE.index("with")] + capture
    result = called.run(code, **settings(tmp_path))
    assert result.stdout == "1\n"
    assert "x=float32[3, 8] cuda:0 {not read: the stream is captured})" in result.stderr
    assert result.stderr.count(" has no values: a tensor cannot be read: the stream is captured\n") == 1
    (path,) = (tmp_path / "calls").iterdir()
    call = recording.read(path)
    assert call.skipped == "the stream is captured" and {s.content for s in call.storages} == {None}
    assert [a.shape for a in call.arguments] == [(3, 8), (3, 8)] and call.results.error is None


@pytest.mark.all
def test_sync_waits_after_a_call_and_not_for_a_captured_stream(tmp_path):
    """With KERNKIT_SYNC=1 a call waits for its stream. A call on a captured stream waits for nothing and is captured."""
    begin = CODE.index("with")
    waited = CODE[:begin] + """
stream = rows.new_stream()
with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream):
    rows.softmax(y, x)
    rows.capture(stream, True)
    rows.softmax(y, x)
    print(rows.capture(stream, False))
print(get(y)[0, 7])
"""
    called.library("kernkit_row_kernels_on_cpu")
    captured, value = called.run(waited, KERNKIT_SYNC="1").stdout.split()
    assert captured == "1" and value.startswith("0.63233")
