# SPDX-License-Identifier: Apache-2.0
"""`kernkit counters` and `kernkit sanitize` on a program compiled by nvcc and independent of kernkit."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest
from cuda_tools import include_of, tool
from kernkit import cli
from kernkit.commands import sanitize
from kernkit.simulator import counters, resources

SOURCE = pathlib.Path(__file__).parent / "tools.cu"


def line_of(text):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def run(root, tmp_path_factory):
    runtime, nvcc = root / "build/release/kernkit_cudart/libcudart.so.13", tool("nvcc")
    if not runtime.exists() or nvcc is None:
        pytest.skip("no CUDA compiler, which builds the program for the tools")
    program = tmp_path_factory.mktemp("tools") / "tools"
    subprocess.run([nvcc, "-arch=compute_80", "-cudart", "shared", "-lineinfo", "-o", program, SOURCE], check=True)

    def run_tool(command, *options, kernel, ran=program, **environment):
        arguments = [sys.executable, "-B", "-m", "kernkit", command, "--runtime", runtime, *options, ran, *kernel.split("  ")]
        return subprocess.run([*map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(root / "sdk/python"), **environment})  # fmt: skip

    def start_tool(command, *options, kernel):
        arguments = [sys.executable, "-B", "-m", "kernkit", command, "--runtime", runtime, *options, program, kernel]
        return subprocess.Popen([*map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip

    run_tool.program, run_tool.start = program, start_tool
    return run_tool


def test_counters_of_a_stride(run, tmp_path):
    result = run("counters", "--lines", "--json", tmp_path / "c.json", "--html", tmp_path / "c.html", kernel="strided")
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    (kernel,) = json.loads((tmp_path / "c.json").read_text())["kernels"]
    assert kernel["kernel"] == "strided" and kernel["launches"] == 1
    assert kernel["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 1
    assert kernel["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 32
    assert kernel["counters"]["global_load_fewest_sectors"] == 4
    assert kernel["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 4
    at = line_of("x[32 * threadIdx.x]")
    (line,) = (line for line in kernel["lines"] if "global_load_bytes" in line["counters"])
    assert (line["place"], line["line"]) == (f"tools.cu:{at}", at)
    assert re.search(rf"^  tools.cu:{at} +1 +32 +700.0% ", result.stderr, re.MULTILINE), result.stderr
    page = (tmp_path / "c.html").read_text()
    assert re.search(rf"<tr class=over><td>{at}<td>1<td>32<td>700.0%.*x\[32 \* threadIdx.x\]", page)


def test_counters_are_the_same_in_every_run(run, tmp_path):
    texts = set()
    for i, seed in enumerate(("0", "0", "3", "4")):
        run("counters", "--json", tmp_path / f"{i}.json", kernel="columns", KERNKIT_SEED=seed)
        texts.add((tmp_path / f"{i}.json").read_text())
    (text,) = texts
    (kernel,) = json.loads(text)["kernels"]
    assert kernel["counters"]["shared_store_wavefronts"] == 32 * 32
    assert kernel["counters"]["shared_load_wavefronts"] == 32


def test_resources_of_a_kernel_by_ptxas(run, tmp_path):
    if tool("cuobjdump") is None or tool("ptxas") is None:
        pytest.skip("no cuobjdump or no ptxas")
    usage = resources.resource_usage(run.program)
    assert usage["columns"]["launch__shared_mem_per_block_static"] == 4096 and usage["columns"]["barriers"] == 1
    assert usage["columns"]["architecture"] == "sm_80"
    assert usage["strided"]["launch__registers_per_thread"] > 2
    assert usage["spills"]["spill_store_bytes"] > 0 and usage["spills"]["launch__registers_per_thread"] <= 32
    assert resources.resource_usage(run.program, "sm_90")["columns"]["architecture"] == "sm_90"
    texts = set()
    for _ in range(2):
        files = ("--json", tmp_path / "c.json", "--html", tmp_path / "c.html")
        result = run("counters", "--resources", run.program, *files, kernel="columns")
        texts.add((tmp_path / "c.json").read_text() + (tmp_path / "c.html").read_text())
        (kernel,) = json.loads((tmp_path / "c.json").read_text())["kernels"]
    assert len(texts) == 1
    assert kernel["launch_shapes"] == [{"launch__block_size": 1024, "launches": 1, "launch__shared_mem_per_block_dynamic": 0}]
    assert kernel["ptxas"]["sm__maximum_warps_per_active_cycle_pct"] == 100
    assert kernel["ptxas"]["launch__occupancy_limit_warps"] == 2
    registers = kernel["ptxas"]["launch__registers_per_thread"]
    assert re.search(rf"^columns .* {registers} +0 +100%$", result.stderr, re.MULTILINE), result.stderr
    assert re.search(rf"columns .* {registers} +0 +100%", (tmp_path / "c.html").read_text())


def test_files_without_ptx(capfd, tmp_path):
    if tool("cuobjdump") is None:
        pytest.skip("no cuobjdump")
    (tmp_path / "empty.o").write_bytes(b"")
    assert cli.main(["counters", "--resources", str(tmp_path / "empty.o"), "x"]) == 3
    assert f"PTX not found in {tmp_path / 'empty.o'}; compile with nvcc -arch=compute_80" in capfd.readouterr().err


# A program that prints the number of blocks per multiprocessor, as NVIDIA's cuda_occupancy.h computes it, for
# combinations of registers, threads, static and dynamic shared memory, and barriers.
CALCULATOR = """
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <cuda_occupancy.h>
int main(int, char** words) {
  const int capability = std::atoi(words[1]);
  cudaOccDeviceProp of;
  of.computeMajor = capability / 10, of.computeMinor = capability % 10;
  of.maxThreadsPerBlock = 1024, of.maxThreadsPerMultiprocessor = 32 * std::atoi(words[2]);
  of.regsPerBlock = of.regsPerMultiprocessor = 65536, of.warpSize = 32, of.numSms = 1;
  of.sharedMemPerBlock = 49152, of.sharedMemPerMultiprocessor = 1024 * std::atoi(words[3]);
  of.reservedSharedMemPerBlock = capability < 80 ? 0 : 1024;
  of.sharedMemPerBlockOptin = of.sharedMemPerMultiprocessor - of.reservedSharedMemPerBlock;
  for (int registers : {16, 33, 40, 64, 96, 128, 168, 255})
    for (int threads : {32, 96, 128, 192, 256, 512, 640, 1024})
      for (int bytes : {0, 1000, 16384, 48000})
        for (int more : {0, 5000, 40000})
          for (int barriers : {0, 1, 3, 16}) {
            cudaOccFuncAttributes kernel;
            kernel.maxThreadsPerBlock = 1024, kernel.numRegs = registers, kernel.sharedSizeBytes = bytes;
            kernel.partitionedGCConfig = PARTITIONED_GC_OFF, kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            kernel.maxDynamicSharedSizeBytes = more, kernel.numBlockBarriers = barriers;
            cudaOccDeviceState state;
            state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
            cudaOccResult result;
            const int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &of, &kernel, &state, threads, more);
            std::printf("%d %d %d %d %d %d\\n", registers, threads, bytes, more, barriers,
                        error != 0 ? -error : result.activeBlocksPerMultiprocessor);
          }
}
"""


@pytest.mark.parametrize("capability", resources.LIMITS)
def test_occupancy_is_the_toolkits(tmp_path, capability):
    include = include_of("cuda_occupancy.h")
    if include is None:
        pytest.skip("no cuda_occupancy.h")
    warps, _, shared, _ = resources.LIMITS[capability]
    (tmp_path / "calculator.cc").write_text(CALCULATOR)
    subprocess.run(["c++", "-w", "-I", include, "-o", tmp_path / "calculator", tmp_path / "calculator.cc"], check=True)
    output = subprocess.check_output([tmp_path / "calculator", *map(str, (capability, warps, shared))], text=True)
    assert len(output.splitlines()) == 8 * 8 * 4 * 3 * 4
    for registers, threads, static, dynamic, barriers, blocks in (map(int, line.split()) for line in output.splitlines()):
        usage = {"architecture": f"sm_{capability}", "launch__registers_per_thread": registers, "barriers": barriers,
                 "launch__shared_mem_per_block_static": static}  # fmt: skip
        figures = resources.occupancy(usage, threads, dynamic)
        least = min(value for name, value in figures.items() if name.startswith("launch__"))
        assert least == blocks, (registers, threads, static, dynamic, barriers, figures)


@pytest.mark.parametrize(
    "kernel, tool_of, sentence",
    [("outside", "memcheck", r"outside: block \[0, 0, 0\], thread \[24, 0, 0\]: Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of "
      r"4096 bytes \(tools.cu:\d+\)"),
     ("diverged", "synccheck", r"diverged: block \[0, 0, 0\], thread \[0, 0, 0\]: 33 of the block's 64 threads wait at "
      r"__syncthreads\(\) \(tools.cu:\d+\) and thread \[32, 0, 0\] waits at __shfl_sync\(\) \(.* \(inlined at tools.cu:\d+\)\)")],
)  # fmt: skip
def test_findings_of_a_tool(run, tmp_path, kernel, tool_of, sentence):
    result = run("sanitize", "--json", tmp_path / "s.json", kernel=kernel)
    assert result.returncode == 1
    assert re.search(f"^{tool_of}: {sentence}", result.stderr, re.MULTILINE), result.stderr
    assert "kernkit sanitize: 1 finding (" in result.stderr and f"{tool_of}: 1" in result.stderr
    (finding,) = json.loads((tmp_path / "s.json").read_text())["findings"]
    assert finding["tool"] == tool_of and finding["kernel"] == kernel and finding["count"] == 1
    assert run("sanitize", "--error-exitcode", 9, kernel=kernel).returncode == 9
    other_tool = {"memcheck": "synccheck", "synccheck": "memcheck"}[tool_of]
    result = run("sanitize", "--tool", other_tool, kernel=kernel)
    assert result.returncode == 1 and f"kernkit sanitize: 0 findings ({other_tool}: 0" in result.stderr
    assert "kernkit sanitize: incomplete: a kernel stopped, and the rest of the kernel did not run: " + kernel in result.stderr


def test_threads_that_end_before_a_barrier(run):
    """If some threads of a block have ended, synccheck reports a barrier of the other threads at level warn only."""
    result = run("sanitize", kernel="early")
    assert result.returncode == 0 and "kernkit sanitize: 0 findings (" in result.stderr, result.stderr
    result = run("sanitize", "--synccheck-detect-level", "warn", kernel="early")
    assert result.returncode == 1
    line = line_of("some threads of the block have ended")
    assert (
        f"synccheck: early: block [0, 0, 0], thread [0, 0, 0]: 40 of the block's 64 threads wait at __syncthreads() "
        f"and thread [40, 0, 0] has ended (tools.cu:{line})\n" in result.stderr
    ), result.stderr


def test_a_race_and_its_suppression(run, tmp_path):
    stores, loads = line_of("tile[threadIdx.x] = x[threadIdx.x] + threadIdx.x"), line_of("tile[63 - threadIdx.x]")
    result = run("sanitize", "--tool", "racecheck", kernel="unordered")
    assert result.returncode == 1 and "kernkit sanitize: 2 findings (racecheck: 2" in result.stderr
    assert (f"racecheck: unordered: block [0, 0, 0], thread [32, 0, 0]: Race reported between Read access at byte 124 of shared memory (tools.cu:{loads}) and Write access by thread [31, 0, 0] (tools.cu:{stores}), with no barrier between that orders them (32 times)\n") in result.stderr
    reasons = tmp_path / "suppressions"
    reasons.write_text("# Its result is not used.\nunordered: block [0, 0, 0], thread * of shared memory*\n# No more.\nother: *\n")
    result = run("sanitize", "--tool", "racecheck", "--suppressions", reasons, kernel="unordered")
    assert result.returncode == 0, result.stderr
    assert "kernkit sanitize: this suppression matches no finding: other: *\n" in result.stderr


def test_a_failing_call_in_a_loop_is_counted(run):
    result = run("sanitize", "--tool", "memcheck", kernel="repeats")
    assert result.returncode == 1
    assert re.search(r"^memcheck: Program hit cudaErrorInvalidValue .* on CUDA API call to cudaMemcpy: .* \(1000 times\)$", result.stderr, re.MULTILINE), result.stderr
    assert result.stderr.endswith("kernkit sanitize: 1 finding (memcheck: 1)\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_reports_the_findings_so_far(run, tmp_path, number):
    """A signal to the command ends the command and the program. The findings of kernels that ran before the signal are
    reported."""
    with run.start("sanitize", "--tool", "racecheck", "--seeds", "3", "--json", tmp_path / "s.json", kernel="waits") as process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        errors = process.stderr.read()
    assert process.returncode == 128 + number
    assert "racecheck: unordered: block [0, 0, 0], thread [32, 0, 0]: Race reported between " in errors, errors
    assert f"kernkit sanitize: incomplete: the program crashed or was ended by signal {number:d}: later kernels did not run\n" in errors
    assert errors.endswith("kernkit sanitize: 2 findings (racecheck: 2)\n")
    assert json.loads((tmp_path / "s.json").read_text())["program_exitcode"] == 128 + number


def test_findings_of_several_seeds_are_merged(run, tmp_path):
    report = tmp_path / "findings.json"
    result = run("sanitize", "--tool", "racecheck", "--seeds", "3", "--json", report, kernel="unordered")
    assert result.returncode == 1 and "kernkit sanitize: 2 findings (racecheck: 2)" in result.stderr, result.stderr
    assert len(re.findall(r" that orders them \(seed \d\) \(96 times\)$", result.stderr, re.MULTILINE)) == 2, result.stderr
    findings = json.loads(report.read_text())["findings"]
    assert [finding["level"] for finding in findings] == ["error"] * 2
    seed = findings[0]["seed"]
    assert findings[0]["sentence"] in run("sanitize", "--tool", "racecheck", "--seed", str(seed), kernel="unordered").stderr


def test_a_race_that_only_some_seeds_have(run):
    """With seed 0, block 0 runs first and does not store, so no race occurs. With several seeds, a finding names the
    first seed with the race."""
    assert run("sanitize", "--tool", "racecheck", kernel="elected").returncode == 0
    result = run("sanitize", "--tool", "racecheck", "--seeds", "5", kernel="elected")
    first, last = line_of("the first block, unless"), line_of("the last of the eight blocks")
    assert result.returncode == 1, result.stderr
    (seed,) = set(re.findall(r"with nothing between that orders them \(seed (\d)\)", result.stderr))
    assert seed != "0" and f"(tools.cu:{last}) and Write access by block" in result.stderr and f"(tools.cu:{first})" in result.stderr
    result = run("sanitize", "--tool", "racecheck", "--seed", seed, kernel="elected")
    assert result.returncode == 1 and "with nothing between that orders them" in result.stderr, result.stderr


@pytest.mark.parametrize("kernel, tool_of", [("outside", "memcheck"), ("diverged", "synccheck"), ("unwritten", "initcheck")])
def test_faults_of_several_seeds_are_merged(run, kernel, tool_of):
    """A fault that occurs with several seeds is reported once: the first thread with the fault depends on the seed, but
    the line of the fault does not."""
    result = run("sanitize", "--seeds", "3", kernel=kernel)
    assert result.returncode == 1 and "kernkit sanitize: 1 finding (" in result.stderr, result.stderr
    assert re.search(rf"^{tool_of}: {kernel}: .*\btools.cu:\d+\)+ \(seed 0\) \(3 times\)$", result.stderr, re.MULTILINE), result.stderr
    for line in re.findall("^kernkit sanitize: incomplete: .*", result.stderr, re.MULTILINE):
        assert line.endswith(("and the rest of the kernel did not run", "its invalid accesses were skipped, and the kernel continued")), result.stderr


def test_lanes_of_a_warp_at_the_level_of_warnings(run):
    assert run("sanitize", kernel="lanes").returncode == 0
    result = run("sanitize", "--racecheck-detect-level", "warn", kernel="lanes")
    assert result.returncode == 1 and "with no __syncwarp() between that orders them (32 times)\n" in result.stderr


def test_uninitialised_memory(run):
    at = line_of("reads the uninitialised element")
    result = run("sanitize", "--tool", "initcheck", kernel="unwritten")
    assert result.returncode == 1 and "kernkit sanitize: 1 finding (initcheck: 1" in result.stderr
    assert re.search(r"^initcheck: unwritten: block \[0, 0, 0\], thread \[58, 0, 0\]: Uninitialized bits written to byte 232 of 4096 bytes "
                     rf"of global memory \(tools.cu:{at}\), read from byte 20 of shared memory \(tools.cu:{at}\)$",
                     result.stderr, re.MULTILINE), result.stderr  # fmt: skip


def test_a_suppression_needs_its_reason(capfd, tmp_path):
    reasons = tmp_path / "suppressions"
    reasons.write_text("# The first one.\nk: *\nj: *\n")
    assert cli.main(["sanitize", "--suppressions", str(reasons), "x"]) == 3
    assert capfd.readouterr().err == (
        f"kernkit: {reasons}:3: a suppression needs its reason, in a line above it that begins with #\n")  # fmt: skip


def test_nothing_found_and_the_programs_exit_code(run):
    result = run("sanitize", kernel="columns")
    assert result.returncode == 0 and "kernkit sanitize: 0 findings (" in result.stderr
    assert run("sanitize", kernel="seven").returncode == 7
    assert run("counters", kernel="seven").returncode == 7


def test_a_shell_that_runs_no_kernel_has_a_complete_report(run):
    """The report is complete if the program ends by _exit(), as dash does."""
    result = run("sanitize", ran="sh", kernel="-c  true")
    assert result.returncode == 0 and result.stderr.startswith("kernkit sanitize: 0 findings ("), result.stderr


@pytest.fixture(scope="module")
def ends(run, root, tmp_path_factory):
    program = tmp_path_factory.mktemp("ends") / "ends"
    subprocess.run([tool("nvcc"), "-arch=compute_80", "-cudart", "shared", "-lineinfo", "-o", program,
                    SOURCE.parent / "ends.cu"], check=True)  # fmt: skip

    def run_end(name, *options, seed="0"):
        runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
        arguments = [sys.executable, "-B", "-m", "kernkit", "sanitize", "--runtime", runtime, *options, program, name]
        return subprocess.run([*map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(root / "sdk/python"), "KERNKIT_SEED": seed})  # fmt: skip

    return run_end


INVALID = r'Program hit cudaErrorInvalidValue \(error 1\) due to "invalid argument" on CUDA API call to '


@pytest.mark.parametrize(
    "name, sentence",
    [("copy", INVALID + "cudaMemcpy: src: 132 bytes at byte 0 of an allocation of 128 bytes end 4 bytes past its end"),
     ("rows", INVALID + "cudaMemcpy2D: dst: 144 bytes at byte 0 of an allocation of 128 bytes end 16 bytes past its end"),
     ("fill rows", INVALID + "cudaMemset2D: devPtr: 192 bytes at byte 0 of an allocation of 128 bytes end 64 bytes past"),
     ("peer", INVALID + "cudaMemcpyPeer: src: 128 bytes at byte 4 of an allocation of 128 bytes end 4 bytes past its end"),
     ("symbol", INVALID + "cudaMemcpyToSymbol: symbol: 20 bytes at byte 0 of a variable of 16 bytes extend past its end"),
     ("from symbol", INVALID + "cudaMemcpyFromSymbol: dst: 16 bytes at byte 120 of an allocation of 128 bytes end 8 bytes"),
     ("twice", INVALID + "cudaFree: devPtr: byte 0 of an allocation of 128 bytes by cudaMalloc\\(\\) that cudaFree\\(\\) freed"),
     ("configuration", r'Program hit cudaErrorInvalidConfiguration \(error 9\) due to "invalid configuration argument" on '
      "CUDA API call to cudaLaunchKernel"),
     ("overflow", "overflows: block .*stack"),
     ("function", "calls: block .* which is not a function's address"),
     ("trap", r"traps: block .*__trap\(\)"),
     ("unsynchronised outside", r"outside: block .*Invalid __global__ write of size 4 bytes, 272 bytes")],
)  # fmt: skip
@pytest.mark.parametrize("seed", ("0", "3"))
def test_host_errors_and_stopped_kernels_count(ends, name, sentence, seed):
    result = ends(name, seed=seed)
    assert result.returncode == 1 and "kernkit sanitize: 1 finding (memcheck: 1" in result.stderr, result.stderr
    assert re.search("^memcheck: " + sentence, result.stderr, re.MULTILINE), result.stderr
    assert ("warning: ended without synchronising" in result.stderr) == name.startswith("unsynchronised")


def test_kernels_that_did_not_run_are_reported(ends):
    result = ends("outside", "--tool", "racecheck")
    assert result.returncode == 1
    assert "incomplete: a kernel failed: its invalid accesses were skipped, and the kernel continued: outside: block" in result.stderr
    result = ends("outside", "--tool", "synccheck")
    assert "incomplete: a kernel stopped, and the rest of the kernel did not run: outside: block" in result.stderr
    assert "incomplete: 1 launch after a stopped kernel did not run\n" in result.stderr
    result = ends("crash")
    assert result.returncode == 134 and "incomplete: the program crashed or was ended by signal 6" in result.stderr
    result = ends("exit")
    assert result.returncode == 1 and "was ended before the tools wrote their last findings" in result.stderr
    assert ends("right").returncode == 0 and "incomplete" not in ends("right").stderr


@pytest.mark.parametrize("seed", ("0", "3"))
def test_a_program_that_does_not_synchronise_is_warned_of(ends, seed):
    result = ends("unsynchronised", seed=seed)
    assert result.returncode == 0
    assert "kernkit sanitize: warning: ended without synchronising\n" in result.stderr
    assert "warning" not in ends("right", seed=seed).stderr


def test_a_finding_has_the_most_severe_level_of_its_runs():
    warning = {"tool": "racecheck", "kernel": "k", "sentence": "k: reads", "count": 2, "level": "warn", "pair": "k; a; b", "seed": 0}
    error = {**warning, "sentence": "k: writes", "count": 3, "level": "error", "seed": 1}
    assert sanitize.merged([warning, error]) == sanitize.merged([error, warning]) == [{**error, "count": 5}]
    assert sanitize.text_of(warning) == "racecheck (warn): k: reads (seed 0) (2 times)"


def test_no_runs(capfd):
    assert cli.main(["sanitize", "--seeds", "0", "x"]) == 3
    assert capfd.readouterr().err == "kernkit: --seeds: expected 1 or more, found 0\n"


def test_unknown_tools(capfd):
    assert cli.main(["sanitize", "--tool", "memchek", "x"]) == 3
    assert capfd.readouterr().err == f'kernkit: --tool: unsupported tool "memchek"; supported tools: {", ".join(sanitize.TOOLS)}\n'


def test_findings_of_several_processes_are_one():
    finding = {"tool": "memcheck", "kernel": "k", "sentence": "k: stores", "count": 2}
    assert sanitize.merged([finding, {**finding, "count": 3}, {**finding, "sentence": "k: loads"}]) == [
        {**finding, "count": 5}, {**finding, "sentence": "k: loads"}]  # fmt: skip


def test_counters_of_several_processes_are_sums():
    def kernel(name, steps):
        line = {"place": "k.cu:3", "file": "k.cu", "line": 3, "counters": {"steps": steps}}
        return {"kernel": name, "launches": 1, "counters": {"steps": steps}, "lines": [line]}

    first, second = counters.summed([kernel("b", 5), kernel("a", 1), kernel("b", 7)])
    assert (first["kernel"], second["kernel"], second["launches"], second["counters"]) == ("a", "b", 2, {"steps": 12})
    assert second["lines"] == [{"place": "k.cu:3", "file": "k.cu", "line": 3, "counters": {"steps": 12}}]
