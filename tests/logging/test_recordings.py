# SPDX-License-Identifier: Apache-2.0
"""Tests KERNKIT_RECORD, which writes a folder for each recorded call. A call succeeds even if it cannot be recorded."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys

import called
import numpy as np
import pytest
from kernkit.calls import recording, safetensors


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "recordings"


def names(folder):
    return sorted(path.name.split("-")[0] for path in folder.iterdir())


def only(folder):
    (path,) = folder.iterdir()
    return path


def test_a_call_is_recorded_before_and_after(folder):
    result = called.run("y += 1; ops.add_to(y, x, 2.5); print(y[1, 2])", KERNKIT_RECORD=str(folder))
    assert (result.stdout, result.stderr) == ("13.5\n", "")
    path = only(folder)
    files = ["call.json", "inputs.safetensors", "outputs.safetensors", "result.safetensors", "results.json"]
    assert sorted(file.name for file in path.iterdir()) == files
    assert {stat.S_IMODE(f.stat().st_mode) for f in path.iterdir()} == {0o600}
    assert [stat.S_IMODE(f.stat().st_mode) for f in (folder, path)] == [0o700, 0o700]
    before = safetensors.read(path / "inputs.safetensors")
    x = np.arange(6, dtype="float32")
    assert before == {"y": np.ones(6, "float32").tobytes(), "x": x.tobytes()}
    assert safetensors.read(path / "outputs.safetensors") == {"y": (1 + 2.5 * x).tobytes()}
    call = recording.read(path)
    assert (call.op, call.library, call.results.error) == ("add_to", "libcalled_ops.so", None)
    assert [(a.name, a.type, a.is_written) for a in call.arguments] == [("y", "tensor", True), ("x", "tensor", False), ("factor", "float", False)]
    header = (path / "inputs.safetensors").read_bytes()
    assert json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])["x"] == {"dtype": "F32", "shape": [2, 3], "data_offsets": [24, 48]}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_a_call_that_does_not_return_leaves_its_inputs(folder, number):
    called.run(f"x += 7; ops.crash(y, x, {int(number)})", code_of_exit=-number, KERNKIT_RECORD=str(folder))
    call = recording.read(only(folder))
    assert call.results is None
    assert {s.content for s in call.storages} == {bytes(24), np.arange(7, 13, dtype="float32").tobytes()}


def test_the_error_of_a_call_is_recorded(folder):
    called.run("try: ops.fail(x)\nexcept ValueError: pass", KERNKIT_RECORD=str(folder))
    assert recording.read(only(folder)).results.error == "ValueError: fail(): x: the line\nof [2, 3]"


def test_overlapping_tensors_are_recorded_once_with_their_places(folder):
    code = "z = np.arange(24, dtype='float32').reshape(4, 6); ops.add_to(z[::2, :3], z[1::2, 1:4][::-1], 2.0)"
    called.run(code, KERNKIT_RECORD=str(folder))
    call = recording.read(only(folder))
    y, x = call.arguments[:2]
    assert (y.strides, x.strides) == ((12, 1), (-12, 1)) and x.address - y.address == 4 * (18 + 1)
    (storage,) = call.storages
    assert storage.content == np.arange(22, dtype="float32").tobytes() and storage.address == y.address


CALLS = """
for shape in ((2, 3), (2, 3), (3, 2)):
    ops.add_to(np.zeros(shape, "float32"), np.ones(shape, "float32"))
ops.ignore(x); ops.ignore(x)
try: ops.fail(x)
except ValueError: pass
"""


@pytest.mark.all
@pytest.mark.parametrize(
    "setting, recorded",
    [
        ("new", ["add_to", "add_to", "fail", "ignore"]),
        ("all", ["add_to", "add_to", "add_to", "fail", "ignore", "ignore"]),
        ("failed", ["fail"]),
        ("all,-add*", ["fail", "ignore", "ignore"]),
    ],
)
def test_which_calls_are_recorded(folder, setting, recorded):
    called.run(CALLS, KERNKIT_RECORD=str(folder), KERNKIT_RECORD_CALLS=setting)
    assert names(folder) == recorded


def test_the_log_names_the_recording_of_a_call(folder):
    code = "ops.ignore(x); ops.ignore(x)\ntry: ops.fail(x)\nexcept ValueError: pass"
    lines = called.run(code, KERNKIT_RECORD=str(folder), KERNKIT_LOG="names").stderr.splitlines()
    assert [line.partition(" recorded in ")[2].split("-")[0] for line in lines] == ["ignore", "", "", "", "fail", ""]
    assert {line.partition(" recorded in ")[2] for line in lines} - {""} == {path.name for path in folder.iterdir()}
    lines = called.run(code, KERNKIT_RECORD=str(folder / "failed"), KERNKIT_RECORD_CALLS="failed", KERNKIT_LOG="names").stderr.splitlines()
    assert [line.partition(" recorded in ")[2].split("-")[0] for line in lines] == ["", "", "", "", "", "fail"]


def test_a_folder_that_cannot_be_written_is_reported_once():
    result = called.run("for _ in range(3): ops.add_to(y, x)\nops.ignore(x); print(y[1, 2])", KERNKIT_RECORD="/proc/self/task")
    assert result.stdout == "15.0\n" and result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("kernkit: KERNKIT_RECORD: /proc/self/task") and "; " in result.stderr


@pytest.mark.all
def test_which_values_are_recorded(folder):
    code = "ops.ignore(np.arange(3)); ops.ignore(x)"
    folder.mkdir()
    for values, expected in (("all", 2), ("integers", 1), ("none", 0)):
        called.run(code, KERNKIT_RECORD=str(folder / values), KERNKIT_RECORD_VALUES=values)
        calls = [recording.read(path) for path in (folder / values).iterdir()]
        assert sum(call.storages[0].content is not None for call in calls) == expected and len(calls) == 2


@pytest.mark.all
def test_limits_are_checked_before_copying(folder):
    code = """
big = np.zeros(2**31, "uint8")
ops.ignore(big)
for i in range(1, 5): ops.ignore(np.zeros((1 << 20) - i, "uint8"))
"""
    result = called.run(code, KERNKIT_RECORD=str(folder), KERNKIT_RECORD_LIMIT="1,3")
    size, total = result.stderr.splitlines()
    assert size == ("kernkit: KERNKIT_RECORD: a call of ignore is not recorded: its tensors have 2147483648 bytes, and KERNKIT_RECORD_LIMIT "
                    "is 1 MiB; later messages of this kind are left out")  # fmt: skip
    assert "all recordings would exceed KERNKIT_RECORD_LIMIT, 3 MiB" in total
    assert len(names(folder)) == 3


@pytest.mark.all
@pytest.mark.parametrize(
    "name, value, message",
    [
        ("CALLS", "some", 'KERNKIT_RECORD_CALLS: "some" is not supported; supported: new, all, failed; no call is recorded'),
        ("VALUES", "some", 'KERNKIT_RECORD_VALUES: "some" is not supported; supported: all, integers, none; no call is recorded'),
        ("LIMIT", "1", 'KERNKIT_RECORD_LIMIT: "1" is not supported; supported: limits in MiB for a call and for all calls, '
         "as in 256,4096; no call is recorded"),
    ],
)
def test_unsupported_settings_are_reported_once(folder, name, value, message):
    result = called.run("ops.ignore(x); ops.ignore(y)", **{"KERNKIT_RECORD": str(folder), "KERNKIT_RECORD_" + name: value})
    assert result.stderr == f"kernkit: {message}\n" and not folder.exists()


def test_a_folder_that_others_may_write_is_rejected(folder):
    folder.mkdir()
    folder.chmod(0o777)
    result = called.run("ops.ignore(x); ops.ignore(y)", KERNKIT_RECORD=str(folder))
    message = "other users may write in the folder; use a folder of your own with mode 0700; no call is recorded"
    assert result.stderr == f"kernkit: KERNKIT_RECORD: {folder}: {message}\n" and not list(folder.iterdir())


@pytest.mark.all
def test_a_folder_that_cannot_be_made_is_reported_once(tmp_path):
    (tmp_path / "file").write_text("")
    for path, message in ((tmp_path / "none/folder", "No such file or directory"), (tmp_path / "file", "Not a directory")):
        result = called.run("ops.ignore(x); ops.ignore(y)", KERNKIT_RECORD=str(path))
        assert result.stderr == f"kernkit: KERNKIT_RECORD: {path}: {message}; no call is recorded\n"


@pytest.mark.all
def test_a_limit_of_the_size_of_files_ends_no_process(folder):
    code = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
for size in (500, 501): ops.add_to(np.zeros(size, "float32"), np.zeros(size, "float32"))
ops.add_to(y, x); print(y[1, 2])
"""
    result = called.run(code, KERNKIT_RECORD=str(folder))
    assert result.stdout == "5.0\n" and result.stderr.count("\n") == 1
    assert "File too large; calls are not recorded if this error occurs" in result.stderr
    assert names(folder) == ["add_to"]


@pytest.mark.all
def test_a_full_disk_changes_no_call(tmp_path):
    """Calls succeed when the disk is too full for recordings, the trace and the log. The disk is a file system of 64
    KiB, which an unprivileged user can mount in a namespace."""
    mounted = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && shift 0 && exec "$@"', str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    code = "for n in range(4000, 4100): ops.add_to(np.zeros(n, 'float32'), np.ones(n, 'float32'))\nops.add_to(y, x); print(y[1, 2])"
    settings = {"KERNKIT_RECORD": f"{tmp_path}/r", "KERNKIT_TRACE": f"{tmp_path}/t", "KERNKIT_LOG": "args", "KERNKIT_LOG_FILE": f"{tmp_path}/l"}
    program = [sys.executable, "-c", called.preamble() + code]
    result = subprocess.run([*mounted, *program], env={**os.environ, **settings}, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "5.0\n"), result.stderr
    assert sorted(line.split(":")[1] for line in result.stderr.splitlines()) == sorted([" KERNKIT_RECORD", " KERNKIT_TRACE", f" {tmp_path}/l"])
    assert result.stderr.count("No space left on device") == 3


def test_a_number_in_use_is_skipped(folder):
    """The recorder skips a number whose folder exists: a second library of a process also counts from 1, and a process
    may have the ID of an earlier process."""
    code = """
taken = f"{os.environ['KERNKIT_RECORD']}/add_to-{os.getpid()}-1"
os.makedirs(taken + "/earlier")
ops.add_to(y, x)
print(os.path.basename(taken), os.getpid())
"""
    result = called.run(code, KERNKIT_RECORD=str(folder))
    assert result.stderr == ""
    taken, pid = result.stdout.split()
    assert {path.name for path in folder.iterdir()} == {taken, f"add_to-{pid}-2"}
    assert [path.name for path in (folder / taken).iterdir()] == ["earlier"]


@pytest.mark.all
def test_threads_libraries_and_processes_record_into_one_folder(folder):
    code = """
both = ops, load("called_ops_again")
def work(i):
    for k in range(5): both[i % 2].add_to(np.zeros((i + 1, k + 1), "float32"), np.ones((i + 1, k + 1), "float32"))
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
ops.ignore(x)
if child: assert os.waitpid(child, 0)[1] == 0
else: os._exit(0)
"""
    assert called.run(code, KERNKIT_RECORD=str(folder)).stderr == ""
    calls = [recording.read(path) for path in folder.iterdir()]
    assert len(calls) == 42 and all(call.results is not None and call.results.error is None for call in calls)
    for call in calls:
        if call.op == "add_to":
            (after,) = call.results.written.values()
            assert after == np.ones(call.arguments[0].shape, "float32").tobytes()


@pytest.mark.all
def test_each_library_reports_a_cause_once_in_eight_threads():
    code = """
both = ops, load("called_ops_again")
sums = []
def work(lib):
    for k in range(1, 20):
        z = np.zeros(k, "float32")
        lib.add_to(z, np.ones(k, "float32"))
        sums.append(z.sum())
threads = [threading.Thread(target=work, args=(both[i % 2],)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(int(sum(sums)))
"""
    settings = {"KERNKIT_RECORD": "/proc/self/task", "KERNKIT_TRACE": "/proc/none/trace", "KERNKIT_LOG": "names", "KERNKIT_LOG_FILE": "/dev/full"}
    result = called.run(code, **settings)
    assert result.stdout == f"{8 * 190}\n"
    causes = [line.split(":")[1] for line in result.stderr.splitlines()]
    assert sorted(causes) == sorted([" KERNKIT_RECORD", " KERNKIT_TRACE", " /dev/full"] * 2)


def test_the_script_of_the_page_finds_a_wrong_result(folder):
    """docs/examples/wrong_recordings.py prints the recordings whose results differ from a formula."""
    pytest.importorskip("safetensors")
    called.run("for i in range(3): ops.add_to(y, x + i, 2.0 + i)", KERNKIT_RECORD=str(folder), KERNKIT_RECORD_CALLS="all,add_to")
    script = [sys.executable, str(called.ROOT / "docs/examples/wrong_recordings.py"), str(folder)]
    assert subprocess.run(script, capture_output=True, text=True, check=True).stdout == ""
    path = sorted(folder.iterdir())[1]
    outputs = path / "outputs.safetensors"
    outputs.write_bytes(outputs.read_bytes()[:-4] + np.float32(99).tobytes())
    assert subprocess.run(script, capture_output=True, text=True, check=True).stdout == f"{path}\n"
