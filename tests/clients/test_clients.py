# SPDX-License-Identifier: Apache-2.0
"""For each client, at least twenty kernels pass their tests, which a separate pytest runs under `kernkit run`."""

import xml.etree.ElementTree as xml

import pytest

pytestmark = pytest.mark.all


@pytest.mark.parametrize("client", ["triton", "numba", "core", "cupy"])
def test_kernels_of_a_client(run_client, tmp_path, client):
    results = tmp_path / "results.xml"
    # The outer conftest.py and its settings are for other tests.
    settings = ["--noconftest", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider", "-p", "no:xdist"]
    result = run_client(["run"], client, "-m", "pytest", "-q", *settings, f"--junit-xml={results}", f"{client}_kernels.py")
    assert results.exists(), f"{client}_kernels.py did not start: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    cases = list(xml.parse(results).iter("testcase"))
    assert len(cases) >= 20
    problems = [f"{case.get('name')}: {problem.get('message')}" for case in cases
                for problem in case if problem.tag in ("failure", "error", "skipped") and problem.get("type") != "pytest.xfail"]  # fmt: skip
    reports = "\n".join(line for line in (result.stdout + result.stderr).splitlines() if line.startswith("kernkit: "))
    assert not problems, f"{len(problems)} of {len(cases)} tests failed:\n" + "\n".join(problems) + "\n" + reports
    assert result.returncode == 0
