# SPDX-License-Identifier: Apache-2.0
"""Tests KERNKIT_LOG, which writes a line before and a line after each call. A call succeeds even if its lines cannot be
written."""

import os
import re

import called
import pytest

TAIL = r" tid \d+ in libcalled_ops\.so"
OK = r"ok \d+ us"


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("#")]


def assert_lines(text, *patterns):
    lines = lines_of(text)
    assert len(lines) == len(patterns), text
    for line, pattern in zip(lines, patterns):
        assert re.fullmatch(pattern, line), f"{line} does not match {pattern}"


def test_without_a_setting_nothing_is_printed():
    assert called.run("ops.add_to(y, x, 2.0)").stderr == ""
    assert called.run("ops.add_to(y, x, 2.0)", KERNKIT_LOG="", KERNKIT_TRACE="").stderr == ""


def test_a_library_without_the_hook_ignores_the_settings(tmp_path):
    called.library("unhooked_ops")
    settings = {"KERNKIT_LOG": "args", "KERNKIT_TRACE": str(tmp_path / "trace"), "KERNKIT_RECORD": str(tmp_path / "calls")}
    result = called.run("ops = load('unhooked_ops'); ops.add_to(y, x, 2.0); print(y[1, 2], ops.typed_sum(x, 2))", **settings)
    assert (result.stdout, result.stderr, list(tmp_path.iterdir())) == ("10.0 1.0\n", "", [])


def test_names():
    text = called.run("ops.add_to(y, x, 2.0); ops.ignore(x)", KERNKIT_LOG="names").stderr
    assert_lines(text, "#1 add_to" + TAIL, f"#1 {OK} in libcalled_ops\\.so", "#2 ignore" + TAIL, "#2 .*")


def test_arguments():
    code = """
ops.add_to(y, x.T.copy().T, 2.0)
ops.kinds(y, x, 1e300, -3, True, "a\\n\\"b", np.dtype("int8"), tvm_ffi.device("cpu", 0), (4, 5), [x, y])
ops.ignore(x.reshape(-1)[0:0])
"""
    text = called.run(code, KERNKIT_LOG="args").stderr
    written = r"#1 add_to\(y=float32\[2, 3\] cpu, x=float32\[2, 3\] cpu strides \[1, 2\], factor=2\.0\)"
    kinds = (r'#2 kinds\(y=float32\[2, 3\] cpu, x=float32\[2, 3\] cpu, f=1e\+300, i=-3, b=true, s="a\\x0a\\"b", dtype=int8, '
             r"device=cpu, sizes=\[4, 5\], tensors=\[float32\[2, 3\] cpu, float32\[2, 3\] cpu\]\)")  # fmt: skip
    assert_lines(text, written + TAIL, "#1 .*", kinds + TAIL, "#2 .*", r"#3 ignore\(x=float32\[0\] cpu\)" + TAIL, "#3 .*")


STATISTICS = [
    ("float32", "[1, -2.5, float('nan'), float('inf'), -float('inf')]", "min -2.5 max 1.0 nan 1 inf 2"),
    ("float64", "[float('nan')]", "nan 1 inf 0"),
    ("float16", "[1.5, 70000]", "min 1.5 max 1.5 nan 0 inf 1"),
    ("int64", "[-2**63, 2**63 - 1]", "min -9223372036854775808 max 9223372036854775807"),
    ("uint64", "[2**64 - 1]", "min 18446744073709551615 max 18446744073709551615"),
    ("int8", "[-5, 3]", "min -5 max 3"),
    ("bool", "[True, False]", "min 0 max 1"),
    ("complex64", "[1]", "no statistics of this dtype"),
    ("float32", "[]", "no elements"),
]


def test_statistics():
    calls = [f"ops.ignore(np.array({values}, '{dtype}'))" for dtype, values, _ in STATISTICS]
    code = "np.seterr(all='ignore')\n" + "\n".join(calls)
    lines = lines_of(called.run(code, KERNKIT_LOG="stats").stderr)[::2]
    assert len(lines) == len(STATISTICS)
    for line, (_, _, statistics) in zip(lines, STATISTICS):
        assert "cpu {" + statistics + "})" in line


def test_statistics_of_views_and_of_written_tensors():
    code = "z = np.arange(24, dtype='float32').reshape(4, 6); ops.add_to(y, z[::-2, 1:6:2], 2.0)"
    first, second = lines_of(called.run(code, KERNKIT_LOG="stats").stderr)
    assert "strides [-12, 2] {min 7.0 max 23.0 nan 0 inf 0}" in first and "y=float32[2, 3] cpu {min 0.0" in first
    assert "y {min 14.0 max 46.0 nan 0 inf 0}" in second


def test_an_error_is_logged_and_reaches_the_caller():
    code = """
try: ops.fail(x)
except ValueError as error: print(repr(error))
try: ops.ignore()
except TypeError as error: print(error)
"""
    result = called.run(code, KERNKIT_LOG="names")
    assert "fail(): x: the line\\nof [2, 3]" in result.stdout and "takes 1 argument (x), got 0" in result.stdout
    failed, count = "#1 ValueError: fail\\(\\): x: the line of \\[2, 3\\] in .*", "#2 TypeError: ignore\\(\\): takes 1 argument .*"
    assert_lines(result.stderr, "#1 fail .*", failed, "#2 ignore .*", count)


def test_an_error_without_a_host_is_logged(library_without_host):
    result = library_without_host("call('fail', x)", KERNKIT_LOG="args")
    assert "#1 ValueError: fail(): x: the line of [2, 3] in" in result.stderr
    assert "ValueError: fail(): x: the line" in result.stdout


@pytest.mark.all
@pytest.mark.parametrize(
    "setting, logged",
    [("names,add*", ["add_to"]), ("names,-add*", ["fail", "ignore"]), ("names,*o*,-add*", ["ignore"]), ("names,", ["add_to", "fail", "ignore"])],
)
def test_globs_select_ops(setting, logged):
    code = "ops.add_to(y, x)\ntry: ops.fail(x)\nexcept ValueError: pass\nops.ignore(x)"
    text = called.run(code, KERNKIT_LOG=setting).stderr
    assert [line.split()[1] for line in lines_of(text)[::2]] == logged


def test_an_unsupported_level_is_reported_once():
    text = called.run("ops.add_to(y, x); ops.add_to(y, x); print(y[1, 2])", KERNKIT_LOG="everything,a*")
    assert text.stderr == 'kernkit: KERNKIT_LOG: "everything" is not supported; supported: names, args, stats; no call is logged\n'
    assert text.stdout == "10.0\n"


@pytest.mark.all
def test_an_op_of_a_converted_argument_is_logged_once():
    text = called.run("ops.add_to(y, x, 2**70)", KERNKIT_LOG="names").stderr
    assert_lines(text, "#1 add_to.*", "#1 ok .*")


def test_an_op_written_for_tvm_ffi(tmp_path):
    code = "print(load('called_ops_again').typed_sum(x, 6))"
    result = called.run(code, KERNKIT_LOG="args")
    assert_lines(result.stderr, r"#1 typed_sum\(argument_1=float32\[2, 3\] cpu, argument_2=6\) tid \d+ in libcalled_ops_again.so", "#1 .*")
    assert result.stdout == "15.0\n"


def test_a_file_for_each_process(tmp_path):
    code = """
ops.ignore(x)
child = os.fork()
ops.ignore(x)
if child: assert os.waitpid(child, 0)[1] == 0 and print(os.getpid(), child) is None
else: os._exit(0)
"""
    result = called.run(code, KERNKIT_LOG="names", KERNKIT_LOG_FILE=str(tmp_path / "log.%p"))
    parent, child = result.stdout.split()
    texts = {name: (tmp_path / f"log.{name}").read_text() for name in (parent, child)}
    assert_lines(texts[parent], "#1 .*", "#1 .*", "#2 .*", "#2 .*")
    assert_lines(texts[child], f"#2 ignore tid {child} .*", "#2 .*")
    assert result.stderr == "" and (tmp_path / f"log.{parent}").stat().st_mode & 0o777 == 0o600


@pytest.mark.all
def test_threads_and_two_libraries_write_whole_lines(tmp_path):
    code = """
both = ops, load("called_ops_again")
def work(lib):
    for _ in range(50): lib.ignore(x)
threads = [threading.Thread(target=work, args=(both[i % 2],)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    file = tmp_path / "log"
    called.run(code, KERNKIT_LOG="args", KERNKIT_LOG_FILE=str(file))
    lines = lines_of(file.read_text())
    for name in ("libcalled_ops.so", "libcalled_ops_again.so"):
        own = [line for line in lines if line.endswith(f" in {name}")]
        numbers = [int(line[1:].split()[0]) for line in own]
        assert sorted(numbers) == sorted([*range(1, 201)] * 2)
        assert all(re.fullmatch(rf"#\d+ (ignore\(x=float32\[2, 3\] cpu\) tid \d+|{OK}) in .*", line) for line in own)
    assert len(lines) == 800


@pytest.mark.parametrize(
    "file, message",
    [
        ("{folder}/none/log", "kernkit: KERNKIT_LOG_FILE: {folder}/none/log: No such file or directory; no call is logged"),
        ("{folder}", "kernkit: KERNKIT_LOG_FILE: {folder}: Is a directory; no call is logged"),
        ("/dev/full", "kernkit: /dev/full: No space left on device; lines of the log are lost"),
    ],
)
def test_a_file_that_cannot_be_written_is_reported_once(tmp_path, file, message):
    result = called.run("for _ in range(3): ops.add_to(y, x)\nprint(y[1, 2])", KERNKIT_LOG="stats", KERNKIT_LOG_FILE=file.format(folder=tmp_path))
    assert result.stderr == message.format(folder=tmp_path) + "\n"
    assert result.stdout == "15.0\n"


@pytest.mark.all
def test_a_closed_pipe_ends_no_process():
    code = """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 2)
for _ in range(3): ops.add_to(y, x)
print(y[1, 2])
"""
    assert called.run(code, KERNKIT_LOG="args").stdout == "15.0\n"
