# SPDX-License-Identifier: Apache-2.0
"""Runs git in the repository of a folder, without the environment variables of the caller that name another
repository."""

import os
import pathlib
import subprocess
from typing import Dict, List, Optional

from .. import programs
from ..errors import UserError
from . import files

# Environment variables that git sets for a hook or for `git rebase --exec`. The variables name the repository of the
# hook or of the rebase.
_OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
               "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE",
               "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX")  # fmt: skip
# {file of a repository: the operation in progress while the file exists}.
_IN_PROGRESS = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert",
                "rebase-merge": "rebase", "rebase-apply": "rebase"}  # fmt: skip

_TIMEOUT = 600  # time limit of a run of git [s]; git waits without end if a file of the repository is a pipe

Completed = subprocess.CompletedProcess  # result of a run of git, whose output is text


def attempt(folder: pathlib.Path, *arguments: str, typed: str = "", **environment: str) -> "Completed[str]":
    """Runs git with the text `typed` on standard input. Returns the result of the run; the caller must check the exit
    code. Raises UserError if git cannot be started, or does not end within _TIMEOUT."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    try:
        return programs.run(
            ["git", *arguments], cwd=folder, capture_output=True, input=typed,
            encoding="utf-8", errors="surrogateescape", env={**inherited, **environment},
            timeout=_TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(f"git {arguments[0]} did not end within {_TIMEOUT} s; check for a hook that waits") from None


def output(folder: pathlib.Path, *arguments: str, typed: str = "", **environment: str) -> str:
    """Returns the standard output of git, without the last line break. Raises UserError, with the error message of git,
    if git fails."""
    result = attempt(folder, *arguments, typed=typed, **environment)
    if result.returncode != 0:
        raise UserError(f"git {arguments[0]} failed: {message(result)}")
    return result.stdout.rstrip("\n")


def message(result: "Completed[str]") -> str:
    """Returns the error message that git printed, or a text with the exit code if git printed none."""
    return (result.stderr.strip() or result.stdout.strip()) or f"exit code {result.returncode}, without a message"


def described(folder: pathlib.Path) -> str:
    """Returns the hash of the commit that is checked out in a folder, followed by "+" if files differ from the commit.
    Returns "unknown" if there is no commit."""
    try:
        return output(folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+") or "unknown"
    except UserError:
        return "unknown"


class Repository:
    """The git repository of a library. The top of the repository can be a folder above the library."""

    def __init__(self, library: pathlib.Path) -> None:
        """Raises UserError if git finds no repository, or a repository whose worktree does not contain the library."""
        self.library = library
        if files.kind(library / ".git") == files.FOLDER:
            # These paths must be regular files, because git would wait for the content of a pipe.
            for name in ("HEAD", "config", "index", "packed-refs"):
                files.at(library, f".git/{name}", files.FILE)
            # These paths must be folders, because git would follow a link and write to its target.
            for name in ("objects", "objects/pack", "refs", "refs/heads", "logs"):
                files.at(library, f".git/{name}", files.FOLDER)
        self.top = pathlib.Path(self.git("rev-parse", "--show-toplevel"))
        self.prefix = self.git("rev-parse", "--show-prefix").rstrip("/")
        if os.path.realpath(self.top / self.prefix) != str(library):
            raise UserError(f"git uses {self.top} as the worktree of this repository, not {library}; "
                            "run: git config --unset core.worktree")  # fmt: skip
        if self.prefix and os.path.lexists(library / ".git"):
            raise UserError(f"{library / '.git'} is damaged: git does not recognise it as a repository and uses "
                            f"the repository of {self.top} instead; restore the folder, or clone the repository again")  # fmt: skip

        if not self.is_named_by_repository():
            raise UserError(f"{self.top / '.git'} refers to the repository {self.git('rev-parse', '--absolute-git-dir')}, "
                            f"which does not list {self.top} as its worktree; if the folder is a worktree of the repository, run: "
                            f"git worktree repair (linked worktree), or git config core.worktree {self.top} (submodule)")  # fmt: skip

    def is_named_by_repository(self) -> bool:
        """Returns whether the repository belongs to the folder: the repository is the folder .git, or the settings of
        the repository name the folder as a linked worktree or as the worktree of a submodule. A file .git from an
        archive could name any repository."""
        repository = self.top / ".git"
        if files.kind(repository) == files.FOLDER:
            return True
        folder = pathlib.Path(self.git("rev-parse", "--absolute-git-dir"))
        note = folder / "gitdir"  # file that git writes for a linked worktree
        if files.kind(note) == files.FILE:
            named = note.read_text(errors="replace").rstrip("\n")
            return os.path.realpath(os.path.join(folder, named)) == str(repository)
        named = self.attempt("config", "--get", "core.worktree").stdout.rstrip("\n")
        return bool(named) and os.path.realpath(os.path.join(folder, named)) == os.path.realpath(self.top)

    def attempt(self, *arguments: str, typed: str = "", **environment: str) -> "Completed[str]":
        return attempt(self.library, *arguments, typed=typed, **environment)

    def git(self, *arguments: str, typed: str = "", **environment: str) -> str:
        return output(self.library, *arguments, typed=typed, **environment)

    def head(self) -> Optional[str]:
        """Returns the hash of the commit that is checked out, or None before the first commit. Raises UserError if git
        fails."""
        result = self.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if result.returncode not in (0, 1):
            raise UserError(f"git rev-parse failed: {message(result)}")
        return result.stdout.strip() or None

    def in_progress(self) -> str:
        """Returns the operation in progress, such as "merge", or "" if no operation is in progress."""
        options = [option for name in _IN_PROGRESS for option in ("--git-path", name)]
        paths = self.git("rev-parse", *options).split("\n")
        operations = [operation for operation, path in zip(_IN_PROGRESS.values(), paths) if os.path.lexists(self.library / path)]
        return operations[0] if operations else ""

    def changed(self) -> str:
        """Returns the differences from HEAD, as `git status --porcelain` lists them, without untracked files; ""
        without differences."""
        return self.git("status", "--porcelain", "--untracked-files=no")

    def uncommitted(self, paths: List[str], present: List[str]) -> List[str]:
        """Returns the paths in `present` whose content differs from HEAD: changed, new or ignored files, also files
        that git assumes unchanged. `present`: the files below `paths`. All paths are relative to the library."""
        inside = f"{self.prefix}/" if self.prefix else ""
        indexed: Dict[str, str] = {}
        for entry in filter(None, self.git("ls-tree", "-r", "-z", "HEAD", "--", *paths).split("\0")):
            about, _, path = entry.partition("\t")
            indexed[path] = about.split(" ")[2]
        regular = [path for path in present if not os.path.islink(self.library / path) and "\n" not in path
                   and os.path.isfile(self.library / path)]  # fmt: skip
        typed = "".join(f"{inside}{path}\n" for path in regular)
        present_hashes = dict(zip(regular, output(self.top, "hash-object", "--stdin-paths", typed=typed).split("\n")))
        for path in present:
            if os.path.islink(self.library / path):
                present_hashes[path] = self.git("hash-object", "--stdin", "--no-filters", typed=os.readlink(self.library / path))
        return [path for path in present if path not in indexed or indexed[path] != present_hashes.get(path)]
