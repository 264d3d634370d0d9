# SPDX-License-Identifier: Apache-2.0
"""Replaces fences `{name} argument` without content by generated Markdown when the site is built."""

import re
from typing import Callable, List

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def write_fence(app: Sphinx, name: str, write: Callable[[str], str]) -> None:
    """Replaces each fence `{name} argument` by the result of `write(argument)`. An OSError or a ValueError of `write`
    stops the build with a message that names the page."""
    fence = re.compile(rf"^```\{{{name}\}} (.+)\n```$", re.MULTILINE)

    def expand(_: Sphinx, document: str, content: List[str]) -> None:
        try:
            content[0] = fence.sub(lambda found: write(found[1]), content[0])
        except (OSError, ValueError) as error:
            raise ExtensionError(f"{document}.md: {{{name}}}: {error}") from error

    app.connect("source-read", expand)
