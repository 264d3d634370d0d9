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
        """Returns the hash of the commit that is checked out. Raises UserError if an update cannot begin: the
        repository has no commit, does not contain the library's record, is a shallow clone, or has uncommitted changes
        or an unfinished operation such as a merge."""
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
        """Stores all files of a folder in the repository, also ignored files. Returns the hash of a tree of the
        repository with these files in the library's folder."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            here = {"GIT_DIR": self.git("rev-parse", "--absolute-git-dir")}
            not_sparse = ("-c", "core.sparseCheckout=false")
            git.output(folder, *not_sparse, "add", "--all", "--force", **index, **here, GIT_WORK_TREE=str(folder))
            return self.in_prefix(self.git("write-tree", **index))

    def in_prefix(self, tree: str) -> str:
        """Returns the hash of a tree of the whole repository that has `tree` as the library's folder, and no other
        file."""
        if not self.prefix:
            return tree
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "outer")}
            self.git("read-tree", f"--prefix={self.prefix}/", tree, **index)
            return self.git("write-tree", **index)

    def identity(self) -> Optional[str]:
        """Returns the committer in git's settings, as in "A <a@example.com>"; None if the settings name no
        committer."""
        result = self.attempt("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
        return result.stdout.rpartition("> ")[0] + ">" if result.returncode == 0 else None

    def signature(self) -> Dict[str, str]:
        """Returns environment variables that name author and committer; {} if git's settings name a committer."""
        if self.identity() is not None:
            return {}
        name_and_email = (("NAME", "kernkit"), ("EMAIL", "kernkit@localhost"))
        return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in name_and_email}

    def commit(self, tree: str, started: Started, parent: Optional[str]) -> str:
        """Makes a commit of a rendering, whose message has a line that marks the rendering. Does not check the commit
        out. Returns the hash of the commit."""
        message = (
            f"kernkit {started.version}'s template, rendered\n\n"
            f"{_MARK}: {started.version} {started.name} {tree}"
        )
        parents = ["-p", parent] if parent is not None else []
        return self.git("commit-tree", tree, *parents, "-m", message, **self.signature())

    def last_rendering(self, name: str) -> Optional[str]:
        """Returns the hash of the newest commit in HEAD's history that is a rendering; None if the history contains no
        rendering. A rendering is marked, was not amended, and has files in the library's folder only."""
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
        """Returns whether a tree of the repository has files in the library's folder only."""
        subtree = self.attempt("rev-parse", "--verify", "--quiet", f"{tree}:{self.prefix}")
        return subtree.returncode == 0 and self.in_prefix(subtree.stdout.strip()) == tree

    def kept_rendering(self, started: Started) -> Optional[str]:
        """Returns the hash of a tree with the rendering that the library's copy of the SDK keeps, or None if the copy
        keeps no rendering. The tree lacks the ops that the library has removed, so that a merge does not count their
        removal as a change. Raises UserError if the kept rendering is damaged."""
        with tempfile.TemporaryDirectory() as scratch:
            try:
                if not kept_rendering.restore(str(self.library), scratch):
                    return None
            except kept_rendering.Damaged as error:
                raise UserError(f"{self.library / copies.SDK / kept_rendering.NAME} {error}; restore {copies.SDK} from git") from None
            rendering.remove_ops(pathlib.Path(scratch), rendering.removed_ops(started.answers))
            return self.tree_of(pathlib.Path(scratch))

    def merge(self, commit: str, message: str, *options: str) -> "git.Completed[str]":
        """Merges a commit into HEAD with a merge commit. Returns the result of git, whose exit code is 0 only if the
        merge commit is checked out. Raises UserError if git succeeds without this merge commit."""
        tip = self.git("rev-parse", "HEAD")
        result = self.attempt(
            "-c", "rerere.autoupdate=false", "merge", "--commit", "--no-squash", "--no-ff", "--no-edit", "--no-verify",
            *options, "-m", message, commit, **self.signature(),
        )  # fmt: skip
        if result.returncode == 0 and self.git("rev-parse", "HEAD^@").split() != [tip, commit]:
            raise UserError(f"git merge made no commit of {tip[:12]} and {commit[:12]}: {git.message(result)}")
        return result

    def must_merge(self, commit: str, message: str, *options: str) -> None:
        """Merges a commit into HEAD with a merge commit. Raises UserError if git does not merge."""
        result = self.merge(commit, message, *options)
        if result.returncode != 0:
            raise UserError(merge_failed(result))

    def merge_changes(self, before: str, rendering: str, message: str) -> str:
        """Merges the changes from the rendering `before` to the rendering `rendering` into HEAD. Returns the paths of
        files with conflicts, which the user must resolve, one per line; "" without conflicts. Raises UserError if git
        does not merge."""
        # Before git 2.50, the default merge strategy of git ignores -Xno-renames.
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
        """Returns whether git would follow the rename of a file of the rendering `before` to a path outside the
        library's folder."""
        if not self.prefix:
            return False
        renamed = self.git("diff", "--name-only", "-z", "--find-renames", "-l0", "--diff-filter=R", before, "HEAD")
        return any(path and not path.startswith(f"{self.prefix}/") for path in renamed.split("\0"))

    @contextlib.contextmanager
    def unchanged_on_failure(self, head: str, tree: str) -> Iterator[None]:
        """Restores HEAD, the index and the files to the commit `head` if the block fails. `head` must be checked out
        without changes. `tree`: the tree that the block merges. Raises UserError if the commit cannot be restored."""
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
            for path in new:  # files that git had written but not yet added to the index
                relative = os.path.relpath(path, self.top)
                with contextlib.suppress(OSError, UserError):
                    os.unlink(files.at(self.top, relative, files.FILE))
            for folder in sorted(folders, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if self.head() != head or self.in_progress() or self.changed():
                raise UserError(f"{error}\nand git could not restore the repository; run: git reset --merge {head}") from None
            raise


def merge_failed(result: "git.Completed[str]") -> str:
    """Returns the error message for a merge that failed with the result `result` of git."""
    text = git.message(result)
    advice = ""
    if "signature" in text:
        advice = "\nmerge.verifySignatures rejects the commits of kernkit update; run once: " \
                 "git config merge.verifySignatures false"  # fmt: skip
    return f"git merge failed, and nothing was changed:\n{text}{advice}"


def begin(library: pathlib.Path) -> str:
    """Makes a git repository of a library that was just rendered, with the rendering as its first commit, unless the
    library is in a repository. Returns a sentence about the result."""
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
