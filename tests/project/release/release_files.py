# SPDX-License-Identifier: Apache-2.0
"""Addresses and small git repositories for tests of releases."""

import os
import subprocess

ADDRESSES = {
    "source_url": "https://example.org/kernels/kernkit",
    "site_url": "https://docs.example.org/kernkit",
    "package_url": "https://index.example.org/project/kernkit",
    "authors": "Ann Example <ann@example.org>; Bo Example",
    "security_contact": "security@example.org",
    "conduct_contact": "https://example.org/conduct",
}


def addresses_file(**values):
    """Returns the content of addresses.toml in which these values replace values of ADDRESSES."""
    return "".join(f'{key} = "{value}"\n' for key, value in {**ADDRESSES, **values}.items())


def git(folder, *arguments):
    """Runs git in a folder, with a committer, and returns the output."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=inherited).stdout


def commit(folder, message="a change"):
    """Commits all files of a folder, in which git creates a repository if there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
