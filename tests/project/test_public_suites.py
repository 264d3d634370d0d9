# SPDX-License-Identifier: Apache-2.0
"""bench/public_suites determines the outcome of a program from its output. The whole tool runs on small suites of shell
scripts in place of CUDA programs."""

import collections
import json
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(autouse=True)
def modules(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench/public_suites"))


REJECTED = "kernkit: k cannot run: wgmma.fence.sync.aligned (main.cu:12): unsupported instruction\n"
LIBRARY = ("kernkit: libcublas.so.13: the CUDA runtime is linked into the library statically and runs machine code on a GPU only, so "
           "kernels of the library do not run here\n")  # fmt: skip


@pytest.mark.parametrize(
    "code, output, errors, kind, reason, beyond",
    [
        (0, "Result = PASS\n", "", "right", "", ""),
        (0, "max error 0.0, 0 failures\n", "", "right", "", ""),
        (0, "Test PASSED\n", "kernkit: cudaCtxResetPersistingL2Cache() is not supported: it returns cudaErrorNotSupported; leave it out\n",
         "right", "cudaCtxResetPersistingL2Cache() is not supported: it returns cudaErrorNotSupported; leave it out", ""),
        (0, "Average time 3 us\n", "", "ran without a check", "", ""),
        (0, "FAIL\n", "", "wrong", "FAIL", ""),
        (1, "Test FAILED!\nPASS\n", "", "wrong", "Test FAILED!", ""),
        (1, "start\nend\n", "", "wrong", "exit code 1: end", ""),
        (2, "The sample requires SM 9.0\nwaived\n", "", "waived by itself", "The sample requires SM 9.0", ""),
        (-11, "PASS\n", "", "crashed", "SIGSEGV", ""),
        (139, "", "", "crashed", "SIGSEGV", ""),
        (255, "start\n", "", "wrong", "exit code 255: start", ""),
        (None, "", "", "too slow", "", ""),
        (1, "Error opening file graph.txt\n", "", "input missing", "Error opening file graph.txt", ""),
        (0, "The file pairs.txt does not exist\n", "", "input missing", "The file pairs.txt does not exist", ""),
        (1, "", REJECTED, "rejected", "wgmma.fence.sync.aligned: unsupported instruction", ""),
        (0, "", REJECTED, "rejected", "wgmma.fence.sync.aligned: unsupported instruction", ""),
        (-6, "terminate called\n", REJECTED, "rejected", "wgmma.fence.sync.aligned: unsupported instruction", ""),
        (1, "FAIL\n", "kernkit: k cannot run: tex.2d.v4.f32.f32 (a.h:9 (inlined at b.cu:3)): unsupported\n", "rejected",
         "tex.2d.v4.f32.f32: unsupported", "textures"),
        (3, "", "kernkit: /tmp/a/main cannot run without a GPU: it has machine code only (sm_80): compile it with PTX\n", "rejected",
         "cannot run without a GPU: it has machine code only (sm_80)", ""),
        (1, "CUDA error 801 (cudaErrorNotSupported) at main.cu:3\n", "", "rejected", "CUDA error 801 (cudaErrorNotSupported) at main.cu:3", ""),
        (0, "Device assert failed as expected\n", "kernkit: k: block [1, 0, 0], thread [28, 0, 0]: assert(i < n) failed, a.cu:3\n",
         "right", "", ""),
        (1, "", "kernkit: k: block [1, 0, 0], thread [28, 0, 0]: assert(i < n) failed, a.cu:3\n", "fault reported",
         "k: block [1, 0, 0], thread [28, 0, 0]: assert(i < n) failed, a.cu:3", ""),
        (1, "CUBLAS error\n", LIBRARY, "rejected", "libcublas.so.13", "closed library"),
        (0, "PASS\n", LIBRARY, "right", "", ""),
        (0, "first value 0.5\n", LIBRARY, "rejected", "libcublas.so.13", "closed library"),
        (1, "PASS\n", "kernkit: k: block [0, 0, 0], thread [40, 0, 0]: Invalid __global__ write of size 4 bytes (a.cu:1)\n", "fault reported",
         "k: block [0, 0, 0], thread [40, 0, 0]: Invalid __global__ write of size 4 bytes (a.cu:1)", ""),
    ],
)  # fmt: skip
def test_the_outcome_of_a_run(code, output, errors, kind, reason, beyond):
    import outcomes

    outcome = outcomes.classify(outcomes.Run(code, output, errors))
    assert (outcome.kind.value, outcome.reason, outcome.beyond) == (kind, reason, beyond)


@pytest.mark.parametrize("log, reason, beyond", [
    ("-- Configuring done\nOpenGL not found - will not build sample 'nbody'\n", "OpenGL not found - will not build sample 'nbody'", "graphics"),
    ("main.cu:3:10: fatal error: npp.h: No such file\nmake: *** Error 1\n", "main.cu:3:10: fatal error: npp.h: No such file", ""),
    ("make: Entering directory 'a'\nmake: *** No rule to make target 'main.o', needed by 'main'.  Stop.\n",
     "make: *** No rule to make target 'main.o', needed by 'main'.  Stop.", ""),
    ("", "no program", ""),
])  # fmt: skip
def test_the_reason_why_a_program_was_not_built(log, reason, beyond):
    import outcomes

    assert outcomes.not_built(log) == outcomes.Outcome(outcomes.Kind.NOT_BUILT, reason, beyond)


def test_the_options_of_nvcc_are_replaced():
    import nvcc

    assert nvcc.with_ptx(["-O3", "-c", "a.cu"], "80") == ["-O3", "-c", "a.cu"]
    words = ["-arch=sm_60", "-O3", "-gencode", "arch=compute_75,code=sm_75", "--generate-code=arch=compute_90,code=[sm_90]", "a.cu"]
    assert nvcc.with_ptx(words, "80") == ["-arch=compute_80", "-O3", "a.cu"]
    assert nvcc.with_ptx(["-arch", "native", "-rdc=true"], "90") == ["-arch=compute_90", "-rdc=true"]


def test_arguments_are_shortened(tmp_path):
    import suites

    def attempts(*words):
        return [command.words[1:] for command in suites.shortened(suites.Command(["/a/main", *words], tmp_path))]

    assert attempts("1024", "16", "1000") == [["1024", "16", "2"], ["64", "16", "2"]]
    assert attempts("16", "1") == []
    assert attempts("-n", "file") == []


PROGRAMS = {"good": "echo PASS", "silent": "echo $1", "bad": "echo FAIL", "crash": "kill -SEGV $$", "unread": "kill -SEGV $$",
            "long": "while [ $SECONDS -lt $2 ]; do :; done",
            "rejected": "echo 'kernkit: cudaMallocArray() is not supported: it returns cudaErrorNotSupported' >&2; exit 1"}  # fmt: skip
MAKEFILE = """main: main.sh
\tcp main.sh main && chmod +x main
run: main
\t$(LAUNCHER) ./main 512 100
"""


def tool(root, *words):
    done = subprocess.run([sys.executable, "-B", root / "bench/public_suites", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def benchmarks(tmp_path):
    """Returns a folder with the structure of a checkout of HeCBench."""
    folder = tmp_path / "benchmarks"
    for name, script in PROGRAMS.items():
        place = folder / f"src/{name}-cuda"
        place.mkdir(parents=True)
        (place / "main.sh").write_text(f"#!/bin/bash\n{script}\n")
        (place / "Makefile").write_text(MAKEFILE)
    (folder / "src/unread-cuda/data.tar.gz.dvc").touch()
    (folder / "src/broken-cuda").mkdir()
    (folder / "src/broken-cuda/Makefile").write_text("main:\n\t@echo 'main.cu:1: error: unknown'; exit 1\n")
    return folder


def test_programs_with_a_makefile_are_built_and_run(root, tmp_path, benchmarks):
    output = tmp_path / "results"
    code, printed = tool(root, benchmarks, "--output", output, "--launcher", "env", "--limit", "1")
    assert code == 0, printed
    rows = json.loads((output / "results.json").read_text())["results"]
    found = {row["program"]: (row["outcome"], row["reason"], row["beyond"]) for row in rows}
    assert found == {
        "good-cuda": ("right", "", ""), "silent-cuda": ("ran without a check", "", ""), "bad-cuda": ("wrong", "FAIL", ""),
        "crash-cuda": ("crashed", "SIGSEGV", ""), "long-cuda": ("too slow", "", ""),
        "unread-cuda": ("input missing", "data.tar.gz does not exist", ""),
        "broken-cuda": ("not built", "main.cu:1: error: unknown", ""),
        "rejected-cuda": ("rejected", "cudaMallocArray() is not supported", "textures"),
    }  # fmt: skip
    page = (output / "results.md").read_text()
    titles = ("suite | programs | right | ran without a check | rejected | fault reported | wrong | crashed | too slow | "
              "closed library, graphics, textures | not built, input missing, waived")  # fmt: skip
    assert f"| {titles} |\n" in page and "| benchmarks | 8 | 1 | 1 | 0 | 0 | 1 | 1 | 1 | 1 | 2 |\n" in page
    assert "2 of 4 programs are right or ran" in page and "| rejected | textures | rejected-cuda |" in page
    assert (output / "logs/bad-cuda.run.txt").read_text().endswith("FAIL\n\n")


def test_a_program_runs_with_fewer_repetitions_after_the_limit_and_only_once(root, tmp_path, benchmarks):
    output = tmp_path / "results"
    words = [benchmarks, "--output", output, "--launcher", "env", "--limit", "3", "--programs", "long-cuda", "--shorten"]
    assert tool(root, *words, "at once")[0] == 0
    row = json.loads((output / "results.json").read_text())["results"][0]
    assert (row["outcome"], row["arguments"]) == ("ran without a check", ["512", "2"])
    assert tool(root, *words, "at once")[1] == ""  # the program has a recorded result and does not run again
    words[2] = tmp_path / "most"
    assert tool(root, *words, "most")[0] == 0
    assert json.loads((words[2] / "results.json").read_text())["results"][0]["arguments"] == ["32", "2"]


@pytest.mark.parametrize("line, folder, words", [
    ("./main 512 > log", ".", ["512"]),
    ("cd data &&  ../main in.txt && cd ..", "data", ["in.txt"]),
    ("cd data && SIZE=1 ../main 4; rm out", "data", ["4"]),
])  # fmt: skip
def test_the_command_of_a_makefile(tmp_path, line, folder, words):
    import suites

    place = tmp_path / "src/a-cuda"
    (place / "data").mkdir(parents=True)
    (place / "Makefile").write_text(f"main:\n\ttouch main\nrun: main\n\techo start\n\t{line}\n")
    suite = suites.HeCBench(tmp_path, tmp_path, "80")
    assert suite.commands("a-cuda") == []
    (place / "main").touch()
    assert suite.commands("a-cuda") == [suites.Command([str(place / "main"), *words], place / folder)]


def test_programs_are_selected_by_a_seed(root, tmp_path, benchmarks):
    def names(*words):
        code, printed = tool(root, benchmarks, "--output", tmp_path / "_".join(words), "--launcher", "env", "--limit", "1", *words)
        assert code == 0, printed
        return [line.partition(":")[0] for line in printed.splitlines()]

    some = names("--count", "3", "--seed", "5", "--without", "long-cuda")
    assert len(some) == 3 and "long-cuda" not in some
    assert some == names("--seed", "5", "--count", "3", "--without", "long-cuda")


def test_cmake_projects_are_built_and_run_with_the_suites_arguments(root, tmp_path, monkeypatch):
    if shutil.which("cmake", path="/usr/bin:/bin") is None:
        pytest.skip("cmake is not installed in /usr/bin")
    folder = tmp_path / "samples"
    sample = folder / "Samples/0_Introduction/good"
    sample.mkdir(parents=True)
    (sample / "good.sh").write_text('#!/bin/sh\ntest "$1" = -qatest && echo "Result = PASS"\n')
    (sample / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(good NONE)\nadd_custom_target(all_of_it ALL COMMAND cp\n"
        "  ${CMAKE_CURRENT_SOURCE_DIR}/good.sh ${CMAKE_CURRENT_BINARY_DIR}/good COMMAND chmod +x good)\n")  # fmt: skip
    (folder / "test_args.json").write_text(json.dumps({"good": {"runs": [{"args": ["-qatest"]}, {"args": []}]}}))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # hides nvcc, which CMake would examine
    code, printed = tool(root, folder, "--output", tmp_path / "results", "--launcher", "env")
    assert code == 0 and printed.startswith("0_Introduction/good: right ("), printed


def test_other_folders_and_unknown_programs_are_rejected(root, tmp_path, benchmarks):
    (tmp_path / "empty").mkdir()
    code, printed = tool(root, tmp_path / "empty", "--output", tmp_path / "results")
    assert code == 2 and "empty is not a checkout of NVIDIA/cuda-samples or zjin-lcf/HeCBench" in printed
    code, printed = tool(root, benchmarks, "--output", tmp_path / "results", "--programs", "good-cuda,none")
    assert (code, printed) == (2, "public_suites: unknown programs: none\n")


@pytest.mark.parametrize("suite, most", [("cuda-samples", 80), ("HeCBench", 60)])
def test_the_page_has_the_counts_of_the_record(root, suite, most):
    import report
    from outcomes import Kind

    file = root / f"bench/results/public_suites/{suite}.json"
    context, results = report.read_context(file), report.read_json(file)
    page = (root / "docs/limits.md").read_text()
    judged = report.judged(results)
    good = [result for result in judged if result.outcome.kind in (Kind.RIGHT, Kind.RAN)]
    names = {result.program for result in results}
    assert context.suite == suite and most // 2 < len(names) == len(results) <= most
    assert report.row(context, results) in page and f"{len(good)} of {len(judged)}" in page
    assert 10 * len(good) >= 9 * len(judged)
    assert [result.program for result in judged if result.outcome.kind in (Kind.WRONG, Kind.CRASHED)] == []


def test_the_page_has_the_findings_of_the_record(root):
    record = json.loads((root / "bench/results/public_suites/sanitized.json").read_text())
    found = {name.rpartition("/")[2]: row for name, row in record.items() if row["findings"]}
    page = (root / "docs/limits.md").read_text()
    assert len(record) >= 60 and {name: row["findings"] for name, row in found.items()} == {
        "newdelete": 2, "remap-cuda": 4, "simpleAssert_nvrtc": 1}  # fmt: skip
    assert f"findings in {len(found)} of {len(record)} programs" in page and all(f"`{name}`" in page for name in found)


def test_each_finding_has_a_verdict(root):
    record = json.loads((root / "bench/results/public_suites/sanitized.json").read_text())
    for name, row in record.items():
        verdicts = row.get("verdicts", [])
        tools = dict(part.split(": ") for part in row["tools"].split(", "))
        assert collections.Counter(verdict["tool"] for verdict in verdicts) == {tool: int(n) for tool, n in tools.items() if n != "0"}, name
        assert row["code"] == (1 if verdicts else 0), name
        assert all(verdict["verdict"] == "confirmed" and verdict["finding"] and verdict["reason"] for verdict in verdicts), name
