# SPDX-License-Identifier: Apache-2.0
"""Every code block of the documentation is a copy from a file that is built and tested. Run as a program, this file
copies every block again: python tests/project/test_docs.py"""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OF_ROOT = ("README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "AGENTS")
PAGES = [*(ROOT / f"{name}.md" for name in OF_ROOT), *sorted((ROOT / "docs").rglob("*.md"))]
sys.path.insert(0, str(ROOT / "docs/site"))
from regions import BLOCK, CODE, cut  # noqa: E402


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_equal_their_source(page):
    text = page.read_text()
    for file, region, block in BLOCK.findall(text):
        assert block == cut(ROOT, file, region), (
            f"{page.name}: the block from {file} is outdated; run python tests/project/test_docs.py"
        )
    assert len(re.findall("^<!-- from ", text, re.MULTILINE)) == len(BLOCK.findall(text))
    # A block without a source must not be C++ or Python, because such code could become outdated.
    unclaimed = BLOCK.sub("", text)
    assert not CODE.search(unclaimed)


def without_code(page):
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Returns the anchors of the headings, as GitHub generates them."""
    headings = re.findall("^#+ (.*)$", without_code(page), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_exist(page):
    text = re.sub("`[^`\n]*`", "", without_code(page))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_messages_are_those_of_the_tests():
    """Every message that a page quotes is in a test, word by word; … matches any text."""
    folders = [ROOT / "tests", ROOT / "sdk/simulator/tests"]
    patterns = ["*_test.cc", "test_*.py", "rejected/*.cu"]
    tests = [path for folder in folders for pattern in patterns for path in folder.rglob(pattern)]
    # Joins adjacent string literals.
    texts = "".join(re.sub(r'"\s+"', "", path.read_text()) for path in tests)
    texts = texts.replace('\\"', '"')
    quoted = 0
    for page in PAGES:
        for text in re.findall(r"`((?:\w+Error|kernkit|faulty::\w+): [^`]*)`", without_code(page)):
            if "Check failed" in text or "Unsupported dtype" in text:
                continue  # another project's message, which no test here contains
            quoted += 1
            for part in " ".join(text.split()).split("…"):
                assert part in texts, f"{page.name}: the message is in no test: {part}"
    assert quoted > 25


READS = [r"(?:getenv|\bvariable)\(\"(\w+)\"", r"number_(?:of|from)\(\"([A-Z]\w+)\"", r"\bENV\{(\w+)\}", r"[$]env\{(\w+)\}",
         r"environ(?:\.\w+\(|\[)\"(\w+)\"", r"[$]\{(KK_\w+|\w+):-"]  # in C++, CMake, presets, Python, ./kk  # fmt: skip


def read_from_the_environment():
    """Returns the names of environment variables that a user's programs read."""
    names = set()
    for folder in ("sdk", "kernels", "bench", "template"):
        for file in (ROOT / folder).rglob("*"):
            if "tests" in file.relative_to(ROOT / folder).parts[:-1] and folder == "sdk":
                continue
            if file.suffix in (".h", ".cc", ".cuh", ".cu", ".cmake", ".txt", ".py", ".json", ".sh") or file.name == "kk":
                text = file.read_text(errors="replace")
                names |= {name for pattern in READS for name in re.findall(pattern, text)}
    return names - {"PWD"}  # set by shells


def test_every_environment_variable_is_in_the_table():
    (table,) = re.findall(r"\n\| variable \|.*?\n\n.*?\n", (ROOT / "docs/command-line.md").read_text(), re.DOTALL)
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) + [table.rpartition("\n\n")[2]]
    listed = re.findall(r"`(\w+)`", " ".join(cells))
    assert len(listed) == len(set(listed))
    assert {"KERNKIT_SEED", "KK_VENV", "CUDAARCHS"} <= read_from_the_environment()
    assert set(listed) == read_from_the_environment() | {"PYTHONPATH"}
    rows = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert rows == sorted(rows)


def test_each_page_names_the_next():
    """Each page links to the next page in the order of README's table; the glossary is the last page."""
    table = re.search(r"^\| question \|.*?\n\n", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    order = [*re.findall(r"\(docs/([\w-]+\.md)\)", table), "glossary.md"]
    assert len(order) == len(set(order)) == len(list((ROOT / "docs").glob("*.md")))
    for page, following in zip(order, order[1:]):
        named = re.findall(r"^Next: \[[^]]+\]\(([\w-]+\.md)\)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
        assert named == [following], f"{page} must end with Next: [...]({following})"


def folders_of(root):
    """Returns the folders of the repository, with the folders in sdk/, such as "sdk/include/", in place of sdk/."""
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("this copy has no git repository")
    parts = [path.split("/") for path in tracked.stdout.splitlines() if path[0] != "."]
    depth = {"sdk": 2}
    return {"/".join(p[: depth.get(p[0], 1)]) + "/" for p in parts if len(p) > depth.get(p[0], 1)}


def test_readme_lists_every_folder_and_page():
    text = (ROOT / "README.md").read_text()
    table = re.search(r"^\| folder \|.*?\n\n", text, re.MULTILINE | re.DOTALL)[0]
    listed = re.findall("`([^`]+/)`", table)
    assert sorted(listed) == sorted(folders_of(ROOT))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert pages - set(re.findall(r"\(docs/([\w-]+\.md)", text)) == set()


def test_the_costs_are_those_of_the_record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/python"))
    import costs

    record = json.loads((ROOT / "bench/results/cpu/costs_amd_25_1.json").read_text())
    text = (ROOT / "README.md").read_text()
    assert costs.table(record) in text
    for name, version in record["packages"].items():
        assert version.startswith(re.search(rf"{'PyTorch' if name == 'torch' else name} ([\d.]+)", text)[1])
    assert record["processor"] == "AMD family 25 model 1" and "AMD processor (family 25, model 1)" in text


def test_the_times_of_readme_are_those_of_the_record():
    record = json.loads((ROOT / "bench/results/cpu/bare_systems_amd_25_17.json").read_text())
    seconds = {row["step"]: round(row["wall_s"]) for row in record["rows"] if row["code"] == 0}
    demo, test, new, all_, add = (f"{seconds[step]} s" for step in ("demo", "test", "new", "all", "add"))
    text = " ".join((ROOT / "README.md").read_text().split())
    assert record["cores"] == 2 and f"took {demo}, {test}, {new}, {all_} and {add}, with" in text


def test_readme_prints_the_documented_output_and_error(tmp_path):
    environment = {**os.environ, "TVM_FFI_CACHE_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "tests/interop/readme.py"], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    text = (ROOT / "README.md").read_text()
    assert result.stdout == re.search(r"print\(y\)  # (.*)", text)[1] + "\n", result.stderr
    assert result.stderr.splitlines()[-1] == re.search(r"```text\n(\w+Error: .*)\n```", text)[1]


def cut_anew(page):
    def block(match):
        new = cut(ROOT, match[1], match[2])
        return match[0].replace("\n" + match[3] + "```", "\n" + new + "```")

    page.write_text(BLOCK.sub(block, page.read_text()))


if __name__ == "__main__":
    for documentation in PAGES:
        cut_anew(documentation)
