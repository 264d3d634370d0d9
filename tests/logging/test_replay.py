# SPDX-License-Identifier: Apache-2.0
"""`kernkit replay` repeats a recorded call with the same bits, layout and aliasing. Recordings are untrusted input."""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import called
import pytest
from kernkit import cli
from kernkit.calls import recording, writing
from kernkit.commands import replay as replay_command
from kernkit.errors import UserError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "recordings"


def replay(path, *options, library="called_ops"):
    return cli.main(["replay", str(path), "--library", str(called.library(library)), *options])


def recorded(folder, code, code_of_exit=0):
    called.run(code, code_of_exit, KERNKIT_RECORD=str(folder), KERNKIT_RECORD_CALLS="all")
    return sorted(folder.iterdir())


EVERY_KIND = """
np.random.seed(3)
r = lambda *shape: np.asarray(np.random.rand(*shape), "float32")
z = r(8, 9)
ops.add_to(r(2, 3), r(2, 3), 1 / 3)
ops.add_to(r(3, 4).T, r(8, 9)[::2, 1:8:3][:, ::-1], 0.1)     # strides, negative as well
ops.add_to(z[1:7], z[1:7], 0.5)                                 # the same memory
ops.add_to(z[0:6], z[2:8], 0.5)                                 # overlapping memory
ops.add_to(r(17)[3:], r(15)[1:], 0.25)                          # unaligned
ops.add_to(r(3)[:0], r(3)[:0], float("inf"))                    # no elements
ops.add_to(r(), r(), -0.0)                                       # rank 0
ops.kinds(r(1), r(1), float("nan"), -2**63, True, "a\\u00e9\\"\\n", np.dtype("float16"), tvm_ffi.device("cpu", 1), (4, 5), [r(2), z[:, 1]], 2.5)
ops.described("", b"", [-0.0], [])
ops.kinds(r(1), r(1), 1e-310, 2**63 - 1, False, "", np.dtype("int8"), tvm_ffi.device("cuda", 0), (), [], None)
try: ops.fail(x)
except ValueError: pass
load("called_ops_again").typed_sum(x, 6)
ops.same(r(3, 4)[:, ::2])
for dtype in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float64 complex64".split(): ops.same((8 * r(3, 2)).astype(dtype))
ops.transposed(r(3, 5)[::-1])
ops.described("a\\u00e9" * 9, b"\\0b\\xff", [0.5, 2], ["one", "", "three" * 9])
ops.described("a\\0b", b"", [], ["\\0", "\\0" * 9])                # a NUL byte in a str
ops.described("", b"", [], [], r(3), [r(2), z[1:3, ::2]])
"""


def test_every_type_of_argument_and_every_layout_replays_to_the_same_bits(folder, capfd):
    paths = recorded(folder, EVERY_KIND)
    assert len(paths) == 29
    for path in paths:
        library = "called_ops_again" if path.name.startswith("typed") else "called_ops"
        assert replay(path, library=library) == 0, (path / "call.json").read_text()
        call = recording.read(path)
        writing.write(call, folder.parent / path.name)
        again = recording.read(folder.parent / path.name)._replace(folder=path)
        if call.results.value is not None and call.results.value.type not in ("int", "float", "none"):
            call, again = call._replace(results=None), again._replace(results=None)
        assert repr(again) == repr(call)
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(["add_to: equal: y"] * 6 + ["add_to: equal: nothing is compared"] + ["kinds: equal: y, result"] * 2
                                   + ["same: equal: result"] * 13 + ["transposed: equal: result"] + ["described: equal: result"] * 4
                                   + ["fail: equal: the error", "typed_sum: equal: argument_1, result"])  # fmt: skip


def test_a_callback_cannot_be_repeated(folder, capfd):
    (path,) = recorded(folder, "ops.apply(lambda x: 2 * x, 1.5)")
    assert replay(path) == 3
    assert "kernkit: the argument f is " in (error := capfd.readouterr().err) and error.endswith(", which a recording cannot contain; the call cannot be repeated\n")


def test_results_that_differ_are_reported(folder, capfd):
    tensor, text = recorded(folder, "ops.transposed(x); ops.described('abc', b'', [], [])")[::-1]
    for path, old, new, message in ((tensor, b"\0\0\xa0\x40", b"\0\0\xa8\x40", "transposed: result: 1 of 6 elements differ: [2, 1] was 5.25 and is 5.0"),
                                    (text, b"abc,", b"abd,", "described: result: was 'abd,0.000000' and is 'abc,0.000000'")):  # fmt: skip
        file = path / ("result.safetensors" if path == tensor else "results.json")
        file.write_bytes(file.read_bytes().replace(old, new))
        assert replay(path) == 1
        assert capfd.readouterr().out == message + "\n"
    tensor_json = (tensor / "results.json").read_text()
    (tensor / "results.json").write_text(tensor_json.replace('"shape":[3,2],"strides":[2,1]', '"shape":[6],"strides":[1]'))
    assert replay(tensor) == 1
    assert capfd.readouterr().out == "transposed: result: was float32[6] and is float32[3, 2]\n"


def test_an_op_that_reads_its_output_differs_without_the_recorded_output(folder, capfd):
    paths = recorded(folder, "ops.add_to(y + 1, x); ops.crash(y, x, 0); z = np.zeros((4, 3), 'float32'); ops.add_to(z[:2], z[1:3])")
    read, shared, kept = sorted(paths, key=lambda path: (path.name.startswith("crash"), int(path.name.rsplit("-")[-1])))
    assert replay(read, "--uninitialised", "y") == 1
    assert "add_to: y: 6 of 6 elements differ: [0, 0] was 1.0 and is nan" in capfd.readouterr().out
    assert replay(read, "--uninitialised", "y", "--minimize", str(folder / "new")) == 3
    assert "--uninitialised: --minimize and --bench do not support this option; leave out the option" in capfd.readouterr().err
    assert replay(shared, "--uninitialised", "y") == 3 and replay(read, "--uninitialised", "z") == 3
    error = capfd.readouterr().err
    assert "--uninitialised: y shares memory with x, whose values the call needs" in error
    assert "--uninitialised: add_to has no tensor z; its tensors: y, x" in error
    assert replay(kept, "--uninitialised", "y") == 1 and "y: 5 of 6 elements differ: [0, 1] was 0.0 and is nan" in capfd.readouterr().out


def test_another_build_of_the_op_is_compared(folder, capfd):
    (path,) = recorded(folder, "ops.add_to(y, x, 2.0)")
    assert replay(path, library="called_ops_again") == 0
    outputs = path / "outputs.safetensors"
    data = bytearray(outputs.read_bytes())
    data[-4:] = b"\x01\0\x20\x41"  # changes 10 to 10.0000010
    outputs.write_bytes(data)
    assert replay(path) == 1
    assert replay(path, "--tolerance", "1e-6") == 0
    assert capfd.readouterr().out.splitlines()[1] == "add_to: y: 1 of 6 elements differ: [1, 2] was 10.000000953674316 and is 10.0"


def test_a_crash_is_repeated(root, folder):
    paths = recorded(folder, f"ops.crash(y, x, {int(signal.SIGABRT)})", -signal.SIGABRT)
    command = [sys.executable, "-m", "kernkit", "replay", paths[0], "--library", called.library()]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root / "sdk/python")}, capture_output=True, text=True)
    assert result.stdout == "crash: SIGABRT ended the process of this call; the recorded call did not return either\n"
    assert (result.returncode, result.stderr) == (1, "")


def test_a_changed_schema_is_rejected(folder, capfd):
    (path,) = recorded(folder, "ops.ignore(x)")
    call = json.loads((path / "call.json").read_text())
    for key, value, message in (("schema", "(Tensor(a!) x) -> ()", "ignore has another schema line in"), ("op", "other", "has no op other; the library has add_to")):
        (path / "call.json").write_text(json.dumps({**call, key: value}))
        assert replay(path) == 3
        assert message in capfd.readouterr().err


def test_other_folders_are_rejected(tmp_path, capfd):
    assert replay(tmp_path) == 3
    assert capfd.readouterr().err == f"kernkit: {tmp_path} is not a recording: call.json not found; name a folder that a library wrote into the folder of KERNKIT_RECORD\n"


@pytest.mark.all
def test_values_that_were_not_recorded_are_zero(folder, capfd):
    called.run("ops.ignore(x)", KERNKIT_RECORD=str(folder), KERNKIT_RECORD_VALUES="none")
    (path,) = folder.iterdir()
    assert replay(path) == 0
    assert "values were not recorded (KERNKIT_RECORD_VALUES); all elements are 0 in this call" in capfd.readouterr().out


def mutated(generator, data):
    """Returns the bytes after one to four changes, each of which changes a bit or a digit, or removes or copies
    bytes."""
    data = bytearray(data)
    for _ in range(generator.randrange(1, 5)):
        at, kind = generator.randrange(len(data)), generator.randrange(5)
        if kind == 0:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            data[at] = generator.choice(b'0123456789-{}[]",:.e')
        elif kind == 2:
            del data[at : at + generator.randrange(1, 40)]
        elif kind == 3:
            data[at:at] = data[generator.randrange(len(data)) :][: generator.randrange(1, 40)]
        else:
            data[at:at] = str(generator.choice([-1, 0, 2**31, 2**63, 2**64, 10**30, 1e300])).encode()
        if not data:
            data = bytearray(b"{}")
    return bytes(data)


class Events:
    """Records the files that Python opens and the code that Python loads in a `with` statement of this object. The
    audit hook stays installed, because Python cannot remove an audit hook."""

    active = None

    def __init__(self):
        self.opened, self.loaded = set(), set()

    @staticmethod
    def hook(event, arguments):
        events = Events.active
        if events is not None and event == "open" and not isinstance(arguments[0], int):
            events.opened.add(str(arguments[0]))
        elif events is not None and event in ("import", "exec", "compile", "ctypes.dlopen", "subprocess.Popen", "os.system", "os.exec", "pickle.find_class"):
            events.loaded.add((event, str(arguments[0])))

    def __enter__(self):
        if not hasattr(Events, "added"):
            sys.addaudithook(Events.hook)
            Events.added = True
        Events.active = self
        return self

    def __exit__(self, *_):
        Events.active = None


def read_mutated(folder, count, seed):
    """Reads mutated recordings, and repeats the calls that are read. Fails if an exception other than a UserError is raised, if a
    tensor exceeds its memory, if a file outside of the folder is opened, or if code is loaded. Returns (rejected, repeated)."""
    path = recorded(folder, "ops.add_to(y, x.T.copy().T, 2.0)")[0]
    originals = {file.name: file.read_bytes() for file in path.iterdir()}
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    generator, rejected, repeated, library = random.Random(seed), 0, 0, called.library()
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        copy = pathlib.Path(name) / "mutated"
        shutil.copytree(path, copy)
        recording.read(copy)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(count):
            name = generator.choice(["call.json", "call.json", "results.json", "inputs.safetensors", "outputs.safetensors", "result.safetensors"])
            (copy / name).write_bytes(mutated(generator, originals[name]))
            try:
                with Events() as events:
                    call = recording.read(copy)
                assert all(value.storage is None or value.num_elements() > 0 for value in call.arguments)
                repeated += 1
                code = replay_command._in_a_process(call, library, 0.0) if call.op == "add_to" and not call.skipped else 1
                assert code in (0, 1, 3), code
            except UserError as error:
                rejected += 1
                assert str(copy) in str(error)
            assert events.opened <= {str(copy / name) for name in originals} and not events.loaded
            (copy / name).write_bytes(originals[name])
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100_000  # KiB
    print(f"{rejected} rejected, {repeated} repeated")
    return rejected, repeated


@pytest.mark.all
def test_mutated_recordings_are_read_or_rejected(folder):
    rejected, repeated = read_mutated(folder, 1000, 1)
    assert rejected > 300 and repeated > 30


@pytest.mark.slow
def test_many_mutated_recordings_are_read_or_rejected(folder):
    rejected, repeated = read_mutated(folder, 100_000, 2)
    assert rejected > 30_000 and repeated > 3_000


def test_links_and_pipes_are_not_read(folder, capfd):
    (path,) = recorded(folder, "ops.ignore(x)")
    for name in ("call.json", "inputs.safetensors", "results.json"):
        file = path / name
        file.rename(folder.parent / "elsewhere")
        file.symlink_to(folder.parent / "elsewhere")
        assert replay(path) == 3
        assert f"{file}" in (error := capfd.readouterr().err) and "cannot be read: a symbolic link, which a recording must not contain" in error
        file.unlink()
        os.mkfifo(file)
        assert replay(path) == 3
        assert f"{path}" in capfd.readouterr().err
        file.unlink()
        (folder.parent / "elsewhere").rename(file)
    assert replay(path) == 0


def test_tensors_beyond_the_memory_of_the_machine_are_rejected(folder, capfd):
    called.run("ops.ignore(x)", KERNKIT_RECORD=str(folder), KERNKIT_RECORD_VALUES="none")
    (path,) = folder.iterdir()
    text = (path / "call.json").read_text()
    (path / "call.json").write_text(text.replace('"bytes":24', f'"bytes":{2**36 - 1}'))
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") >= 2**36:
        pytest.skip("this machine has more memory than a recording can have")
    assert replay(path) == 3
    assert f"the tensors of the call have {2**36 - 1} bytes, and this machine has " in capfd.readouterr().err
