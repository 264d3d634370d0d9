# SPDX-License-Identifier: Apache-2.0
"""Expands the fence `{header} kernkit/tensor.h` into the introduction of the header and its public names with their
comments."""

import re
from typing import Any, Dict

from comment_text import markdown
from fences import write_fence
from public_headers import ROOT, group_of, source_of
from source_address import source_link
from sphinx.application import Sphinx


def introduction(text: str) -> str:
    """Returns the comment at the top of a header, without the licence line and the comment signs."""
    lines = []
    for line in text.split("\n"):
        if not re.match(r"/[/*]| \*", line):
            break
        lines.append(re.sub(r"^// ?|^/\*+ ?|^ \*/|^ \* ?|\*/$", "", line).rstrip())
    return "\n".join(line for line in lines if "SPDX-License-Identifier" not in line).strip("\n")


def setup(app: Sphinx) -> Dict[str, Any]:
    def reference(header: str) -> str:
        """Returns the Markdown of a header: its introduction and its public names."""
        source = source_of(header)
        begin = markdown(introduction((ROOT / source).read_text()))
        members = f"```{{doxygengroup}} {group_of(header)}\n:content-only:\n:members:\n```"
        return f"## {source_link(app.config, str(source), header)}\n\n{begin}\n\n{members}"

    write_fence(app, "header", reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
