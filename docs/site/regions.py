# SPDX-License-Identifier: Apache-2.0
"""Code blocks of pages that are cut from files: `<!-- from FILE [region] -->` above a block names the file, and the
lines between `// [region]` and `// [/region]` of the file are the block. Without a region the block is the whole
file."""

import pathlib
import re
import textwrap
from typing import Optional

BLOCK = re.compile(r"<!-- from (\S+?)(?: \[(\w+)\])? -->\n```\w*\n(.*?)```\n", re.DOTALL)
CODE = re.compile(r"```(cpp|c|cuda|python)\b")  # languages whose blocks must be cut from a file


def cut(root: pathlib.Path, file: str, region: Optional[str]) -> str:
    """Returns the text of a file or of its region, as a page shows it. Raises ValueError if the file or the region does
    not exist."""
    if not (root / file).is_file():
        raise ValueError(f"{file} does not exist")
    text = (root / file).read_text()
    if not region:
        return text
    found = re.search(rf"(?://|#) \[{region}\]\n(.*?) *(?://|#) \[/{region}\]", text, re.DOTALL)
    if not found:
        raise ValueError(f"{file} has no region {region}")
    inner = re.sub(r"^ *(?://|#) \[/?\w+\]\n", "", found[1], flags=re.MULTILINE)  # removes the markers of other regions
    return textwrap.dedent(inner)
