# SPDX-License-Identifier: Apache-2.0
"""`kernkit replay --bench` writes rows that `kernkit report` and `kernkit compare` accept."""

import signal

import called
import pytest
from kernkit import cli
from kernkit.bench import measurements
from kernkit.calls import device, recording, timing


def recorded(folder, code):
    called.run(code, KERNKIT_RECORD=str(folder))
    (path,) = folder.iterdir()
    return path


def bench(path, run, *options, library="called_ops"):
    return cli.main(["replay", str(path), "--library", str(called.library(library)), "--bench", str(run), "--rounds", "2", *options])


GATED = "ops.gated(np.zeros((20, 16), 'float32'), -np.ones((20, 32), 'float32'), np.zeros(16, 'float32'))"
NAME = "gated/float32/20x16/kernkit/bytes:3904"  # 4 * (20 * 16 + 20 * 32 + 16)


def test_rows_are_reported_and_compared(tmp_path, capfd):
    path, run = recorded(tmp_path / "calls", GATED), tmp_path / "run.json"
    assert bench(path, run) == 0
    assert f"{NAME}: " in capfd.readouterr().out
    measured = measurements.load(run)
    row, copy = measured.rows
    assert (row.name, row.bytes, len(row.samples)) == (NAME, 3904, 2) and measured.is_ours(row)
    assert (copy.name, copy.bytes) == ("copy/memmove/bytes:3904", 3904) and measured.ceiling(row) is copy
    assert 100 < min(row.samples) < 1e8 and measured.context["rounds"] == 2 and "device" not in measured.context and 10 < measured.context["call_overhead_ns"] < 1e6
    assert cli.main(["compare", str(run), str(run), "--all"]) == 0
    assert f" {NAME} " in (out := capfd.readouterr().out) and "1 rows: 0 slower, 0 faster, " in out
    assert cli.main(["report", str(run), "--no-plots", "--output", str(tmp_path / "page")]) == 0
    assert "### gated float32/20x16" in (tmp_path / "page/report.md").read_text()


def test_the_time_of_a_call_of_a_gpu_needs_a_gpu(tmp_path, capfd):
    if device.is_installed():
        pytest.skip("this machine has CUDA's driver")
    path = recorded(tmp_path / "calls", "ops.ignore(x)")
    text = (path / "call.json").read_text()
    (path / "call.json").write_text(text.replace('"device":[1,0]', '"device":[2,0]'))
    assert bench(path, tmp_path / "run.json") == 3
    error = capfd.readouterr().err
    assert "libcuda.so.1 is not found; measure on a machine with a GPU, or count the kernel's memory traffic by kernkit counters" in error
    assert "--on-cpu" not in error and not (tmp_path / "run.json").exists()


def test_runs_of_different_devices_are_not_compared(tmp_path, capfd):
    path, run, other = recorded(tmp_path / "calls", GATED), tmp_path / "run.json", tmp_path / "other.json"
    assert bench(path, run) == 0
    measured = measurements.load(run)
    for name, text in (("GPU 1", "GPU 1"), ("GPU 2", "GPU 2"), (None, "the CPU")):
        measured.context.pop("device", None)
        measured.context.update({"device": name} if name else {})
        measurements.save(measured, other)
        measurements.save(measurements.Run({**measured.context, "device": "GPU 1"}, measured.rows), run)
        capfd.readouterr()
        code = cli.main(["compare", str(run), str(other)])
        assert (code, capfd.readouterr().err) == ((0, "") if name == "GPU 1" else
            (3, f"kernkit: {run} was measured on GPU 1, and {other} on {text}; compare runs of one device\n"))  # fmt: skip
    assert cli.main(["report", str(run), "--no-plots", "--output", str(tmp_path / "page")]) == 0
    assert "| device | GPU 1 |" in (tmp_path / "page/report.md").read_text()


def test_a_tensor_that_is_read_and_written_counts_twice(tmp_path):
    path = recorded(tmp_path / "calls", "ops.add_to(y, x, 2.0)")
    assert timing.name_of(recording.read(path)) == "add_to/float32/2x3/kernkit/bytes:72"


def test_a_call_with_another_result_or_with_an_error_is_not_measured(tmp_path, capfd):
    path, run = recorded(tmp_path / "calls", GATED), tmp_path / "run.json"
    assert bench(path, run, library="called_ops_again") == 1
    assert capfd.readouterr().out == f"{NAME}: y: 320 of 320 elements differ: [0, 0] was 1.0 and is -1.0\n"
    assert [row.samples for row in measurements.load(run).rows] == [[]]
    failed = recorded(tmp_path / "failed", "try: ops.fail(x)\nexcept ValueError: pass")
    assert bench(failed, run) == 1
    assert "fail/float32/2x3/kernkit/bytes:24: ValueError: fail(): x: the line" in capfd.readouterr().out


@pytest.mark.parametrize("signal", [signal.SIGABRT, -1])
def test_a_call_that_ends_its_process_is_not_measured(tmp_path, capfd, signal):
    """The benchmark fails and writes no file if the call ends its process: by a signal or, with -1, with exit code
    0."""
    path, run = recorded(tmp_path / "calls", "ops.crash(y, x, 0)"), tmp_path / "run.json"
    text = (path / "call.json").read_text()
    (path / "call.json").write_text(text.replace('"value":0', f'"value":{int(signal)}'))
    assert (path / "call.json").read_text() != text
    assert bench(path, run) == 3
    assert "crash: the call ended its process, so that its time cannot be measured" in capfd.readouterr().err
    assert not run.exists()


def test_a_tool_for_cuda_kernels_rejects_a_call_of_the_cpu(tmp_path, capfd):
    path = recorded(tmp_path / "calls", "ops.ignore(x)")
    replay = ["replay", str(path), "--library", str(called.library()), "--tool", "memcheck"]
    for more in ([], ["--minimize", str(tmp_path / "smaller")]):
        assert cli.main([*replay, *more]) == 3
        assert "--tool: the tools check CUDA kernels, and the recording has tensors of the CPU only" in capfd.readouterr().err


@pytest.mark.parametrize("option", [["--on-cpu"], ["--tool", "memcheck"]])
def test_the_times_of_the_simulator_are_rejected(tmp_path, capfd, option):
    path = recorded(tmp_path / "calls", "ops.ignore(x)")
    assert bench(path, tmp_path / "run.json", *option) == 3
    assert "is not the time on a GPU; leave out --on-cpu and --tool, or count" in capfd.readouterr().err
