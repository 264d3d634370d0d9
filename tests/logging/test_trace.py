# SPDX-License-Identifier: Apache-2.0
"""Tests KERNKIT_TRACE, which keeps the last calls of a process readable however the process ends, and `kernkit calls`,
which prints these calls."""

import random
import re
import signal
import subprocess
import sys

import called
import pytest
from kernkit import cli
from kernkit.calls import trace
from kernkit.commands import calls
from kernkit.errors import UserError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "calls.trace"


def test_calls_are_printed_with_their_arguments(file, capsys):
    code = """
ops.add_to(y, x.T.copy().T, 2.5)
ops.kinds(y, x, float("nan"), -3, True, "a\\n" + "b" * 40, np.dtype("int8"), tvm_ffi.device("cpu", 0), (4, 5), [x, y])
try: ops.fail(x)
except ValueError: pass
ops.ignore(x.reshape(-1)[0:0])
"""
    called.run(code, KERNKIT_TRACE=str(file))
    assert cli.main(["calls", str(file)]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"4 calls of process \d+, of which 4 follow", title)
    expected = [
        r"add_to\(y=float32\[2, 3\] cpu, x=float32\[2, 3\] cpu strided, factor=2\.5\) tid \d+ ok \d+\.\d us",
        r'kinds\(y=float32\[2, 3\] cpu, x=float32\[2, 3\] cpu, f=nan, i=-3, b=true, s="a\\x0ab{30}\.\.\.", dtype=int8, '
        r"device=cpu, sizes=an object of type index \d+, tensors=an object of type index \d+\) tid \d+ ok .*",
        r"fail\(x=float32\[2, 3\] cpu\) tid \d+ failed \d+\.\d us",
        r"ignore\(x=float32\[0\] cpu\) tid \d+ ok .*",
    ]
    assert len(lines) == 4
    for i, (line, pattern) in enumerate(zip(lines, expected)):
        assert re.fullmatch(rf"\d\d:\d\d:\d\d\.\d{{6}} #{i + 1} {pattern} in libcalled_ops\.so", line) or re.fullmatch(
            rf"\d\d:\d\d:\d\d\.\d{{6}} #{i + 1} {pattern}", line
        ), line
    assert cli.main(["calls", str(file), "--last", "1"]) == 0
    assert "#4 ignore" in capsys.readouterr().out.splitlines()[1]
    assert cli.main(["calls", str(file), "--running"]) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV])
def test_the_call_in_which_a_process_died_is_in_the_file(file, capsys, number):
    code = f"""
import time
begin = time.time()
ops.ignore(x)
print(begin, flush=True)
ops.crash(y, x, {int(number)})
"""
    result = called.run(code, code_of_exit=-number, KERNKIT_TRACE=str(file))
    content = trace.read(file)
    ignored, crashed = content.calls
    assert (ignored.op, ignored.state) == ("ignore", "ok")
    assert (crashed.op, crashed.state, crashed.microseconds) == ("crash", "did not return", None)
    assert crashed.arguments == f"y=float32[2, 3] cpu, x=float32[2, 3] cpu, signal={int(number)}"
    assert abs(crashed.began - float(result.stdout)) < 2
    assert cli.main(["calls", str(file), "--running"]) == 0
    assert "#2 crash(" in capsys.readouterr().out.splitlines()[1]


@pytest.mark.all
def test_the_ring_keeps_the_last_calls(file):
    called.run("for _ in range(5000): ops.ignore(x)\nops.add_to(y, x)", KERNKIT_TRACE=str(file))
    content = trace.read(file)
    assert content.total == 5001 and [call.number for call in content.calls] == list(range(906, 5002))
    assert content.calls[-1].op == "add_to"


def test_functions_written_for_tvm_ffi_are_in_the_trace(file):
    called.run("load('called_ops_again').typed_sum(x, 6)", KERNKIT_TRACE=str(file))
    (call,) = trace.read(file).calls
    assert (call.op, call.arguments, call.state) == ("typed_sum", "argument_1=float32[2, 3] cpu, argument_2=6", "ok")


def test_threads_libraries_and_processes_share_a_ring(file):
    code = """
both = ops, load("called_ops_again")
def work(lib):
    for _ in range(100): lib.ignore(x)
threads = [threading.Thread(target=work, args=(both[i % 2],)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
ops.ignore(x)
if child: assert os.waitpid(child, 0)[1] == 0 and print(os.getpid(), child) is None
else: os._exit(0)
"""
    result = called.run(code, KERNKIT_TRACE=str(file))
    parent, child = map(int, result.stdout.split())
    content = trace.read(file)
    assert content.pid == parent and [call.number for call in content.calls] == list(range(1, 803))
    assert {call.state for call in content.calls} == {"ok"}
    counts = {name: sum(call.library == name for call in content.calls) for name in ("libcalled_ops.so", "libcalled_ops_again.so")}
    assert counts == {"libcalled_ops.so": 402, "libcalled_ops_again.so": 400}
    assert len({call.tid for call in content.calls}) == 10
    assert [call.tid for call in content.calls if call.pid == child] == [child]


@pytest.mark.all
def test_a_process_does_not_write_into_the_file_of_another(file):
    first = "ops.ignore(x); import time; print(1, flush=True); sys.stdin.read(); ops.ignore(x)"
    environment = {"KERNKIT_TRACE": str(file)}
    code = called.preamble() + first
    with subprocess.Popen([sys.executable, "-c", code], env={**environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"1\n"
        called.run("ops.add_to(y, x)", KERNKIT_TRACE=str(file))
        process.communicate(b"")
        assert process.returncode == 0
    assert [call.op for call in trace.read(file).calls] == ["add_to"]
    assert file.stat().st_mode & 0o777 == 0o600 and list(file.parent.iterdir()) == [file]


@pytest.mark.all
@pytest.mark.parametrize(
    "name, message", [("none/calls.trace", "none/: No such file or directory"), ("folder", "folder: Is a directory")]
)
def test_a_file_that_cannot_be_made_is_reported_once(tmp_path, name, message):
    (tmp_path / "folder").mkdir()
    result = called.run("ops.add_to(y, x); ops.add_to(y, x); print(y[1, 2])", KERNKIT_TRACE=str(tmp_path / name))
    assert result.stdout == "10.0\n"
    assert result.stderr == f"kernkit: KERNKIT_TRACE: {tmp_path}/{message}; no call is traced\n"
    assert not list(tmp_path.glob("*.new-*"))


@pytest.mark.all
def test_a_limit_of_the_size_of_files_ends_no_process(file):
    code = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for _ in range(100): ops.add_to(y, x)
print(y[1, 2])
"""
    result = called.run(code, KERNKIT_TRACE=str(file), KERNKIT_LOG="args", KERNKIT_LOG_FILE=str(file.parent / "log"))
    assert result.stdout == "500.0\n" and "; no call is traced\n" in result.stderr
    assert "log: File too large; lines of the log are lost\n" in result.stderr and result.stderr.count("\n") == 2
    assert not file.exists()


def test_other_files_are_rejected(tmp_path, file):
    called.run("ops.ignore(x)", KERNKIT_TRACE=str(file))
    data = file.read_bytes()
    for name, content, message in [
        ("text", b"some text", "is not a trace of KERNKIT_TRACE"),
        ("short", data[:-1], "is a trace of another version of kernkit, or is incomplete"),
        ("version", data[:8] + b"\2" + data[9:], "is a trace of another version of kernkit, or is incomplete"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(UserError, match=message):
            trace.read(path)
    with pytest.raises(UserError, match="is not a file"):
        trace.read(tmp_path)


@pytest.mark.all
def test_damaged_files_are_read(file):
    called.run("for _ in range(40): ops.add_to(y, x)", KERNKIT_TRACE=str(file))
    data = file.read_bytes()
    at = trace.SIZE - 4096 * 256
    generator = random.Random(7)
    for _ in range(20):
        damaged = bytearray(data)
        for _ in range(400):
            damaged[generator.choice([generator.randrange(32, 140), 4096 + generator.randrange(512), at + generator.randrange(40 * 256)])] = generator.randrange(256)
        file.write_bytes(damaged)
        for call in trace.read(file).calls:
            assert calls.line_of(call, 1).isprintable()
