# SPDX-License-Identifier: Apache-2.0
"""`kernkit update` if git fails: an error, and the repository is unchanged."""

import json
import os
import shutil

import pytest
from kernkit import cli
from kernkit.commands import update
from kernkit.project import git as git_calls
from rendering import files_below
from test_update import commit, git, git_settings, library, newer, rendered, run  # noqa: F401


def state(folder):
    """Returns what a failed update must not change: the commit, git's status, the files, and whether a merge is in
    progress."""
    return (git(folder, "rev-parse", "HEAD"), git(folder, "status", "--porcelain", "--ignored"), files_below(folder),
            os.path.lexists(folder / ".git/MERGE_HEAD"))  # fmt: skip


def fails(folder, capsys, *arguments):
    """Runs the command, which must fail; returns its error message."""
    before = state(folder)
    run(folder, *arguments, code=3)
    output = capsys.readouterr()
    assert state(folder) == before
    assert "has kernkit" not in output.out and "no file changed" not in output.out
    return output.err


def forget_renderings(folder):
    """Replaces the history by one commit that records no rendering, as after a squash merge."""
    shutil.rmtree(folder / ".git")
    git(folder, "init", "--quiet")
    commit(folder, "Squashed")


def cannot_sign(folder):
    git(folder, "config", "commit.gpgsign", "true")
    git(folder, "config", "gpg.program", "false")


@pytest.mark.parametrize("history", ["rendered", *(pytest.param(name, marks=pytest.mark.all) for name in ("squashed", "unknown"))])
def test_git_that_cannot_sign(library, newer, history, capsys):  # noqa: F811
    if history != "rendered":
        forget_renderings(library)
    arguments = []
    if history == "unknown":  # the first merge records the rendering, and changes no file
        (library / "third_party/kernkit/RENDERED").unlink()
        record = json.loads((library / ".kernkit.json").read_text())
        (library / ".kernkit.json").write_text(json.dumps({**record, "version": "0.9.0"}))
        commit(library)
    cannot_sign(library)
    assert "git merge failed, and nothing was changed:\nerror: gpg failed to sign" in fails(library, capsys, *arguments)


def test_conflicts_after_a_squash_merge_are_left_by_git_merge_abort(library, newer):  # noqa: F811
    (library / "kernels/CMakeLists.txt").open("a").write("kernkit_add_kernel(fast_ops mine)\n")
    forget_renderings(library)
    before = state(library)
    run(library, code=1)
    git(library, "merge", "--abort")
    assert state(library) == before
    run(library, code=1)
    (library / "kernels/CMakeLists.txt").write_text("both\n")
    commit(library, "Update")
    assert git(library, "log", "-1", "--format=%P").split()[0] == before[0].strip()
    run(library)  # nothing to do
    assert (library / "kernels/CMakeLists.txt").read_text() == "both\n"


@pytest.mark.all
def test_merges_of_signed_commits_only(library, newer, capsys):  # noqa: F811
    git(library, "config", "merge.verifySignatures", "true")
    output = fails(library, capsys)
    assert "does not have a GPG signature" in output and "git config merge.verifySignatures false" in output


def test_a_hook_that_fails(library, newer, capsys):  # noqa: F811
    hook = library / ".git/hooks/prepare-commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    assert "not today" in fails(library, capsys)


def test_git_that_ends_in_the_middle_of_writing_files(library, newer, capsys):  # noqa: F811
    (library / ".git/info").mkdir(exist_ok=True)
    (library / ".git/info/attributes").write_text("docs/new.md filter=broken\n")
    git(library, "config", "filter.broken.clean", "cat")
    git(library, "config", "filter.broken.smudge", "false")
    git(library, "config", "filter.broken.required", "true")
    assert "git merge failed, and nothing was changed:\n" in fails(library, capsys)


@pytest.mark.all
@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
def test_a_repository_that_another_git_has_locked(library, newer, lock, capsys):  # noqa: F811
    (library / ".git" / lock).touch()
    assert "git merge failed, and nothing was changed:\n" in fails(library, capsys)


@pytest.mark.parametrize("options", ["--no-commit", *(pytest.param(option, marks=pytest.mark.all) for option in ("--squash", "--ff-only"))])
def test_settings_that_make_no_commit_are_overruled(library, newer, options):  # noqa: F811
    git(library, "config", "branch.main.mergeOptions", options)
    run(library)
    assert len(git(library, "rev-parse", "HEAD^@").split()) == 2
    assert json.loads((library / ".kernkit.json").read_text())["version"] == "0.9.0"
    assert state(library)[1::2] == ("", False)


@pytest.mark.all
@pytest.mark.parametrize("setting", ["branch.main.mergeOptions=-s ours", "pull.twohead=ours"])
def test_a_strategy_that_leaves_the_changes_out(library, newer, setting, capsys):  # noqa: F811
    git(library, "config", *setting.split("=", 1))
    assert "git merged without the changes of kernkit 0.9.0; look for a merge strategy" in fails(library, capsys)


@pytest.mark.all
def test_a_merge_in_progress(library, newer, capsys):  # noqa: F811
    git(library, "checkout", "--quiet", "-b", "other", "HEAD~")
    git(library, "merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours", "main")
    assert "a merge is in progress; end it first: git merge --continue, or" in fails(library, capsys)


@pytest.mark.all
def test_files_that_are_elsewhere(library, newer, tmp_path, capsys):  # noqa: F811
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    git(library, "config", "core.worktree", str(outside))
    run(library, code=3)
    assert f"git uses {outside} as the worktree of this repository" in capsys.readouterr().err
    assert files_below(outside) == {"mine": b"mine"}


@pytest.mark.all
@pytest.mark.parametrize("damage", ["HEAD", "all"])
def test_a_damaged_repository_inside_another(library, newer, tmp_path, damage, capsys):  # noqa: F811
    """An update of a library with a damaged repository fails and changes nothing, although git finds the repository of
    the enclosing folder, which belongs to another project."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "mine").write_text("mine")
    git(tmp_path, "add", "mine")
    git(tmp_path, "commit", "--quiet", "-m", "Mine")
    if damage == "HEAD":
        (library / ".git/HEAD").unlink()
    else:
        shutil.rmtree(library / ".git")
    before = files_below(tmp_path), git(tmp_path, "rev-parse", "HEAD"), git(tmp_path, "count-objects")
    run(library, code=3)
    expected = "is damaged: git does not recognise it" if damage == "HEAD" else f"the repository of {tmp_path} does not hold"
    assert expected in capsys.readouterr().err
    assert (files_below(tmp_path), git(tmp_path, "rev-parse", "HEAD"), git(tmp_path, "count-objects")) == before


@pytest.mark.all
def test_the_repository_is_that_of_the_folder(library, newer, tmp_path, monkeypatch):  # noqa: F811
    """An update ignores a repository that environment variables name, as in a hook or in `git rebase --exec`."""
    unrelated = tmp_path / "other"
    unrelated.mkdir()
    git(unrelated, "init", "--quiet")
    git(unrelated, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    head = git(unrelated, "rev-parse", "HEAD")
    with monkeypatch.context() as hook:
        hook.setenv("GIT_DIR", str(unrelated / ".git"))
        hook.setenv("GIT_WORK_TREE", str(unrelated))
        hook.setenv("GIT_INDEX_FILE", str(unrelated / ".git/index"))
        run(library)
    assert git(unrelated, "rev-parse", "HEAD") == head and not (unrelated / "docs").exists()
    assert (library / "docs/new.md").exists()


@pytest.mark.all
@pytest.mark.parametrize("how", ["worktree", "submodule"])
def test_a_repository_elsewhere_that_names_the_folder(library, newer, tmp_path, how):  # noqa: F811
    folder = tmp_path / "elsewhere"
    if how == "worktree":
        git(library, "worktree", "add", "--quiet", folder, "-b", "other")
    else:
        outer = tmp_path / "whole"
        outer.mkdir()
        git(outer, "init", "--quiet")
        git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "inside")
        folder = outer / "inside"
    assert (folder / ".git").is_file()
    run(folder)
    assert (folder / "docs/new.md").exists() and git(folder, "status", "--porcelain") == ""


@pytest.mark.all
@pytest.mark.parametrize("how", ["file", "link"])
def test_a_repository_elsewhere_that_does_not_name_the_folder(library, newer, tmp_path, how, capsys):  # noqa: F811
    """An update rejects a repository that is elsewhere and does not belong to the folder, for example a user's
    repository to which the `.git` file of an archive refers."""
    clone = tmp_path / "other"
    shutil.copytree(library, clone)
    shutil.rmtree(library / ".git")
    if how == "file":
        (library / ".git").write_text("gitdir: ../other/.git\n")
    else:
        (library / ".git").symlink_to("../other/.git")
    before = files_below(clone), git(clone, "rev-parse", "HEAD"), git(clone, "count-objects")
    run(library, code=3)
    assert f"{library}/.git refers to the repository {clone}/.git, which does not list" in capsys.readouterr().err
    assert (files_below(clone), git(clone, "rev-parse", "HEAD"), git(clone, "count-objects")) == before


def in_another_repository(folder, tmp_path):
    outer = tmp_path / "whole"
    outer.mkdir()
    shutil.rmtree(folder / ".git")
    shutil.move(folder, outer / "fast_ops")
    git(outer, "init", "--quiet")
    return outer


@pytest.mark.all
def test_a_file_that_was_moved_out_of_the_library_is_not_changed(library, newer, tmp_path):  # noqa: F811
    outer = in_another_repository(library, tmp_path)
    commit(outer)
    (outer / "fast_ops/CONTRIBUTING.md").rename(outer / "CONTRIBUTING.md")
    commit(outer)
    (newer / "CONTRIBUTING.md").open("a").write("newer\n")
    text = (outer / "CONTRIBUTING.md").read_bytes()
    run(outer / "fast_ops", code=1)  # a conflict: the template changed a file that fast_ops lacks
    assert (outer / "CONTRIBUTING.md").read_bytes() == text
    assert git(outer, "diff", "--name-only", "--diff-filter=U") == "fast_ops/CONTRIBUTING.md\n"


@pytest.mark.all
def test_a_rendering_in_the_history_that_has_files_outside_the_library(library, newer, tmp_path, capsys):  # noqa: F811
    """A commit of a rendering is rejected if it has files outside the library: git would remove these files."""
    outer = in_another_repository(library, tmp_path)
    (outer / "mine").write_text("mine")
    (outer / "fast_ops/third_party/kernkit/RENDERED").write_text("touched\n")
    git(outer, "add", "--all")
    tree = git(outer, "write-tree").strip()
    git(outer, "commit", "--quiet", "-m", f"A rendering\n\nKernkit-template: 0.1.0 fast_ops {tree}")
    run(outer / "fast_ops", code=3)
    assert "the history does not contain the rendering" in capsys.readouterr().err
    assert (outer / "mine").read_text() == "mine"


@pytest.mark.all
def test_without_git(library, newer, monkeypatch, capsys):  # noqa: F811
    monkeypatch.setenv("PATH", "")
    assert cli.main(["update", "--library", str(library)]) == 3
    assert capsys.readouterr().err == "kernkit: git is not installed\n"


def test_new_where_git_cannot_make_a_repository(tmp_path, monkeypatch, capsys):
    """If git cannot create a repository, `kernkit new` still renders the library, and the message contains git's
    error."""
    settings = tmp_path / "settings"
    settings.write_text("[init]\ndefaultBranch = a..b\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert cli.main(["new", "fast_ops", "--output", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "no git repository was made: git init failed: fatal: invalid " in output
    assert (tmp_path / "fast_ops/kk").exists() and not (tmp_path / "fast_ops/.git").exists()


def test_an_update_that_is_interrupted(library, newer, monkeypatch, capsys):  # noqa: F811
    """If an update is interrupted after git has merged, but before the command has checked the merge, the command
    restores the earlier state."""

    def interrupt(*_):
        assert (library / "docs/new.md").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(update, "is_merged", interrupt)
    before = state(library)
    assert cli.main(["update", "--library", str(library)]) == 130
    assert capsys.readouterr().err == "kernkit: interrupted\n" and state(library) == before


def test_new_writes_nothing_into_the_home_of_the_user(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cli.main(["new", "fast_ops", "--output", str(tmp_path)]) == 0
    assert list((tmp_path / "home").iterdir()) == []


def test_no_other_module_calls_git(root):
    """Only project/git.py calls git, and it checks each exit code."""
    sources = (root / "sdk/python").rglob("*.py")
    callers = [path.name for path in sources if '"git"' in path.read_text() and path.name != "git.py"]
    assert callers == [] and "attempt" in dir(git_calls)
