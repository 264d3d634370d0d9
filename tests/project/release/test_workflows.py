# SPDX-License-Identifier: Apache-2.0
"""The files of .github/: pinned actions, permissions, steps that are commands of ./kk, and offline validators."""

import pathlib
import re
import shutil
import subprocess

import pytest
import rendering
import yaml
from kernkit.driver import repository
from kernkit.driver.options import parse

FOLDER = pathlib.Path(__file__).resolve().parents[3] / ".github"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))
USES = re.compile(r"^\s*- uses: (\S+)(.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
# {job: its permissions beyond reading the repository}.
PERMISSIONS = {"attest": {"attestations": "write", "id-token": "write"}, "publish": {"id-token": "write"},
               "deploy": {"id-token": "write", "pages": "write"}}  # fmt: skip
SCHEMAS = {
    "workflows/*.yml": "vendor.github-workflows",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
    "dependabot.yml": "vendor.dependabot",
    "../CITATION.cff": "vendor.citation-file-format",
}

of_workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def unpinned(text):
    return [use for use, comment in USES.findall(text)
            if not PINNED.fullmatch(use) or not re.fullmatch(r" # v\d+\.\d+\.\d+", comment)]  # fmt: skip


@of_workflows
def test_actions_are_pinned_by_their_commit(path):
    text = path.read_text()
    assert len(USES.findall(text)) == text.count("uses:") >= 3 and unpinned(text) == []
    assert unpinned(re.sub(r"@[0-9a-f]{40} #", "@v4 #", text, count=1)) == ["actions/checkout@v4"]


def test_one_action_has_one_commit(template):
    """All uses of an action, also in the workflow of a library, have the same commit."""
    pins = {}
    for path in (*WORKFLOWS, rendering.source_tree(template) / ".github/workflows/ci.yml"):
        for use, comment in USES.findall(path.read_text()):
            pins.setdefault(use.partition("@")[0], set()).add((use, comment))
    assert {action: used for action, used in pins.items() if len(used) > 1} == {}


@of_workflows
def test_jobs_have_no_other_permission(path):
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    granted = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert granted == {name: PERMISSIONS[name] for name in granted}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 120
        for step in job["steps"]:
            assert "run" not in step or name not in PERMISSIONS  # a job with a token runs no code of this repository
            if "checkout" in step.get("uses", ""):
                assert step["with"] == {"persist-credentials": False}
    assert "secrets." not in path.read_text() and "pull_request_target" not in path.read_text()


def commands(path):
    return [step["run"] for job in load(path)["jobs"].values() for step in job["steps"] if "run" in step]


@of_workflows
def test_each_step_is_a_command_of_kk(path):
    for command in commands(path):
        program, *arguments = command.split(" ")
        assert program == "./kk" and parse(arguments, repository.COMMANDS), command


def test_a_release_is_checked_tested_built_attested_and_published():
    release = next(path for path in WORKFLOWS if path.stem == "release")
    assert commands(release) == ["./kk release --check", "./kk test --all --cuda", "./kk dist --simulator"]
    workflow = load(release)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 parses the key `on` as true
    jobs = workflow["jobs"]
    assert (jobs["attest"]["needs"], jobs["publish"]["needs"], jobs["publish"]["environment"]) == ("build", "attest", "pypi")


def test_tests_run_with_and_without_cuda():
    ci = next(path for path in WORKFLOWS if path.stem == "ci")
    assert {"./kk test --all --cuda", "./kk test --no-cuda", "./kk dist"} <= set(commands(ci))


def test_pages_are_built_for_every_change_and_published_from_main():
    docs = next(path for path in WORKFLOWS if path.stem == "docs")
    assert commands(docs) == ["./kk docs"]
    deploy = load(docs)["jobs"]["deploy"]
    assert deploy["needs"] == "build" and deploy["if"].startswith("github.ref == 'refs/heads/main' && ")


def test_a_report_of_a_defect_requires_kernkit_env(root):
    (field,) = [each for each in load(FOLDER / "ISSUE_TEMPLATE/bug.yml")["body"] if each.get("id") == "environment"]
    assert "kernkit env" in field["attributes"]["label"] and field["validations"] == {"required": True}
    assert (root / "sdk/python/kernkit/commands/env.py").exists()


def test_dependabot_reads_the_folder_with_the_requirements(root):
    entries = {entry["package-ecosystem"]: entry["directory"] for entry in load(FOLDER / "dependabot.yml")["updates"]}
    assert entries == {"github-actions": "/", "pip": "/tests"}
    assert list((root / "tests").glob("requirements*.txt"))


# Tests with validators that need no network.


def check_schema(tools, schema, *paths):
    return subprocess.run([tools / "check-jsonschema", "--builtin-schema", schema, *paths], capture_output=True, text=True)


@pytest.mark.all
@pytest.mark.parametrize("pattern", SCHEMAS)
def test_files_match_their_schema(workflow_tools, pattern):
    paths = list(FOLDER.glob(pattern)) or [FOLDER / pattern]
    result = check_schema(workflow_tools, SCHEMAS[pattern], *paths)
    assert result.returncode == 0, result.stdout


@pytest.mark.all
def test_a_wrong_form_is_found(workflow_tools, tmp_path):
    (tmp_path / "bug.yml").write_text((FOLDER / "ISSUE_TEMPLATE/bug.yml").read_text().replace("type: dropdown", "type: menu"))
    result = check_schema(workflow_tools, "vendor.github-issue-forms", tmp_path / "bug.yml")
    assert result.returncode == 1 and "menu" in result.stdout


def zizmor(tools, folder):
    """Runs zizmor on a folder. The exit code is 0 if there is no finding."""
    arguments = ["--offline", "--no-progress", "--persona=pedantic", folder]
    return subprocess.run([tools / "zizmor", *arguments], capture_output=True, text=True)


@pytest.mark.all
def test_zizmor_has_no_finding(workflow_tools):
    result = zizmor(workflow_tools, FOLDER)
    assert result.returncode == 0, result.stdout


@pytest.mark.all
@pytest.mark.parametrize(
    "text, replacement, finding",
    [
        ("actions/attest@59d89421af93a897026c735860bf21b6eb4f7b26 #", "actions/attest@v4 #", "unpinned-uses"),
        ("- run: ./kk dist", "- run: echo ${{ github.event.head_commit.message }}", "template-injection"),
        ("permissions:\n  contents: read", "permissions: write-all", "excessive-permissions"),
    ],
)
def test_a_planted_risk_is_found(workflow_tools, tmp_path, text, replacement, finding):
    copy = tmp_path / ".github"
    shutil.copytree(FOLDER, copy)
    path = copy / "workflows/release.yml"
    assert text in path.read_text()
    path.write_text(path.read_text().replace(text, replacement))
    result = zizmor(workflow_tools, copy)
    assert result.returncode != 0 and finding in result.stdout
