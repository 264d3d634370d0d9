# SPDX-License-Identifier: Apache-2.0
"""Links C++ names that Sphinx does not find in their scope, such as names of a using-declaration.

A name with exactly one documented symbol, in any namespace, leads to that symbol.
"""

import collections
from typing import Any, Dict, List, Optional, Tuple

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_KINDS = ("class", "type", "enum", "member", "enumerator", "union", "alias")
Target = Tuple[str, str]  # page and anchor


class UsedNames:
    """The documented types and constants. A symbol is found by each suffix of its name, such as `schema::Type` and
    `Type`."""

    def __init__(self) -> None:
        self.targets: Dict[str, List[Target]] = collections.defaultdict(list)

    def collect(self, env: BuildEnvironment) -> None:
        self.targets.clear()
        for name, _, kind, document, anchor, _ in env.get_domain("cpp").get_objects():
            if kind in _KINDS:
                parts = name.split("::")
                for begin in range(len(parts)):
                    self.targets["::".join(parts[begin:])].append((document, anchor))

    def resolve(
        self, app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
    ) -> Optional[nodes.Element]:
        found = self.targets.get(node["reftarget"], []) if node.get("refdomain") == "cpp" else []
        if len(found) != 1:
            return None
        document, anchor = found[0]
        page = app.builder.get_relative_uri(node["refdoc"], document)
        return nodes.reference("", "", content, internal=True, refuri=f"{page}#{anchor}")


def setup(app: Sphinx) -> Dict[str, Any]:
    names = UsedNames()
    app.connect("env-check-consistency", lambda app, env: names.collect(env))
    app.connect("missing-reference", names.resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
