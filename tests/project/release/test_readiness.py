# SPDX-License-Identifier: Apache-2.0
"""./kk release --check reports each requirement of a release that is not met. Each test plants one unmet
requirement."""

import os
import subprocess
import sys

import pytest
from kernkit.release import readiness
from release_files import ADDRESSES, addresses_file, commit, git

VERSION = "\n".join(f"#define KERNKIT_VERSION_{part} {number}" for part, number in zip(("MAJOR", "MINOR", "PATCH"), (1, 2, 3)))
CITATION = f"""cff-version: 1.2.0
version: 1.2.3
date-released: 2030-01-31
repository-code: {ADDRESSES["source_url"]}
url: {ADDRESSES["site_url"]}
"""
FILES = {
    "sdk/include/kernkit/base/version.h": VERSION,
    "addresses.toml": addresses_file(),
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2030-01-31)\n\n- new\n\n## 1.2.2 (2029-01-31)\n",
    "CITATION.cff": CITATION,
}


@pytest.fixture
def repository(tmp_path):
    """Returns commit_files(changes), which commits and tags FILES after the changes {path: (a text of the file, its
    replacement)}."""

    def commit_files(changes=(), tag="v1.2.3"):
        for path, text in FILES.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text.replace(*dict(changes).get(path, ("", ""))))
        commit(tmp_path)
        if tag:
            git(tmp_path, "tag", tag)
        return tmp_path

    return commit_files


def test_a_complete_commit_may_be_released(repository):
    assert readiness.problems(repository()) == []


@pytest.mark.parametrize(
    "path, text, replacement, message",
    [
        ("addresses.toml", "https://docs.example.org/kernkit", "unset",
         'addresses.toml: site_url is "unset"; enter a web address that begins with https:// and has no slash at the end'),
        ("CHANGELOG.md", "(2030-01-31)", "(unreleased)",
         'CHANGELOG.md: version 1.2.3 has "unreleased" for a date; enter the date as YYYY-MM-DD'),
        ("CHANGELOG.md", "(2030-01-31)", "(2030-02-31)",
         'CHANGELOG.md: version 1.2.3 has "2030-02-31" for a date; enter the date as YYYY-MM-DD'),
        ("CHANGELOG.md", "1.2.3 (2030-01-31)", "1.2.4 (2030-01-31)",
         'CHANGELOG.md: found "## 1.2.4 (2030-01-31)" as the first version; enter "## 1.2.3 (YYYY-MM-DD)"'),
        ("CHANGELOG.md", "## 1", "1", 'CHANGELOG.md: found no heading as the first version; enter "## 1.2.3 (YYYY-MM-DD)"'),
        ("CITATION.cff", "version: 1.2.3", "version: 1.2.2", 'CITATION.cff: version: found 1.2.2; enter "version: 1.2.3"'),
        ("CITATION.cff", "date-released: 2030-01-31\n", "",
         'CITATION.cff: date-released: found nothing; enter "date-released: 2030-01-31"'),
        ("CITATION.cff", "repository-code: https", "repository-code: http",
         'CITATION.cff: repository-code: found http://example.org/kernels/kernkit; enter "repository-code: '
         'https://example.org/kernels/kernkit"'),
    ],
)  # fmt: skip
def test_a_missing_value_is_listed(repository, path, text, replacement, message):
    assert text in FILES[path]
    problems = readiness.problems(repository({path: (text, replacement)}))
    assert message in problems and all(problem.startswith((path, "CITATION.cff")) for problem in problems)


@pytest.mark.parametrize(
    "tag, message",
    [("", "git: the last commit has no tag; run git tag v1.2.3"), ("v1.2.2", "git: the last commit has the tags v1.2.2; run git tag v1.2.3")],
)  # fmt: skip
def test_a_missing_tag_is_listed(repository, tag, message):
    assert readiness.problems(repository(tag=tag)) == [message]


def test_uncommitted_changes_are_listed(repository):
    folder = repository()
    (folder / "new").touch()
    assert readiness.problems(folder) == [
        "git: found uncommitted changes; commit the changes, because archives are built from the last commit"
    ]


def kk(root, folder, *arguments):
    """Runs the driver of the repository's ./kk for the project in `folder`, without the preparations of the script
    ./kk."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "KK_"))}
    settings = {"KK_ROOT": str(folder), "KK_DRIVER": "repository", "PYTHONPATH": str(root / "sdk/python")}
    command = [sys.executable, "-B", "-m", "kernkit.driver", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**inherited, **settings})


def test_the_command_lists_unset_addresses_and_fails(root, repository):
    folder = repository({"addresses.toml": ("Ann Example <ann@example.org>; Bo Example", "unset")})
    result = kk(root, folder, "release", "--check")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        'kk: this commit cannot be released:\n  addresses.toml: authors is "unset"; enter authors as "Name" or '
        '"Name <mail@address>", separated by "; "\n'
    )
    without_check = kk(root, folder, "release")
    assert (without_check.returncode, without_check.stderr) == (1, result.stderr) and not (folder / "dist").exists()


def test_the_command_accepts_a_complete_commit(root, repository):
    result = kk(root, repository(), "release", "--check")
    assert (result.returncode, result.stdout, result.stderr) == (0, "version 1.2.3 may be released\n", "")


def test_a_check_prepares_nothing(root):
    assert "prepares=nothing\n" in kk(root, root, "--plan", "release", "--check").stdout
    assert "prepares=python\n" in kk(root, root, "--plan", "release").stdout
    assert "prepares=all\n" in kk(root, root, "--plan", "release", "--simulator").stdout  # needs a compiler
    result = kk(root, root, "test", "--check")
    assert result.stderr == "kk: --check belongs to release: ./kk release --check\n"


def test_the_repository_cites_its_version(root):
    """CITATION.cff has the repository's version."""
    assert [problem for problem in readiness.problems(root) if problem.startswith("CITATION.cff: version")] == []
