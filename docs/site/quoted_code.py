# SPDX-License-Identifier: Apache-2.0
"""Sets the file as the caption of each code block that is cut from a file, and warns if the block differs from the
file."""

import re
from typing import Any, Dict, List

from public_headers import ROOT
from regions import BLOCK, CODE, cut
from source_address import source_link
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
CUT_ANEW = "copy the code again: python tests/project/test_docs.py"


def check(document: str, text: str) -> None:
    for file, region, block in BLOCK.findall(text):
        try:
            is_old = block != cut(ROOT, file, region)
        except ValueError as error:
            LOGGER.warning("%s", error, location=document)
            continue
        if is_old:
            LOGGER.warning("the block from %s differs from the file; %s", file, CUT_ANEW, location=document)
    for language in CODE.findall(BLOCK.sub("", text)):
        LOGGER.warning("a block of %s is not cut from a file; name a file that tests build", language, location=document)


def add_captions(app: Sphinx, document: str, content: List[str]) -> None:
    check(document, content[0])

    def captioned(found: "re.Match[str]") -> str:
        comment, _, code = found[0].partition("\n")
        fence, _, code = code.partition("\n")
        caption = source_link(app.config, found[1], found[1])
        return f"{comment}\n```{{code-block}} {fence[3:]}\n:caption: {caption}\n\n{code}"

    content[0] = BLOCK.sub(captioned, content[0])


def setup(app: Sphinx) -> Dict[str, Any]:
    app.connect("source-read", add_captions, priority=400)  # runs before fences are replaced
    return {"parallel_read_safe": True, "parallel_write_safe": True}
