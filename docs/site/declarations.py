# SPDX-License-Identifier: Apache-2.0
"""Sorts the declarations on a header's page by their order in the header, shows their namespaces, and sets their
entries in "On this page".

Breathe shows a header's declarations by kind, and classes without their namespace. Entries of members are left out: they
would make "On this page" ten times as long, and the build slower by half.
"""

import pathlib
from typing import Any, Dict, List, Set, Tuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from symbols import public_symbols

OWN = "kernkit::"  # the namespace that entries of "On this page" leave out


class Lines:
    """The line of each public declaration in its header, by Doxygen's id. Read once, at the start of a build."""

    of_id: Dict[str, int] = {}

    @classmethod
    def read(cls, app: Sphinx) -> None:
        xml = pathlib.Path(app.config.breathe_projects["kernkit"])
        cls.of_id = {symbol.identity: symbol.line for symbol in public_symbols(xml)}


def line_of(declaration: addnodes.desc) -> int:
    found = [Lines.of_id[name] for target in declaration[0].findall(nodes.target) for name in target["ids"]
             if name in Lines.of_id]  # fmt: skip
    return found[0] if found else 0


class Declarations(SphinxTransform):
    default_priority = 870  # runs before DoctreeReadEvent, which collects the entries of "On this page"

    def apply(self, **_: Any) -> None:
        for section in self.document.findall(nodes.section):
            self.sort(section)
        named: Set[str] = set()
        for signature in self.document.findall(addnodes.desc_signature):
            if signature.parent.get("domain") in ("cpp", "c"):
                self.name(signature, named)
        for description in self.document.findall(addnodes.desc):
            if description.get("domain") == "cpp":
                for block in description.findall(nodes.literal_block):
                    block["language"], block["force"] = "cpp", True

    @staticmethod
    def name(signature: addnodes.desc_signature, named: Set[str]) -> None:
        """Shows a declaration with its namespace, and sets its entry in "On this page". Members, specialisations,
        overloads and anonymous enums have no entry."""
        entry = signature.get("_toc_name", "")
        signature["_toc_name"] = ""
        if not isinstance(signature.parent.parent, nodes.section):
            return
        is_anonymous = "@" in entry
        if entry not in named and not is_anonymous and "<" not in entry.replace("operator<", ""):
            signature["_toc_name"] = entry.removeprefix(OWN)
        named.add(entry)
        scope = entry.partition("<")[0].rpartition("::")[0]
        names = list(signature.findall(addnodes.desc_name))
        if scope and names and not is_anonymous and not list(signature.findall(addnodes.desc_addname)):
            names[0].parent.insert(names[0].parent.index(names[0]), addnodes.desc_addname("", f"{scope}::"))

    @staticmethod
    def sort(section: nodes.section) -> None:
        """Sorts the declarations of a section by line. The index entries before a declaration move with the
        declaration."""
        first = next((n for n, child in enumerate(section) if isinstance(child, addnodes.desc)), None)
        if first is None or section[first].get("domain") not in ("cpp", "c"):
            return
        while isinstance(section[first - 1], addnodes.index):
            first -= 1
        groups: List[Tuple[int, List[nodes.Node]]] = []
        waiting: List[nodes.Node] = []
        for child in section[first:]:
            waiting.append(child)
            if isinstance(child, addnodes.desc):
                groups.append((line_of(child), waiting))
                waiting = []
        ordered = [node for _, group in sorted(groups, key=lambda group: group[0]) for node in group]
        section[first:] = [*ordered, *waiting]


def setup(app: Sphinx) -> Dict[str, Any]:
    app.connect("builder-inited", Lines.read)
    app.add_transform(Declarations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
