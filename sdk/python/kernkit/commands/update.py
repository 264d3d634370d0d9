# SPDX-License-Identifier: Apache-2.0
"""Bring a library, in its own folder, to this kernkit's template and SDK.

The template is rendered anew with the answers in .kernkit.json and committed, as it is, after the
rendering that the library began with; git then merges that commit. What you changed stays, what the
template changed comes, and where both changed the same lines git leaves a conflict, as after any
merge: edit the files that it names, `git add` them, `git commit`; or `git merge --abort`.

A rendering is known by a line in its commit's message, and kept in third_party/kernkit besides, so
squash merges do no harm there. Without that copy it must stay in the history: merge what this command
makes, do not squash it. `kernkit new` commits the first one where it makes the repository. In a
repository of your own, run `kernkit update` once with the kernkit that the library began with; that
changes no file.

Where git cannot merge or commit, as when it cannot sign, the command fails and the repository is as before.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import tempfile
from typing import Any, Dict, Iterator, List, Optional

from ..errors import UserError
from ..project import files, git, names, manifest
from ..scaffold import former_names, components, kept_rendering, rendering
from ..project.record import RECORD, VENDORED_SDK, Started, read_record
from .remove import take_out
from ..sdk import version

_MARK = "Kernkit-template"
_KNOWING = ("--strategy=ours", "--allow-unrelated-histories")  # a merge that changes no file


class Repository(git.Repository):
    """The git repository of a library, with its renderings."""

    def check_clean(self) -> str:
        """The commit that is checked out. UserError: what a merge could mix with, or another project's repository."""
        head = self.head()
        if head is None:
            raise UserError("the repository has no commit yet; type: git add -A && git commit")
        if self.attempt("ls-files", "--error-unmatch", "--", RECORD).returncode != 0:
            raise UserError(f"the repository of {self.top} does not hold {self.library / RECORD}; type in the library's "
                          "folder: git add -A && git commit")  # fmt: skip
        if self.git("rev-parse", "--is-shallow-repository") == "true":
            raise UserError("the clone is shallow, so the rendering that the library began with may "
                          "be missing; type: git fetch --unshallow")  # fmt: skip
        if what := self.in_progress():
            raise UserError(f"a {what} is in progress; end it first: git {what} --continue, or git {what} --abort")
        if changed := self.changed():
            raise UserError(f"there are changes that are not committed:\n{changed}\n"
                          "commit or stash them first")  # fmt: skip
        return head

    def tree_of(self, folder: pathlib.Path) -> str:
        """Stores all files of a folder, ignored ones included, and returns their tree."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            here = {"GIT_DIR": self.git("rev-parse", "--absolute-git-dir")}
            whole = ("-c", "core.sparseCheckout=false")
            git.output(folder, *whole, "add", "--all", "--force", **index, **here, GIT_WORK_TREE=str(folder))
            return self.in_prefix(self.git("write-tree", **index))

    def in_prefix(self, tree: str) -> str:
        """The tree of the repository that has this tree in the library's folder, and nothing else."""
        if not self.prefix:
            return tree
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "outer")}
            self.git("read-tree", f"--prefix={self.prefix}/", tree, **index)
            return self.git("write-tree", **index)

    def identity(self) -> Optional[str]:
        """In whose name git commits here, as in "A <a@example.com>", or None where it is not told."""
        said = self.attempt("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
        return said.stdout.rpartition("> ")[0] + ">" if said.returncode == 0 else None

    def signature(self) -> Dict[str, str]:
        """What lets git commit where it is not told in whose name."""
        if self.identity() is not None:
            return {}
        name_and_email = (("NAME", "kernkit"), ("EMAIL", "kernkit@localhost"))
        return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in name_and_email}

    def commit(self, tree: str, started: Started, parent: Optional[str]) -> str:
        """A rendering as a commit, which says that it is one."""
        message = (
            f"kernkit {started.version}'s template, rendered\n\n"
            f"{_MARK}: {started.version} {started.name} {tree}"
        )
        parents = ["-p", parent] if parent is not None else []
        return self.git("commit-tree", tree, *parents, "-m", message, **self.signature())

    def last_rendering(self, name: str) -> Optional[str]:
        """The commit in HEAD's history that holds the newest rendering, as it was made: not amended, and
        of the library's folder alone."""
        mark = re.compile(rf"^{_MARK}: \S+ {re.escape(name)} ([0-9a-f]+)$", re.MULTILINE)
        logged = self.git("log", "--topo-order", f"--grep=^{_MARK}: ", "--format=%H %T%n%B%x00")
        for entry in logged.split("\0"):
            commit, _, rest = entry.strip().partition(" ")
            tree, _, message = rest.partition("\n")
            found = mark.search(message)
            if found is not None and found[1] == tree and self.is_of_library(tree):
                return commit
        return None

    def is_of_library(self, tree: str) -> bool:
        """Whether a tree of the repository has files in the library's folder only."""
        own = self.attempt("rev-parse", "--verify", "--quiet", f"{tree}:{self.prefix}")
        return own.returncode == 0 and self.in_prefix(own.stdout.strip()) == tree

    def kept_rendering(self, started: Started) -> Optional[str]:
        """The tree of the rendering that the library has, as its copy of the SDK keeps it, or None. What
        the library has removed since is not in it: that is no edit which a merge has to weigh."""
        with tempfile.TemporaryDirectory() as scratch:
            try:
                if not kept_rendering.restore(str(self.library), scratch):
                    return None
            except kept_rendering.Damaged as error:
                raise UserError(f"{self.library / VENDORED_SDK / kept_rendering.NAME} {error}; restore {VENDORED_SDK} from git") from None
            leave_removed(pathlib.Path(scratch), removed_of(started.answers))
            return self.tree_of(pathlib.Path(scratch))

    def merge(self, commit: str, message: str, *options: str) -> "git.Done[str]":
        """Merges in a commit of its own. The exit code is 0 only where that commit is checked out."""
        tip = self.git("rev-parse", "HEAD")
        done = self.attempt(
            "-c", "rerere.autoupdate=false", "merge", "--commit", "--no-squash", "--no-ff", "--no-edit", "--no-verify",
            *options, "-m", message, commit, **self.signature(),
        )  # fmt: skip
        if done.returncode == 0 and self.git("rev-parse", "HEAD^@").split() != [tip, commit]:
            raise UserError(f"git merge made no commit of {tip[:12]} and {commit[:12]}: {git.message(done)}")
        return done

    def must_merge(self, commit: str, message: str, *options: str) -> None:
        """UserError: git did not merge."""
        done = self.merge(commit, message, *options)
        if done.returncode != 0:
            raise UserError(merge_failed(done))

    def merge_changes(self, before: str, rendering: str, message: str) -> str:
        """Merges what changed between two renderings. Returns the files with conflicts, which are left to
        edit, or "". UserError: git did not merge."""
        # git's default strategy ignores no-renames before git 2.50.
        options = ["--strategy=recursive", "-Xno-renames"] if self.is_renamed_away(before) else []
        merged = self.merge(rendering, message, *options)
        if merged.returncode == 0:
            return ""
        conflicts = self.git("diff", "--relative", "--name-only", "--diff-filter=U")
        if not conflicts:  # for example an untracked file would be overwritten
            raise UserError(merge_failed(merged))
        return conflicts

    def is_renamed_away(self, before: str) -> bool:
        """Whether a file of a rendering is now outside the library's folder, where git would change it."""
        if not self.prefix:
            return False
        renamed = self.git("diff", "--name-only", "-z", "--find-renames", "-l0", "--diff-filter=R", before, "HEAD")
        return any(path and not path.startswith(f"{self.prefix}/") for path in renamed.split("\0"))

    @contextlib.contextmanager
    def unchanged_on_failure(self, head: str, tree: str) -> Iterator[None]:
        """Puts HEAD, the index and the files back to the commit `head`, which is checked out without changes,
        where the block fails. `tree` is what the block merges."""
        added = self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", head, tree)
        paths = [self.top / path for path in added.split("\0") if path]
        new = [path for path in paths if not os.path.lexists(path)]
        folders = {folder for path in new for folder in path.parents if not os.path.lexists(folder)}
        try:
            yield
        except BaseException as error:
            self.attempt("reset", "--merge", head)
            if self.changed():  # git ended in the middle of writing files
                self.attempt("reset", "--hard", head)
            if self.in_progress():  # where the index is locked, the merge is noted and has changed nothing
                self.attempt("merge", "--quit")
            for path in new:  # those which git wrote and had not yet listed in the index
                relative = os.path.relpath(path, self.top)
                with contextlib.suppress(OSError, UserError):
                    os.unlink(files.at(self.top, relative, files.FILE))
            for folder in sorted(folders, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if self.head() != head or self.in_progress() or self.changed():
                raise UserError(f"{error}\nand git could not put the repository back; type: git reset --merge {head}") from None
            raise


def merge_failed(done: "git.Done[str]") -> str:
    """A sentence about a merge that git did not do."""
    text = git.message(done)
    advice = ""
    if "signature" in text:
        advice = "\nmerge.verifySignatures does not fit commits that are made here; type for this once: " \
                 "git config merge.verifySignatures false"  # fmt: skip
    return f"git merge failed, and nothing was changed:\n{text}{advice}"


def removed_of(answers: Dict[str, str]) -> List[str]:
    return [op for op in answers.get("removed", "").split(",") if op]


def render(answers: Dict[str, str], folder: pathlib.Path) -> pathlib.Path:
    """This kernkit's template with these answers, and the defaults of questions that are new."""
    removed = removed_of(answers)
    answers = {key: answers.get(key, value) for key, value in rendering.questions().items()}
    sdk = str(rendering.vendored_sdk())
    if problem := names.problem(answers) or components.problem(answers["parts"], sdk):
        raise UserError(f"{RECORD}: {problem}")
    rendering.render(answers, folder)
    library = folder / answers["library_name"]
    leave_removed(library, removed)
    if removed and (library / VENDORED_SDK).is_dir():
        kept_rendering.keep(str(library), version())
    return library


def leave_removed(library: pathlib.Path, removed: List[str]) -> None:
    """Takes out of a rendering the template's ops that the library has removed."""
    for op in removed:
        take_out(library, op)


def begin(library: pathlib.Path) -> str:
    """Makes a repository of a library that was just rendered, unless the library is in a repository;
    returns a sentence about what was done. For `kernkit new`."""
    started = read_record(library)
    try:
        git.output(library, "--version")
    except UserError as error:
        return f"no git repository was made: {error}"
    if git.attempt(library, "rev-parse").returncode == 0:
        return "no git repository was made: the folder is in one"
    try:
        git.output(library, "init", "--quiet")
        repository = Repository(library)
        commit = repository.commit(repository.tree_of(library), started, None)
        repository.git("reset", "--quiet", commit)
    except UserError as error:
        shutil.rmtree(library / ".git", ignore_errors=True)
        return f"no git repository was made: {error}"
    whose = repository.identity() or "kernkit, since git knows no user.name and user.email"
    return ("a git repository was made, whose first commit is what was rendered, in the name of "
            f"{whose}; --no-git makes none")  # fmt: skip


def with_parts(answers: Dict[str, str], words: str) -> Dict[str, str]:
    """The answers with these parts besides those that the library took."""
    together = {*answers.get("parts", "").split(","), *words.split(",")} - {""}
    return {**answers, "parts": ",".join(sorted(together))}


def say_touched(library: pathlib.Path) -> str:
    """A sentence about what was changed by hand in the copy of the SDK, or ""."""
    sealed = str(files.at(library, VENDORED_SDK))
    found = str(manifest.changes(sealed)) if manifest.has_manifest(sealed) else ""
    return found and f"{VENDORED_SDK} was touched by hand: {found}"


def as_numbers(text: str) -> Any:
    return [int(part) for part in re.findall(r"\d+", text)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--with", dest="parts", default="", metavar="LIST",
                        help="take these parts of the SDK as well, as in plots,ptx")  # fmt: skip
    parser.add_argument("--library", type=pathlib.Path, default=pathlib.Path(), metavar="DIR",
                        help="the library's folder (default: this one)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    library = files.folder_of(arguments.library)
    started = read_record(library)
    ours = Started(version(), with_parts(started.answers, arguments.parts))
    if as_numbers(ours.version) < as_numbers(started.version):
        raise UserError(f"this kernkit is {ours.version}, and the library has {started.version} "
                      "already; type: pip install --no-index --find-links FOLDER --upgrade kernkit, where "
                      "FOLDER holds the wheel of a newer kernkit")  # fmt: skip
    repository = Repository(library)
    head = repository.check_clean()
    if said := say_touched(library):
        print(said)
    before, kept = repository.last_rendering(started.name), repository.kept_rendering(started)
    if before is None and kept is None and ours.version != started.version:
        raise UserError(
            f"the history does not hold the rendering of kernkit {started.version} that the "
            "library began with, which this kernkit cannot make; type once: pip install --no-index --find-links FOLDER "
            f"kernkit=={started.version} && kernkit update, then this again"
        )
    with tempfile.TemporaryDirectory() as scratch:
        fresh = render(ours.answers, pathlib.Path(scratch))
        tree, wanted = repository.tree_of(fresh), read_record(fresh)
    had = before and repository.git("rev-parse", f"{before}^{{tree}}")
    if (kept or had) == tree:
        print(f"nothing to do: {started.name} has what kernkit {ours.version} renders")
        return 0
    with repository.unchanged_on_failure(head, tree):
        if kept and kept != had:
            # Its commit is lost, as after a squash merge.
            before = repository.commit(kept, started, before)
            repository.must_merge(before, f"Know the rendering of kernkit {started.version}", *_KNOWING)
        rendering = repository.commit(tree, ours, before)
        if before is None:
            repository.must_merge(rendering, f"Know the rendering of kernkit {ours.version}", *_KNOWING)
            print(f"{started.name} is known to have begun with kernkit {ours.version}; no file changed")
            return 0
        conflicts = repository.merge_changes(before, rendering, f"Update to kernkit {ours.version}")
        if conflicts and repository.head() != head:
            # The lost commit is in the history of what is being merged as well. git merge --abort
            # then leaves no merge.
            repository.git("update-ref", "-m", "kernkit update", "HEAD", head)
        if not conflicts and not has_what_it_wanted(library, wanted):
            raise UserError(f"git merged without the changes of kernkit {ours.version}; look for a merge strategy in the "
                          "settings branch.<name>.mergeOptions and pull.twohead, and in .gitattributes")  # fmt: skip
    if not conflicts:
        print(f"{started.name} has kernkit {ours.version}; git show --stat -m --first-parent "
              "lists what changed, ./kk test says whether it works")  # fmt: skip
        if changed := former_names.rewrite(library):
            print("former names of kernkit were replaced in " + ", ".join(changed) +
                  "; git diff shows the changes, git commit -a keeps them")  # fmt: skip
        return 0
    print(f"both you and the template changed:\n{conflicts}\n"
          "edit these, git add and git commit them; or git merge --abort")  # fmt: skip
    return 1


def has_what_it_wanted(library: pathlib.Path, wanted: Started) -> bool:
    """Whether the record of the library is that of the rendering which was merged."""
    found = read_record(library)
    return (found.version, found.answers.get("parts")) == (wanted.version, wanted.answers.get("parts"))
