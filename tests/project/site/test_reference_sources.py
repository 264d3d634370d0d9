# SPDX-License-Identifier: Apache-2.0
"""The parts of the site that read headers, CMake files and comments."""

import pathlib
import re
import shutil
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs/site"))
import cmake_functions  # noqa: E402
import comment_rules  # noqa: E402
import comment_text  # noqa: E402
import doxygen  # noqa: E402
import missing_comments  # noqa: E402
import public_headers  # noqa: E402
from source_address import source_link  # noqa: E402
from symbols import Symbol, public_symbols  # noqa: E402

OPENING = "<!-- from "
# Pages without code: a table of pages, and the help texts of commands.
WITHOUT_EXAMPLE = {"index.md", "commands.md"}


def test_every_public_name_has_a_comment(capsys):
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    assert missing_comments.main([]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", sorted((ROOT / "docs/reference").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_opens_with_an_example(page):
    begin = page.read_text().partition("\n```{")[0]
    assert (OPENING in begin) == (page.name not in WITHOUT_EXAMPLE)


def test_each_header_is_on_one_page():
    text = "".join(path.read_text() for path in (ROOT / "docs/reference").glob("*.md"))
    listed = re.findall(r"^```\{header\} (\S+)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(public_headers.public_headers())


HEADER = """// A header.
#pragma once

#define KERNKIT_PLANTED(x) \\
  (x)
typedef struct Planted {
  int count;
} Planted;

namespace kernkit {
namespace detail {

#define KERNKIT_HIDDEN(x) \\
  (x)
int hidden();

}  // namespace detail

const char* brace = "{";
int shown();

}  // namespace kernkit
#undef KERNKIT_HOOK
/// Another definition.
#define KERNKIT_HOOK 1
"""


def test_a_copy_has_the_lines_of_its_header():
    copy = public_headers.grouped("kernkit/planted.h", HEADER).split("\n")
    for number, line in enumerate(HEADER.split("\n")):
        tokens = line.split()
        if tokens and tokens[0] in ("int", "const", "namespace", "#define") and "HIDDEN" not in line and "HOOK" not in line:
            assert tokens[1] in copy[number]
    text = "\n".join(copy)
    assert "KERNKIT_PLANTED" in text and "KERNKIT_HIDDEN" not in text and "KERNKIT_HOOK 1" not in text
    assert "struct Planted {" in text and "typedef" not in text
    assert text.count("/** @{ */") == text.count("/** @} */") == 5


def named(name, comment, **more):
    values = {"identity": "1", "kind": "method", "name": name, "declaration": name, "header": "kernkit/a.h", "line": 1,
              "comment": comment, "group_comment": "", "needs_comment": True}  # fmt: skip
    return Symbol(**{**values, **more})


@pytest.mark.parametrize(
    "symbol, fault",
    [
        (named("kernkit::Tensor::dtype", ""), "no comment"),
        (named("kernkit::Tensor::dtype", "", needs_comment=False), ""),
        (named("kernkit::Tensor::dtype", "The dtype."), "only repeats the name"),
        (named("kernkit::Tensor::dtype", "Returns the tensor's dtype."), "only repeats the name"),
        (named("kernkit::is_contiguous", "Whether it is contiguous."), "only repeats the name"),
        (named("kernkit::Tensor::numel", "Number of elements."), ""),
        (named("kernkit::Kind::kOnce", "", group_comment="When an error occurs."), ""),
        (named("kernkit::Kind::kOnce", "", kind="enumerator"), "no comment"),
    ],
)
def test_faults_of_comments(symbol, fault):
    assert comment_rules.fault_of(symbol) == fault


@pytest.mark.parametrize(
    "text, expected",
    [
        ("One line\nand another.\n\nNext.", "One line and another.\n\nNext."),
        ("A pointer of type T* and `x*`.", r"A pointer of type T\* and `x*`."),
        ("Makes <name>_objects.", "Makes `<name>_objects`."),
        ("See docs/tools.md.", "See [`docs/tools.md`](/docs/tools.md)."),
        ("Options:\n  DIR    folder of\n         the op\n  A, B   more", "Options:\n\n- `DIR`: folder of the op\n- `A, B`: more"),
        ("As in:\n\n    scale(y, x, 2.0);", "As in:\n\n```text\nscale(y, x, 2.0);\n```"),
        ("With --all or -x.", "With `--all` or -x."),
    ],
)
def test_comments_as_markdown(text, expected):
    assert comment_text.markdown(text) == expected


def test_cmake_functions(tmp_path):
    file = tmp_path / "A.cmake"
    file.write_text("# A.\n\n# kernkit_one(<a>\n#             [B])\n#\n# Adds a.\nfunction(kernkit_one a)\nendfunction()\n\n"
                    "# Other.\nmacro(kernkit_two)\nendmacro()\nfunction(_kernkit_private)\nendfunction()\n")  # fmt: skip
    first, second = cmake_functions.functions_of(file)
    assert (first.name, first.signature, first.text) == ("kernkit_one", "kernkit_one(<a>\n            [B])", "Adds a.")
    assert (second.name, second.signature) == ("kernkit_two", "")
    assert len(cmake_functions.public_functions()) > 10


def test_doxygen_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="doxygen is missing; install it: sudo apt-get install doxygen"):
        doxygen.run_doxygen(tmp_path / "out")


def test_doxygen_reports_an_unreadable_comment(monkeypatch, tmp_path):
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    header = tmp_path / "sdk/include/kernkit/planted.h"
    header.parent.mkdir(parents=True)
    header.write_text("#pragma once\n\nnamespace kernkit {\n\n/// Reads a <planted> word.\nint word(int x);\n\n}  // namespace kernkit\n")
    for module in (public_headers, doxygen):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(RuntimeError, match=r"kernkit/planted.h:5: warning: Unsupported xml/html tag <planted> found"):
        doxygen.run_doxygen(tmp_path / "out")
    header.write_text(header.read_text().replace("<planted>", "planted"))
    (symbol,) = public_symbols(doxygen.run_doxygen(tmp_path / "out"))
    assert (symbol.declaration, symbol.header, symbol.line) == ("kernkit::word(int x)", "kernkit/planted.h", 6)
    assert symbol.comment == "Reads a planted word." and symbol.is_callable


@pytest.mark.parametrize("address", ["", "https://example.org/k"])
def test_links_to_sources(address):
    config = types.SimpleNamespace(source_url=address, source_revision="v1")
    file, folder = source_link(config, "docs/site/conf.py", "conf.py"), source_link(config, "docs", "docs")
    assert file == (f"[`conf.py`]({address}/blob/v1/docs/site/conf.py)" if address else "`conf.py`")
    assert folder == (f"[`docs`]({address}/tree/v1/docs)" if address else "`docs`")
