# SPDX-License-Identifier: Apache-2.0
"""Renderings in the git repository of a library: commits with a mark in their message, and merges of such commits."""

import contextlib
import os
import pathlib
import re
import shutil
import tempfile
from typing import Dict, Iterator, Optional

from ..errors import UserError
from ..project import copies, files, git
from ..project.record import RECORD, Started, read_record
from . import kept_rendering, rendering

_MARK = "Kernkit-template"


class Repository(git.Repository):
    """The git repository of a library, which holds renderings as commits."""

    def check_clean(self) -> str:
        """Checks that an update can begin, and returns the commit that is checked out. UserError:
        the repository is another project's, or has uncommitted changes or an unfinished merge."""
        head = self.head()
        if head is None:
            raise UserError("the repository has no commit yet; run: git add -A && git commit")
        if self.attempt("ls-files", "--error-unmatch", "--", RECORD).returncode != 0:
            raise UserError(f"the repository of {self.top} does not hold {self.library / RECORD}; run in the library's "
                            "folder: git add -A && git commit")  # fmt: skip
        if self.git("rev-parse", "--is-shallow-repository") == "true":
            raise UserError("the clone is shallow, so the rendering that the library began with may "
                            "be missing; run: git fetch --unshallow")  # fmt: skip
        if operation := self.in_progress():
            raise UserError(f"a {operation} is in progress; end it first: git {operation} --continue, or git {operation} --abort")
        if changed := self.changed():
            raise UserError(f"the repository has uncommitted changes:\n{changed}\n"
                            "commit or stash the changes first")  # fmt: skip
        return head

    def tree_of(self, folder: pathlib.Path) -> str:
        """Stores all files of a folder, ignored ones included, and returns their tree."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            here = {"GIT_DIR": self.git("rev-parse", "--absolute-git-dir")}
            not_sparse = ("-c", "core.sparseCheckout=false")
            git.output(folder, *not_sparse, "add", "--all", "--force", **index, **here, GIT_WORK_TREE=str(folder))
            return self.in_prefix(self.git("write-tree", **index))

    def in_prefix(self, tree: str) -> str:
        """The tree of the whole repository that contains `tree` in the library's folder, and no
        other file."""
        if not self.prefix:
            return tree
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "outer")}
            self.git("read-tree", f"--prefix={self.prefix}/", tree, **index)
            return self.git("write-tree", **index)

    def identity(self) -> Optional[str]:
        """The committer that git's settings name, as in "A <a@example.com>", or None."""
        result = self.attempt("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
        return result.stdout.rpartition("> ")[0] + ">" if result.returncode == 0 else None

    def signature(self) -> Dict[str, str]:
        """Environment variables that name author and committer if git's settings name no committer;
        otherwise {}."""
        if self.identity() is not None:
            return {}
        name_and_email = (("NAME", "kernkit"), ("EMAIL", "kernkit@localhost"))
        return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in name_and_email}

    def commit(self, tree: str, started: Started, parent: Optional[str]) -> str:
        """Commits a rendering, with a line in the message that marks the rendering."""
        message = (
            f"kernkit {started.version}'s template, rendered\n\n"
            f"{_MARK}: {started.version} {started.name} {tree}"
        )
        parents = ["-p", parent] if parent is not None else []
        return self.git("commit-tree", tree, *parents, "-m", message, **self.signature())

    def last_rendering(self, name: str) -> Optional[str]:
        """The newest commit in HEAD's history that is a rendering: marked, not amended, and of the library's folder
        alone."""
        mark = re.compile(rf"^{_MARK}: \S+ {re.escape(name)} ([0-9a-f]+)$", re.MULTILINE)
        logged = self.git("log", "--topo-order", f"--grep=^{_MARK}: ", "--format=%H %T%n%B%x00")
        for entry in logged.split("\0"):
            commit, _, text = entry.strip().partition(" ")
            tree, _, message = text.partition("\n")
            match = mark.search(message)
            if match is not None and match[1] == tree and self.is_of_library(tree):
                return commit
        return None

    def is_of_library(self, tree: str) -> bool:
        """Whether a tree of the repository has files in the library's folder only."""
        subtree = self.attempt("rev-parse", "--verify", "--quiet", f"{tree}:{self.prefix}")
        return subtree.returncode == 0 and self.in_prefix(subtree.stdout.strip()) == tree

    def kept_rendering(self, started: Started) -> Optional[str]:
        """The tree of the rendering that the library's copy of the SDK keeps, or None. The tree lacks the ops that the
        library has removed, so that their removal is not merged as a change."""
        with tempfile.TemporaryDirectory() as scratch:
            try:
                if not kept_rendering.restore(str(self.library), scratch):
                    return None
            except kept_rendering.Damaged as error:
                raise UserError(f"{self.library / copies.SDK / kept_rendering.NAME} {error}; restore {copies.SDK} from git") from None
            rendering.remove_ops(pathlib.Path(scratch), rendering.removed_ops(started.answers))
            return self.tree_of(pathlib.Path(scratch))

    def merge(self, commit: str, message: str, *options: str) -> "git.Completed[str]":
        """Merges a commit with a merge commit. Returns the result of git, whose exit code is 0 only
        if the merge commit is checked out."""
        tip = self.git("rev-parse", "HEAD")
        result = self.attempt(
            "-c", "rerere.autoupdate=false", "merge", "--commit", "--no-squash", "--no-ff", "--no-edit", "--no-verify",
            *options, "-m", message, commit, **self.signature(),
        )  # fmt: skip
        if result.returncode == 0 and self.git("rev-parse", "HEAD^@").split() != [tip, commit]:
            raise UserError(f"git merge made no commit of {tip[:12]} and {commit[:12]}: {git.message(result)}")
        return result

    def must_merge(self, commit: str, message: str, *options: str) -> None:
        """Merges a commit with a merge commit. UserError: git did not merge."""
        result = self.merge(commit, message, *options)
        if result.returncode != 0:
            raise UserError(merge_failed(result))

    def merge_changes(self, before: str, rendering: str, message: str) -> str:
        """Merges the changes between two renderings. Returns the list of files with conflicts, which the user edits, or
        "". UserError: git did not merge."""
        # git's default strategy ignores no-renames before git 2.50.
        options = ["--strategy=recursive", "-Xno-renames"] if self.is_renamed_away(before) else []
        merged = self.merge(rendering, message, *options)
        if merged.returncode == 0:
            return ""
        conflicts = self.git("diff", "--relative", "--name-only", "--diff-filter=U")
        if not conflicts:
            # The merge failed without a conflict, for example because it would overwrite an untracked file.
            raise UserError(merge_failed(merged))
        return conflicts

    def is_renamed_away(self, before: str) -> bool:
        """Whether git would follow a rename of a rendering's file to a path outside the library's folder."""
        if not self.prefix:
            return False
        renamed = self.git("diff", "--name-only", "-z", "--find-renames", "-l0", "--diff-filter=R", before, "HEAD")
        return any(path and not path.startswith(f"{self.prefix}/") for path in renamed.split("\0"))

    @contextlib.contextmanager
    def unchanged_on_failure(self, head: str, tree: str) -> Iterator[None]:
        """Restores HEAD, the index and the files to the commit `head` if the block fails. The commit is checked out
        without changes. `tree` is the tree that the block merges."""
        added = self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", head, tree)
        paths = [self.top / path for path in added.split("\0") if path]
        new = [path for path in paths if not os.path.lexists(path)]
        folders = {folder for path in new for folder in path.parents if not os.path.lexists(folder)}
        try:
            yield
        except BaseException as error:
            self.attempt("reset", "--merge", head)
            if self.changed():  # git stopped while it wrote files
                self.attempt("reset", "--hard", head)
            if self.in_progress():  # the index was locked: MERGE_HEAD exists, and no file changed
                self.attempt("merge", "--quit")
            for path in new:  # deletes files that git wrote before it added them to the index
                relative = os.path.relpath(path, self.top)
                with contextlib.suppress(OSError, UserError):
                    os.unlink(files.at(self.top, relative, files.FILE))
            for folder in sorted(folders, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if self.head() != head or self.in_progress() or self.changed():
                raise UserError(f"{error}\nand git could not put the repository back; run: git reset --merge {head}") from None
            raise


def merge_failed(result: "git.Completed[str]") -> str:
    """The message for a merge that failed."""
    text = git.message(result)
    advice = ""
    if "signature" in text:
        advice = "\nmerge.verifySignatures rejects the commits of kernkit update; run once: " \
                 "git config merge.verifySignatures false"  # fmt: skip
    return f"git merge failed, and nothing was changed:\n{text}{advice}"


def begin(library: pathlib.Path) -> str:
    """Makes a git repository of a library that was just rendered, unless the library is in a repository. Returns a
    sentence about the result."""
    started = read_record(library)
    try:
        git.output(library, "--version")
    except UserError as error:
        return f"no git repository was made: {error}"
    if git.attempt(library, "rev-parse").returncode == 0:
        return "no git repository was made: the folder is in a git repository"
    try:
        git.output(library, "init", "--quiet")
        repository = Repository(library)
        commit = repository.commit(repository.tree_of(library), started, None)
        repository.git("reset", "--quiet", commit)
    except UserError as error:
        shutil.rmtree(library / ".git", ignore_errors=True)
        return f"no git repository was made: {error}"
    committer = repository.identity() or "kernkit, since git has no user.name and user.email"
    return ("made a git repository with the rendering as its first commit, by "
            f"{committer}; --no-git makes no repository")  # fmt: skip
