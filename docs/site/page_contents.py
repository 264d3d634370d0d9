# SPDX-License-Identifier: Apache-2.0
"""Limits "On this page" to the headers and the names in their namespaces. Members of classes would make the list ten times as long, and
the build twice."""

from typing import Any, Dict

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class WithoutMembers(SphinxTransform):
    """Removes the entries of members. Breathe adds entries of its own, whatever Sphinx's toc_object_entries is."""

    default_priority = 870  # before DoctreeReadEvent, which collects the entries

    def apply(self, **_: Any) -> None:
        for signature in self.document.findall(addnodes.desc_signature):
            owner: nodes.Node = signature.parent.parent
            while owner is not None and not isinstance(owner, addnodes.desc):
                owner = owner.parent
            if owner is not None:
                signature["_toc_name"] = ""


def setup(app: Sphinx) -> Dict[str, Any]:
    app.add_transform(WithoutMembers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
