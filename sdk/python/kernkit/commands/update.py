# SPDX-License-Identifier: Apache-2.0
"""Update a library, in its own folder, to the template and SDK of this kernkit.

The template is rendered again with the answers in .kernkit.json. The new rendering is committed without your changes,
as the successor of the rendering from which the library began; git then merges the new commit. Your changes stay, and
changes of the template are added. Where you and the template changed the same lines, git leaves a conflict, as in any
merge: edit the files that the command lists, `git add` them, `git commit`; or `git merge --abort`.

A line in the message of a commit marks the commit as a rendering. third_party/kernkit keeps the rendering as well,
so that squash merges do no harm. Without that copy the commit must stay in the history: merge what this command
commits, and do not squash. `kernkit new` commits the first rendering if `kernkit new` makes the repository. In a
repository of your own, run `kernkit update` once with the kernkit that the library began with; that run changes no
file.

If git cannot merge or commit, for example because git cannot sign, the command fails and the repository is unchanged.
"""

import argparse
import pathlib
import re
import tempfile
from typing import Any, Dict, List

from ..errors import UserError
from ..project import copies, files, manifest
from ..project.record import Started, read_record
from ..scaffold import components, former_names, rendering
from ..scaffold.history import Repository
from ..sdk import version

_WITHOUT_CHANGES = ("--strategy=ours", "--allow-unrelated-histories")  # options of a git merge that changes no file


def with_components(answers: Dict[str, str], added: str, left_out: str) -> Dict[str, str]:
    """Returns the answers for a library with its present components and the components of `added`, but without the
    components of `left_out`. Raises UserError if the library does not have a component of `left_out`, or if a component
    is in both lists."""
    current = {*answers.get("parts", "").split(",")} - {""}
    if answers.get("dev", "copied") == "copied":  # libraries of earlier versions of kernkit have no answer `dev`
        current.add(components.DEVELOPMENT)
    named, unwanted = {*components.listed(added)}, {*components.listed(left_out)}
    for name in sorted(unwanted):
        if name in named or name not in current:
            reason = "is in --with" if name in named else f"is not a component of this library, which has {', '.join(sorted(current))}"
            raise UserError(f"--without: {name} {reason}")
    return {**answers, **components.as_answers(sorted((current | named) - unwanted))}


def changes_in_copies(library: pathlib.Path) -> List[str]:
    """Returns a sentence for each folder of the library's copy of kernkit that differs from its manifest."""
    folders = {folder: str(files.at(library, folder)) for folder in copies.FOLDERS}
    changes = {folder: manifest.changes(path) for folder, path in folders.items() if manifest.has_manifest(path)}
    return [f"{folder} was changed by hand: {change}" for folder, change in changes.items() if any(change)]


def as_numbers(text: str) -> Any:
    return [int(part) for part in re.findall(r"\d+", text)]


def is_merged(library: pathlib.Path, expected: Started) -> bool:
    """Returns whether the library has the version and the components of `expected`, the record of the rendering that
    was merged."""
    record = read_record(library)
    components_of = [(record.answers.get("parts"), record.answers.get("dev")) for record in (record, expected)]
    return record.version == expected.version and components_of[0] == components_of[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--with", dest="parts", default="", metavar="LIST",
                        help="comma-separated components of kernkit to add, for example plots,dev")  # fmt: skip
    parser.add_argument("--without", default="", metavar="LIST",
                        help="comma-separated components to remove: optional components of kernkit; dev (the copy of contract tests, "
                        "simulator and command line; without dev the library uses an installed kernkit)")  # fmt: skip
    parser.add_argument("--library", type=pathlib.Path, default=pathlib.Path(), metavar="DIR",
                        help="the library's folder (default: the current folder)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    library = files.folder_of(arguments.library)
    started = read_record(library)
    current = Started(version(), with_components(started.answers, arguments.parts, arguments.without))
    if as_numbers(current.version) < as_numbers(started.version):
        raise UserError(f"this kernkit is {current.version}, and the library has {started.version} "
                        "already; run: pip install --no-index --find-links FOLDER --upgrade kernkit, where "
                        "FOLDER holds the wheel of a newer kernkit")  # fmt: skip
    repository = Repository(library)
    head = repository.check_clean()
    for changed in changes_in_copies(library):
        print(changed)
    before, saved_tree = repository.last_rendering(started.name), repository.kept_rendering(started)
    if before is None and saved_tree is None and current.version != started.version:
        raise UserError(
            f"the history does not contain the rendering of kernkit {started.version} that the "
            "library began with, and this kernkit cannot make that rendering; run once: pip install --no-index --find-links "
            f"FOLDER kernkit=={started.version} && kernkit update, then repeat this command"
        )
    with tempfile.TemporaryDirectory() as scratch:
        fresh = rendering.render_library(current.answers, pathlib.Path(scratch))
        tree, expected = repository.tree_of(fresh), read_record(fresh)
    committed = before and repository.git("rev-parse", f"{before}^{{tree}}")
    if (saved_tree or committed) == tree:
        print(f"nothing to do: {started.name} is up to date with kernkit {current.version}")
        return 0
    with repository.unchanged_on_failure(head, tree):
        if saved_tree and saved_tree != committed:
            # The history lacks the commit of the kept rendering, for example after a squash merge.
            before = repository.commit(saved_tree, started, before)
            repository.must_merge(before, f"Record the rendering of kernkit {started.version}", *_WITHOUT_CHANGES)
        commit = repository.commit(tree, current, before)
        if before is None:
            repository.must_merge(commit, f"Record the rendering of kernkit {current.version}", *_WITHOUT_CHANGES)
            print(f"the rendering of kernkit {current.version}, from which {started.name} began, is recorded; no file changed")
            return 0
        conflicts = repository.merge_changes(before, commit, f"Update to kernkit {current.version}")
        if conflicts and repository.head() != head:
            # Resets HEAD to the user's commit, without the merge commit of the kept rendering, so that git merge
            # --abort undoes the whole update. The kept rendering remains an ancestor of the commit that git merges.
            repository.git("update-ref", "-m", "kernkit update", "HEAD", head)
        if not conflicts and not is_merged(library, expected):
            raise UserError(f"git merged without the changes of kernkit {current.version}; look for a merge strategy in the "
                            "settings branch.<name>.mergeOptions and pull.twohead, and in .gitattributes")  # fmt: skip
    if not conflicts:
        print(f"{started.name} has kernkit {current.version}; git show --stat -m --first-parent "
              "lists what changed, ./kk test tests the library")  # fmt: skip
        if rewritten := former_names.rewrite(library):
            print("former names of kernkit were replaced in " + ", ".join(rewritten) +
                  "; git diff shows the changes, git commit -a keeps them")  # fmt: skip
        return 0
    print(f"both you and the template changed:\n{conflicts}\n"
          "edit these files, then run git add and git commit; or run git merge --abort")  # fmt: skip
    return 1
