# SPDX-License-Identifier: Apache-2.0
"""The pages keep the rules of words in CONTRIBUTING.

Run as a program, this file prints what breaks them: python tests/project/test_words.py [PAGE...]
"""

import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "template/{{cookiecutter.library_name}}/"

# Turns that make a reader guess, and what to write in their place.
TURNS = {
    r"\bto be had\b": "which call fails, and how",
    r"\bnothing forbids\b": "supported, untested or not supported",
    r"\b(?:is|are) meant to\b|\bshould work\b": "supported, untested or not supported",
    r"\bblamed? on\b": "who reports which error",
    r"\b(?:is|are) not there\b": "missing",
    r"\b(?:is|are|was|were) (?:said|told|answered|asked)\b": "who says it, to whom",
    r"\bnobody\b": "the property: uninitialised, unreadable",
    r"\bpast the caches?\b": "with non-temporal stores",
    r"\bof (?:yours|ours|theirs)\b": "your, kernkit's",
    r"\blies? (?:in|at|around|beside|under|behind)\b": "is in",
    r"\bstands? (?:in(?! for)|once|before|behind|beside)\b": "is in",
    r"\bbears? (?:the|its|a) name\b": "is named",
    r"\bhas it\b": "the source, in a link",
    r"\b(?:does|all|nothing) but for\b": "except",
    r"\b(?:what|who) else\b": "the rest, by name",
    r"\bgone? through by\b": "iterate",
    r"\bsentences? of refusal\b": "error message",
    r"\bwill do\b": "works",
}


def pages():
    """All that users read, new pages included. The CHANGELOG is history."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found += (ROOT / LIBRARY).rglob("*.md")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def texts(page):
    """A page as (kind, text): headings, paragraphs, items of lists, cells of tables, and blocks of
    code, which have no text. A code span is one word, a link is its text."""
    page = re.sub(r"<!--.*?-->\n?", "", page, flags=re.DOTALL)
    page = re.sub(r"^```.*?^```$", "\n@code\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"``.+?``|`[^`]+`", "CODE", page)
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    found, is_open = [], False
    for line in page.replace("**", "").splitlines():
        line = line.strip()
        item = re.match(r"(?:[-*]|\d+\.) +(.*)", line)
        if is_open and line and not item and line[0] not in "|#@":
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
            continue
        is_open = False
        if line.startswith("|"):
            if not re.fullmatch(r"[|: -]+", line):
                found += [("cell", cell.strip()) for cell in line.strip("|").split("|")]
        elif line == "@code":
            found.append(("code", ""))
        elif line.startswith("#"):
            found.append(("heading", line.lstrip("# ")))
        elif line:
            found.append(("item", item[1]) if item else ("paragraph", line))
            is_open = True
    return found


def sentences(text):
    """A sentence ends at . ? or !, not at a colon or a semicolon."""
    return re.split(r"(?<=[.?!])[)\"]* +", text)


def faults(page):
    """What breaks a rule in the text of a page, a line for each."""
    found, parts = [], texts(page)
    for (kind, text), (after, _) in zip(parts, [*parts[1:], ("end", "")]):
        if kind == "heading" and after != "paragraph":
            found.append(f"{text}: begins with no sentence")
        for sentence in sentences(text):
            for turn, instead in TURNS.items():
                for hit in re.findall(turn, sentence, re.IGNORECASE):
                    found.append(f'"{hit}", not: {instead}: {sentence}')
    return found


@pytest.mark.parametrize("page", pages())
def test_page_keeps_the_rules(page):
    found = faults((ROOT / page).read_text())
    assert found == [], (
        f"{page} breaks the rules of words in CONTRIBUTING {len(found)} times; "
        f"all of them: python tests/project/test_words.py '{page}'\n" + "\n".join(found[:30])
    )


@pytest.mark.parametrize(
    "text, fault",
    [
        ("- Short.\n- A call to\nbe had.", '"to be had"'),
        ("Memory that is not to be had.", '"to be had", not: which call fails'),
        ("Linux, nothing\nforbids aarch64.", '"nothing forbids", not: supported, untested'),
        ("An error is not blamed on it.", '"blamed on"'),
        ("Text.\n## Task\n\n| a |\n|---|", "Task: begins with no sentence"),
        ("Text.\n## Task\n```sh\nls\n```", "Task: begins with no sentence"),
    ],
)
def test_a_fault_is_found(text, fault):
    assert len(faults(text)) == 1 and faults(text)[0].startswith(fault)


def test_what_keeps_the_rules():
    for text in (
        "A sentence. Another one!",
        "- An item\n- Another",
        "```\nnothing forbids this\n```",
        "[It stops](if.md) when told.\n\n## Task\n\nA sentence.",
        "# Task\n\nA sentence says `if`, `when`: nothing else.",
    ):
        assert faults(text) == []


@pytest.fixture(scope="module")
def glossary():
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs/words.md").read_text(), re.MULTILINE)
    assert len(rows) > 20
    return rows


def test_glossary_is_sorted_and_used(glossary):
    assert glossary == sorted(glossary, key=str.lower) and len(set(glossary)) == len(glossary)
    files = [ROOT / page for page in pages() if page != "docs/words.md"]
    files += (ROOT / "sdk/include").rglob("*.h")
    used = " ".join(file.read_text() for file in files).lower().replace("_", " ")
    for word in glossary:
        assert f" {word.lower()}" in used, f"no page and no header uses the word {word}"


def test_pages_link_the_glossary(glossary):
    for page in pages():
        if page.startswith("docs/") and page != "docs/words.md":
            assert "(words.md" in (ROOT / page).read_text(), f"{page} has no link to words.md"


if __name__ == "__main__":
    for name in sys.argv[1:] or pages():
        broken = faults((ROOT / name).read_text())
        print(f"{name}: {len(broken)}", *(broken if sys.argv[1:] else []), sep="\n  ")
