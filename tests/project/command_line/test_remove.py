# SPDX-License-Identifier: Apache-2.0
"""`kernkit remove`: nothing of an op stays, nothing of another's goes."""

import subprocess

import pytest
from kernkit import cli
from rendering import files_below
from test_add import library  # noqa: F401

SCHEMA = "(Tensor(a!) y, Tensor x) -> ()"


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def before(library):  # noqa: F811
    """A library with an op of a similar name, committed; gives its files."""
    assert cli.main(["add", "swish_more", SCHEMA]) == 0
    (library / "kernels/CMakeLists.txt").open("a").write("\n# the end\n")
    git(library, "init", "--quiet")
    return files_below(library)


def test_what_add_wrote_goes(library, before, capsys):  # noqa: F811
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
    said = capsys.readouterr().out
    assert said == ("removed kernels/swish\nremoved tests/swish_test.cc\nremoved tests/test_swish.py\n"
                    "removed bench/swish_bench.cc\nnothing names swish any more\n")  # fmt: skip
    assert files_below(library) == before


@pytest.mark.parametrize(
    "name, change, sentence",
    [
        ("nothing", None, "there is no kernels/nothing/nothing_export.cc; name an op whose files are in kernels/"),
        ("../kernels/swish_more", None, "there is no kernels/../kernels/swish_more/"),
        ("swish_more", "kernels/swish_more/swish_more.cc", "git could not bring swish_more back"),
        ("swish_more", "kernels/other.cc", "kernels/other.cc includes a header of swish_more; edit it first"),
    ],
)
def test_what_would_be_lost_or_break_is_refused(library, before, capsys, name, change, sentence):  # noqa: F811
    git(library, "add", "--all")
    git(library, "commit", "--quiet", "-m", "start")
    if change:
        (library / change).open("a").write('#include "swish_more/swish_more.h"\n')
    there = files_below(library)
    assert cli.main(["remove", name]) == 3
    assert sentence in capsys.readouterr().err
    assert files_below(library) == there
    if change == "kernels/swish_more/swish_more.cc":
        assert cli.main(["remove", name, "--force"]) == 0
