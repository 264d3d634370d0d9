# SPDX-License-Identifier: Apache-2.0
"""For planted faults in kernels of Triton, Numba and CuPy, and in programs of PyTorch, the tools report the line of the
Python file. Without the faults, no tool reports anything."""

import json
import re

import pytest

pytestmark = pytest.mark.all

# {client: {fault: the tools that report the fault}}. A fault in STOPPING ends its kernel with an error, so each of
# these faults runs in a process of its own; the faults of a client in RUNNING share a process.
STOPPING = {
    "triton": {"store_out_of_bounds": {"memcheck"}, "load_out_of_bounds": {"memcheck"}},
    "numba": {"read_out_of_bounds": {"memcheck"}, "freed_memory": {"memcheck"}, "wrong_mask": {"synccheck"}},
    "cupy": {"store_out_of_bounds": {"memcheck"}, "misaligned_read": {"memcheck"}},
    "torch": {"store_past_the_end": {"memcheck"}},
}
RUNNING = {
    "triton": {"race_of_programs": {"racecheck"}, "uninitialised_memory": {"initcheck"}},
    "numba": {"missing_barrier": {"racecheck", "initcheck"}, "uninitialised_shared_memory": {"initcheck"}},
    "cupy": {"race_of_blocks": {"racecheck"}, "uninitialised_memory": {"initcheck"}},
    "torch": dict.fromkeys(("operator_does_not_wait", "kernel_does_not_wait", "stream_does_not_wait_back",
                            "event_is_recorded_too_early", "tensor_is_freed_early"), {"racecheck"}),
}
# Mistakes that give wrong results only if streams run in certain orders.
BY_ORDER = [*RUNNING["torch"], "pinned_memory_is_reused", "pinned_memory_is_read_early"]
PAGES = ["docs/triton-cupy-numba.md", "docs/pytorch-without-a-gpu.md"]
RUNS = [*((client, {name: tools}) for client, faults in STOPPING.items() for name, tools in faults.items()), *RUNNING.items()]


@pytest.fixture
def findings(run_client, tmp_path):
    """Returns findings(client, "fault" or "correct", names), which runs the kernels and returns the process and its
    findings as (tool, sentence)."""

    def run(client, mode, names):
        report = tmp_path / "report.json"
        result = run_client(["sanitize", "--json", report], client, f"{client}_faults.py", mode, *names)
        findings_of_run = json.loads(report.read_text())["findings"] if report.exists() else []
        return result, [(finding["tool"], finding["sentence"]) for finding in findings_of_run]

    return run


def place_of(root, client, name):
    """Returns the file and line of the code marked with the fault's name, such as "(numba_faults.py:12)"."""
    lines = (root / f"tests/clients/{client}_faults.py").read_text().splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if re.search(rf"FAULT {name}$", text)]
    return f"({client}_faults.py:{line})"


def quoted_reports(root):
    """Returns the tools' reports that the pages quote, as regular expressions; … matches any text."""
    text = "".join((root / page).read_text() for page in PAGES)
    lines = re.findall(r"^(?:memcheck|racecheck|initcheck|synccheck): .*", text, re.MULTILINE)
    return [re.escape(line).replace("…", ".*") for line in lines]


@pytest.mark.parametrize("client, faults", RUNS, ids=[f"{client}-{'-'.join(faults)}" for client, faults in RUNS])
def test_faults_are_reported_with_the_line(root, findings, client, faults):
    result, findings_of_run = findings(client, "fault", faults)
    assert result.returncode != 0, result.stdout + result.stderr
    locations = {name: place_of(root, client, name) for name in faults}
    reported = {name: {tool for tool, sentence in findings_of_run if location in sentence} for name, location in locations.items()}
    assert reported == faults, result.stderr
    assert [pair for pair in findings_of_run if not any(location in pair[1] for location in locations.values())] == []
    reports = [f"{tool}: {sentence}" for tool, sentence in findings_of_run]
    for pattern in quoted_reports(root):
        if any(re.escape(location) in pattern for location in locations.values()):
            assert any(re.fullmatch(pattern, report) for report in reports), reports


def test_quoted_reports_are_of_planted_faults(root):
    locations = {re.escape(place_of(root, client, name)) for client, faults in RUNS for name in faults}
    patterns = quoted_reports(root)
    assert len(patterns) == 4 and all(any(location in pattern for location in locations) for pattern in patterns)


@pytest.mark.parametrize("client", STOPPING)
def test_without_faults_all_tools_are_silent(findings, client):
    result, findings_of_run = findings(client, "correct", [*STOPPING[client], *RUNNING[client]])
    assert (result.returncode, findings_of_run, result.stdout) == (0, [], ""), result.stderr


def test_mistakes_with_streams_are_wrong_by_a_seed(run_client):
    """With seed 3, each mistake gives wrong results in at least one of 20 calls, and the 20 calls without the mistake
    give right results."""
    result = run_client(["run", "--seed", "3"], "torch", "torch_faults.py", "repeat", *BY_ORDER)
    wrong = {(name, mode): int(count) for name, mode, count in map(str.split, result.stdout.splitlines())}
    assert wrong.keys() == {(name, mode) for name in BY_ORDER for mode in ("fault", "correct")}, result.stderr
    assert [name for name in BY_ORDER if wrong[name, "fault"] == 0 or wrong[name, "correct"] != 0] == [], wrong
