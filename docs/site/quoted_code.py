# SPDX-License-Identifier: Apache-2.0
"""A code block that follows the comment `<!-- from FILE [region] -->` is cut from a file that tests build. Its caption names
the file."""

import re
from typing import Any, Dict, List

from sphinx.application import Sphinx
from source_links import source_link

_BLOCK = re.compile(r"^(?P<comment><!-- from (?P<file>\S+?)(?: \[\w+\])? -->)\n```(?P<language>\w+)\n", re.MULTILINE)


def add_captions(app: Sphinx, document: str, content: List[str]) -> None:
    def captioned(found: "re.Match[str]") -> str:
        caption = source_link(app.config, found["file"], found["file"])
        return f"{found['comment']}\n```{{code-block}} {found['language']}\n:caption: {caption}\n\n"

    content[0] = _BLOCK.sub(captioned, content[0])


def setup(app: Sphinx) -> Dict[str, Any]:
    app.connect("source-read", add_captions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
