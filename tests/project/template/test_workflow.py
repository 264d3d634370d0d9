# SPDX-License-Identifier: Apache-2.0
"""The workflow of a library has minimal permissions, and its steps are commands of ./kk that tests run."""

import os
import re
import sys

import pytest
import yaml
from rendering import check, render, run

USES = re.compile(r"^\s*- uses: (\S+)(.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
# Steps that no test runs, because they need containers.
UNRUN = {"./kk wheels"}


@pytest.fixture(scope="module")
def text(default_library):
    return (default_library / ".github/workflows/ci.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def jobs(text):
    return yaml.safe_load(text)["jobs"]


def unpinned(text):
    return [use for use, comment in USES.findall(text)
            if not PINNED.fullmatch(use) or not re.fullmatch(r" # v\d+\.\d+\.\d+", comment)]  # fmt: skip


def test_actions_are_pinned_by_their_commit(text):
    assert len(USES.findall(text)) == 5 and unpinned(text) == []
    assert unpinned(text.replace("3d3c42e5aac5ba805825da76410c181273ba90b1 #", "v7 #")) == ["actions/checkout@v7"]


def test_only_publishing_may_do_more_than_read(text, jobs):
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    granted = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert granted == {"publish": {"id-token": "write"}}
    publish = jobs["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')" and publish["needs"] == "build"
    assert "run" not in "".join(key for step in publish["steps"] for key in step)  # the job with the token runs no code of the library
    (checkout,) = (step for step in jobs["build"]["steps"] if "checkout" in step.get("uses", ""))
    assert checkout["with"] == {"persist-credentials": False}
    assert "secrets." not in text


def test_both_architectures_are_built(jobs):
    assert jobs["build"]["strategy"]["matrix"]["runner"] == ["ubuntu-24.04", "ubuntu-24.04-arm"]
    assert jobs["build"]["runs-on"] == "${{ matrix.runner }}"


def steps_of(jobs):
    return [step["run"] for step in jobs["build"]["steps"] if "run" in step]


def test_each_step_is_a_command(jobs, default_library):
    steps = steps_of(jobs)
    assert steps == ["./kk test --all", "./kk doctor", "./kk wheel", "./kk wheels"]
    usage = check("./kk", "--help", cwd=default_library)
    for step in steps:
        assert re.search(rf"^  {step.split()[1]} ", usage, re.MULTILINE), step


@pytest.mark.slow
def test_the_steps_run(jobs, template, environment, driver_environment, tmp_path):
    """All steps of the workflow succeed, except for the step that needs containers, which is not run."""
    assert render(template, tmp_path, environment, library_name="stepped").returncode == 0
    for step in (step for step in steps_of(jobs) if step not in UNRUN):
        check(*step.split(), cwd=tmp_path / "stepped", env=driver_environment)
    assert {path.suffix for path in (tmp_path / "stepped/dist").iterdir()} == {".whl", ".gz"}


def test_wheels_without_containers_is_a_sentence(default_library, tmp_path):
    """`./kk wheels` without docker or podman is an error, reported before anything is installed or removed from
    dist/."""
    env = {"PYTHONPATH": str(default_library / "third_party/kernkit/python"), "KK_ROOT": str(default_library),
           "KK_LIBRARY": default_library.name, "PATH": str(tmp_path)}  # fmt: skip
    result = run(sys.executable, "-B", "-m", "kernkit.driver", "wheels", env=env)
    message = "kk: wheels needs docker or podman, because cibuildwheel builds in containers; install docker or podman\n"
    assert (result.returncode, result.stdout) == (1, message)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_a_release_has_one_wheel_for_each_architecture(default_library, tmp_path, architecture):
    driver = default_library / "third_party/kernkit_dev/python/kernkit/driver/wheel.py"
    (expected,) = re.findall('^CIBUILDWHEEL = "(.*)"$', driver.read_text(), re.MULTILINE)
    check(sys.executable, "-m", "pip", "install", "--quiet", "--target", tmp_path, expected)
    printed = check(sys.executable, "-m", "cibuildwheel", "--platform", "linux", "--archs", architecture,
                    "--print-build-identifiers", default_library, env={**os.environ, "PYTHONPATH": str(tmp_path)})  # fmt: skip
    assert printed.split() == [f"cp312-manylinux_{architecture}"]
