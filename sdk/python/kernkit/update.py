# SPDX-License-Identifier: Apache-2.0
"""Bring a library, in its own folder, to this kernkit's template and SDK.

The template is rendered anew with the answers in .kernkit.json and committed, as it is, behind the
rendering that the library began with; git then merges that commit. What you changed stays, what the
template changed comes, and where both changed the same lines git leaves a conflict, as after any
merge: edit the files that it names, `git add` them, `git commit`; or `git merge --abort`.

A rendering is known by a line in its commit's message, and kept in third_party/kernkit besides, so
squash merges do no harm there. Without that copy it must stay in the history: merge what this command
makes, do not squash it. `kernkit new` commits the first one where it makes the repository. In a
repository of your own, run `kernkit update` once with the kernkit that the library began with; that
changes no file.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
from typing import Any, Dict, List, Optional

from .cli import Refusal
from .library import names, parts, rendered, rendering, seal
from .library.record import RECORD, SEALED, Started, note_removed, read_record
from .remove import take_out
from .sdk import version

_MARK = "Kernkit-template"


class Repository:
    """The git repository of a library, which may lie in a folder of it."""

    def __init__(self, library: pathlib.Path) -> None:
        self.library = library
        self.prefix = self.git("rev-parse", "--show-prefix").rstrip("/")

    def try_git(self, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(
                ["git", *words],
                cwd=self.library, capture_output=True, text=True, env={**os.environ, **environment},
            )  # fmt: skip
        except FileNotFoundError:
            raise Refusal("git is not installed; kernkit update merges with it") from None

    def git(self, *words: str, **environment: str) -> str:
        done = self.try_git(*words, **environment)
        if done.returncode != 0:
            raise Refusal(f"git {words[0]} failed: {(done.stderr or done.stdout).strip()}")
        return done.stdout.rstrip()

    def check_clean(self) -> None:
        """Refuses what a merge could mix with."""
        if self.try_git("rev-parse", "--verify", "--quiet", "HEAD").returncode != 0:
            raise Refusal("the repository has no commit yet; type: git add -A && git commit")
        if self.git("rev-parse", "--is-shallow-repository") == "true":
            raise Refusal("the clone is shallow, so the rendering that the library began with may "
                          "be missing; type: git fetch --unshallow")  # fmt: skip
        if changed := self.git("status", "--porcelain", "--untracked-files=no"):
            raise Refusal(f"there are changes that are not committed:\n{changed}\n"
                          "commit or stash them first")  # fmt: skip

    def tree_of(self, folder: pathlib.Path) -> str:
        """Stores all files of a folder, ignored ones included, and returns their tree."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            here = {"GIT_DIR": self.git("rev-parse", "--absolute-git-dir")}
            self.git("-C", str(folder), "add", "--all", "--force", **index, **here,
                     GIT_WORK_TREE=str(folder))  # fmt: skip
            tree = self.git("write-tree", **index)
            if not self.prefix:
                return tree
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "outer")}
            self.git("read-tree", f"--prefix={self.prefix}/", tree, **index)
            return self.git("write-tree", **index)

    def identity(self) -> Optional[str]:
        """In whose name git commits here, as in "A <a@example.com>", or None where it is not told."""
        said = self.try_git("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
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
        """The commit in HEAD's history that holds the newest rendering, as it was made."""
        mark = re.compile(rf"^{_MARK}: \S+ {re.escape(name)} ([0-9a-f]+)$", re.MULTILINE)
        logged = self.git("log", "--topo-order", f"--grep=^{_MARK}: ", "--format=%H %T%n%B%x00")
        for entry in logged.split("\0"):
            commit, _, rest = entry.strip().partition(" ")
            tree, _, message = rest.partition("\n")
            found = mark.search(message)
            if found is not None and found[1] == tree:  # and not amended
                return commit
        return None

    def kept_rendering(self, started: Started) -> Optional[str]:
        """The tree of the rendering that the library has, as its copy of the SDK keeps it, or None. What
        the library has removed since is not in it: that is no edit which a merge has to weigh."""
        with tempfile.TemporaryDirectory() as scratch:
            if not rendered.restore(str(self.library), scratch):
                return None
            leave_removed(pathlib.Path(scratch), removed_of(started.answers))
            return self.tree_of(pathlib.Path(scratch))

    def merge(self, commit: str, message: str, *options: str) -> "subprocess.CompletedProcess[str]":
        return self.try_git("merge", "--no-ff", "--no-verify", *options, "-m", message, commit, **self.signature())


def removed_of(answers: Dict[str, str]) -> List[str]:
    return [op for op in answers.get("removed", "").split(",") if op]


def render(answers: Dict[str, str], folder: pathlib.Path) -> pathlib.Path:
    """This kernkit's template with these answers, and the defaults of questions that are new."""
    removed = removed_of(answers)
    answers = {key: answers.get(key, value) for key, value in rendering.questions().items()}
    sdk = str(rendering.vendored_sdk())
    if problem := names.problem(answers) or parts.problem(answers["parts"], sdk):
        raise Refusal(f"{RECORD}: {problem}")
    rendering.render(answers, folder)
    library = folder / answers["library_name"]
    leave_removed(library, removed)
    if removed and (library / SEALED).is_dir():
        rendered.keep(str(library), version())
    return library


def leave_removed(library: pathlib.Path, removed: List[str]) -> None:
    """Takes out of a rendering the template's ops that the library has removed."""
    for op in removed:
        take_out(library, op)
    note_removed(library, *removed)


def begin(library: pathlib.Path) -> str:
    """Makes a repository of a library that was just rendered, unless it lies in one; says in a
    sentence what was done. For `kernkit new`."""
    started = read_record(library)
    try:
        subprocess.run(["git", "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return "no git repository was made: git is not installed"
    inside = subprocess.run(["git", "rev-parse"], cwd=library, capture_output=True)
    if inside.returncode == 0:
        return "no git repository was made: the folder is in one"
    subprocess.run(["git", "init", "--quiet"], cwd=library, check=True, capture_output=True)
    repository = Repository(library)
    commit = repository.commit(repository.tree_of(library), started, None)
    repository.git("reset", "--quiet", commit)
    whose = repository.identity() or "kernkit, since git knows no user.name and user.email"
    return ("a git repository was made, whose first commit is what was rendered, in the name of "
            f"{whose}; --no-git makes none")  # fmt: skip


def with_parts(answers: Dict[str, str], words: str) -> Dict[str, str]:
    """The answers with these parts besides those that the library took."""
    together = {*answers.get("parts", "").split(","), *words.split(",")} - {""}
    return {**answers, "parts": ",".join(sorted(together))}


def say_touched(library: pathlib.Path) -> str:
    """A sentence about what was changed by hand in the copy of the SDK, or ""."""
    sealed = library / SEALED
    found = str(seal.touched(str(sealed))) if seal.is_sealed(str(sealed)) else ""
    return found and f"{SEALED} was touched by hand: {found}"


def as_numbers(text: str) -> Any:
    return [int(part) for part in re.findall(r"\d+", text)]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--with", dest="parts", default="", metavar="LIST",
                        help="take these parts of the SDK as well, as in plots,ptx")  # fmt: skip
    parser.add_argument("--library", type=pathlib.Path, default=pathlib.Path(), metavar="DIR",
                        help="the library's folder (default: this one)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    library = arguments.library.resolve()
    started = read_record(library)
    ours = Started(version(), with_parts(started.answers, arguments.parts))
    if as_numbers(ours.version) < as_numbers(started.version):
        raise Refusal(f"this kernkit is {ours.version}, and the library has {started.version} "
                      "already; type: pip install --upgrade kernkit")  # fmt: skip
    repository = Repository(library)
    repository.check_clean()
    if said := say_touched(library):
        print(said)
    before, kept = repository.last_rendering(started.name), repository.kept_rendering(started)
    if before is None and kept is None and ours.version != started.version:
        raise Refusal(
            f"the history does not hold the rendering of kernkit {started.version} that the "
            "library began with, which this kernkit cannot make; type once: pip install "
            f"kernkit=={started.version} && kernkit update, then this again"
        )
    with tempfile.TemporaryDirectory() as scratch:
        tree = repository.tree_of(render(ours.answers, pathlib.Path(scratch)))
    had = before and repository.git("rev-parse", f"{before}^{{tree}}")
    if (kept or had) == tree:
        print(f"nothing to do: {started.name} has what kernkit {ours.version} renders")
        return 0
    if kept and kept != had:
        # Its commit is lost, as after a squash merge.
        before = repository.commit(kept, started, before)
        repository.merge(before, f"Know the rendering of kernkit {started.version}",
                         "--strategy=ours", "--allow-unrelated-histories")  # fmt: skip
    rendering = repository.commit(tree, ours, before)
    if before is None:
        repository.merge(rendering, f"Know the rendering of kernkit {ours.version}",
                         "--strategy=ours", "--allow-unrelated-histories")  # fmt: skip
        print(f"{started.name} is known to have begun with kernkit {ours.version}; no file changed")
        return 0
    merged = repository.merge(rendering, f"Update to kernkit {ours.version}")
    cold = library / SEALED / "src/kernkit.cc"
    if cold.exists():
        cold.touch()  # it includes a part's file where that is there, which no build folder knows
    if merged.returncode == 0:
        print(f"{started.name} has kernkit {ours.version}; git show --stat -m --first-parent "
              "lists what changed, ./kk test says whether it works")  # fmt: skip
        return 0
    conflicts = repository.git("diff", "--relative", "--name-only", "--diff-filter=U")
    if not conflicts:  # for example a file that git does not know and that would be overwritten
        raise Refusal(f"git merge refused:\n{(merged.stderr or merged.stdout).strip()}")
    print(f"both you and the template changed:\n{conflicts}\n"
          "edit these, git add and git commit them; or git merge --abort")  # fmt: skip
    return 1
