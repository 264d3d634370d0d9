# SPDX-License-Identifier: Apache-2.0
"""`kernkit remove` removes all files of an op, and no file of another op."""

import subprocess

import pytest
from kernkit import cli
from rendering import files_below
from test_add import library  # noqa: F401

SCHEMA = "(Tensor(a!) y, Tensor x) -> ()"


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def before(library):  # noqa: F811
    """Creates a git repository in the library and adds the op swish_more, whose name begins like that of the removed
    op; returns the library's files."""
    assert cli.main(["add", "swish_more", SCHEMA]) == 0
    (library / "kernels/CMakeLists.txt").open("a").write("\n# the end\n")
    git(library, "init", "--quiet")
    return files_below(library)


def test_files_of_add_are_removed(library, before, capsys):  # noqa: F811
    assert cli.main(["add", "swish", SCHEMA]) == 0
    listing = library / "kernels/CMakeLists.txt"
    listing.write_text(listing.read_text().replace("fast_ops swish)", "fast_ops swish\n  SOURCES detail/more.cu  # more\n  GPU_ONLY)"))
    (library / "kernels/swish/detail").mkdir()
    (library / "kernels/swish/detail/more.cu").write_text("// more\n")
    (library / "tests/test_swish.py").write_text("# of Python\n")
    git(library, "add", "--all")
    git(library, "commit", "--quiet", "-m", "start")
    capsys.readouterr()
    assert cli.main(["remove", "swish"]) == 0
    output = capsys.readouterr().out
    assert output == ("removed kernels/swish\nremoved tests/swish_test.cc\nremoved tests/test_swish.py\n"
                    "removed bench/swish_bench.cc\nno file names swish\n")  # fmt: skip
    assert files_below(library) == before


@pytest.mark.parametrize(
    "name, change, sentence",
    [
        ("nothing", None, "kernels/nothing/nothing_export.cc not found; name an op whose files are in kernels/"),
        ("../kernels/swish_more", None, "kernels/../kernels/swish_more/"),
        ("swish_more", "kernels/swish_more/swish_more.cc", "git could not restore swish_more"),
        ("swish_more", "kernels/other.cc", "kernels/other.cc includes a header of swish_more; remove the #include first"),
    ],
)
def test_removals_that_would_lose_or_break_files_are_rejected(library, before, capsys, name, change, sentence):  # noqa: F811
    git(library, "add", "--all")
    git(library, "commit", "--quiet", "-m", "start")
    if change:
        (library / change).open("a").write('#include "swish_more/swish_more.h"\n')
    before_removal = files_below(library)
    assert cli.main(["remove", name]) == 3
    assert sentence in capsys.readouterr().err
    assert files_below(library) == before_removal
    if change == "kernels/swish_more/swish_more.cc":
        assert cli.main(["remove", name, "--force"]) == 0


def test_an_op_that_another_op_uses_is_kept(library, before, capsys):  # noqa: F811
    listing = library / "kernels/CMakeLists.txt"
    more = "kernkit_add_kernel(fast_ops other SOURCES swish_more.cc USES\n  third swish_more CPU_ONLY)\n"
    listing.write_text(listing.read_text() + more)
    committed(library)
    before_removal = files_below(library)
    assert cli.main(["remove", "swish_more"]) == 3
    assert "kernels/CMakeLists.txt: USES of other names swish_more; remove the name first" in capsys.readouterr().err
    assert files_below(library) == before_removal
    listing.write_text(listing.read_text().replace("third swish_more", "third"))
    committed(library)
    assert cli.main(["remove", "swish_more"]) == 0


def committed(library):  # noqa: F811
    git(library, "add", "--all")
    git(library, "commit", "--quiet", "-m", "start")


@pytest.mark.parametrize(
    "listing, remaining",
    [
        ("a()\nkernkit_add_kernel(fast_ops swish) kernkit_add_kernel(fast_ops other)\n", "a()\nkernkit_add_kernel(fast_ops other)\n"),
        ("kernkit_add_kernel(fast_ops other) kernkit_add_kernel(fast_ops swish)\nb()", "kernkit_add_kernel(fast_ops other)\nb()"),
        ("a()\nkernkit_add_kernel(fast_ops swish)", "a()\n"),
        ("a()\r\nkernkit_add_kernel(fast_ops swish)\r\nb()\r\n", "a()\r\nb()\r\n"),
        ("a()\n  Kernkit_Add_Kernel( \"${name}\"\n swish # )\n SOURCES [=[)]=] \")\" ) # its\nb()\n", "a()\nb()\n"),
        ("# kernkit_add_kernel(a swish)\n#[[\nkernkit_add_kernel(a swish)\n]]\na(\"\nkernkit_add_kernel(a swish)\n\")\n", None),
        ("kernkit_add_kernel(a swish_more)\nkernkit_add_kernel(swish other)\n", None),
        ("if(X) kernkit_add_kernel(a swish) endif()\n", "if(X) endif()\n"),
    ],
)
def test_the_call_goes_and_no_other_text(library, listing, remaining):  # noqa: F811
    assert cli.main(["add", "swish", SCHEMA]) == 0
    git(library, "init", "--quiet")
    (library / "kernels/CMakeLists.txt").write_bytes(listing.encode())
    committed(library)
    assert cli.main(["remove", "swish"]) == 0
    assert (library / "kernels/CMakeLists.txt").read_bytes().decode() == (listing if remaining is None else remaining)
    assert not (library / "kernels/swish").exists()


def test_a_call_that_does_not_end_is_an_error(library, capsys):  # noqa: F811
    assert cli.main(["add", "swish", SCHEMA]) == 0
    (library / "kernels/CMakeLists.txt").open("a").write("kernkit_add_kernel(fast_ops other")
    before = files_below(library)
    assert cli.main(["remove", "swish", "--force"]) == 3
    assert "kernels/CMakeLists.txt: a command has no closing parenthesis; correct the file first" in capsys.readouterr().err
    assert files_below(library) == before


@pytest.mark.parametrize("hidden", ["ignored", "untracked", "assumed", "skipped", "nested"])
def test_files_that_git_does_not_hold_are_not_removed(library, hidden, capsys):  # noqa: F811
    """`kernkit remove` keeps files whose content git does not have, even if `git status` does not list them."""
    assert cli.main(["add", "swish", SCHEMA]) == 0
    git(library, "init", "--quiet")
    (library / ".gitignore").write_text("*.dat\n")
    committed(library)
    path = library / "kernels/swish/swish.cc"
    if hidden == "ignored":
        path = library / "kernels/swish/table.dat"
    elif hidden == "untracked":
        path = library / "kernels/swish/table.h"
        git(library, "config", "status.showUntrackedFiles", "no")
    elif hidden == "nested":
        path = library / "kernels/swish/data/file"
        path.parent.mkdir()
        git(path.parent, "init", "--quiet")
    else:
        git(library, "update-index", "--assume-unchanged" if hidden == "assumed" else "--skip-worktree", "kernels/swish/swish.cc")
    path.write_text("mine\n")
    before = files_below(library)
    assert cli.main(["remove", "swish"]) == 3
    assert "git could not restore swish: its files are not committed (" in capsys.readouterr().err
    assert files_below(library) == before
    assert cli.main(["remove", "swish", "--force"]) == 0
    assert not (library / "kernels/swish").exists()


def test_without_a_repository_files_that_name_the_op_are_not_denied(library, capsys):  # noqa: F811
    assert cli.main(["add", "swish", SCHEMA]) == 0
    assert cli.main(["remove", "swish"]) == 3
    capsys.readouterr()
    assert cli.main(["remove", "swish", "--force"]) == 0
    assert "files that name swish are not listed: git grep failed: " in capsys.readouterr().out
