# SPDX-License-Identifier: Apache-2.0
"""The site's navigation: README's table of pages becomes a tree of pages for each group of rows. The first column of
a row begins with its group, as in "Start: how do I get a library?". The pages to which the tables of
docs/reference/index.md and docs/gallery.md link become the pages below these two pages.
"""

import re
from typing import Any, Dict, List

from sphinx.application import Sphinx

_TABLE = re.compile(r"^\| (?:question|topic) \|.*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([\w/-]+\.md)(?:#[\w-]+)?\)")
INDEXES = ("docs/reference/index", "docs/gallery")
# Group of the pages that README links outside of its table of pages.
OTHERS = {"More": ["docs/glossary.md", "CONTRIBUTING.md", "CHANGELOG.md"]}


def groups(text: str) -> Dict[str, List[str]]:
    """Returns {group: its pages} from README's table of pages, in the order of the table."""
    found: Dict[str, List[str]] = {}
    for row in _TABLE.findall(text)[0].splitlines()[2:]:
        question, _, pages = row.strip("| ").partition(" | ")
        found.setdefault(question.partition(":")[0], []).extend(_LINK.findall(pages))
    return {group: pages for group, pages in found.items() if pages}


def toctree(caption: str, pages: List[str]) -> str:
    heading = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{heading}\n" + "\n".join(pages) + "\n```\n"


def add_toctrees(app: Sphinx, document: str, content: List[str]) -> None:
    if document == app.config.root_doc:
        for caption, pages in {**groups(content[0]), **OTHERS}.items():
            content[0] += toctree(caption, [f"/{page}" for page in pages])
    elif document in INDEXES:
        pages = [page for table in _TABLE.findall(content[0]) for page in _LINK.findall(table)]
        # Removes duplicates, because two rows may link to one page.
        content[0] += toctree("", list(dict.fromkeys(pages)))


def setup(app: Sphinx) -> Dict[str, Any]:
    app.connect("source-read", add_toctrees)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
