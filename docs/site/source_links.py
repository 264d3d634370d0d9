# SPDX-License-Identifier: Apache-2.0
"""Links to files of the repository that are not pages of the site lead to the repository's web address.

The address is source_url of addresses.toml. Without the address, the text of a link remains, without a link.
"""

import posixpath
from typing import Any, Dict, Optional

from docutils import nodes
from kernkit.release import addresses
from public_headers import ROOT
from source_address import address_of
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class SourceLinks(SphinxTransform):
    """Replaces links to files and folders of the repository by links to their web addresses. MyST turns a link to a
    file into a download and a link to a folder into a broken reference, so the transform runs before Sphinx collects
    downloads."""

    default_priority = 5

    def path_of(self, node: nodes.Element) -> Optional[str]:
        """Returns the path in the repository to which a link leads; None if the link leads to a page or a web
        address."""
        target = node["reftarget"]
        if "://" in target or target.startswith("#"):
            return None
        target = target.partition("#")[0]
        # MyST has already made the path of a page absolute, and removed its ending.
        is_absolute = target.startswith("/") or node.get("refdomain") == "doc"
        folder = "" if is_absolute else posixpath.dirname(self.env.docname)
        path = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
        if path.removesuffix(".md") in self.env.found_docs or path.startswith(".."):
            return None
        return next((name for name in (path, f"{path}.md") if (ROOT / name).exists()), None)

    def apply(self, **_: Any) -> None:
        pages = [node for node in self.document.findall(addnodes.pending_xref) if node.get("reftype") == "myst"]
        for node in [*pages, *self.document.findall(addnodes.download_reference)]:
            path = self.path_of(node)
            address = address_of(self.config, path) if path else ""
            if address:
                node.replace_self(nodes.reference("", "", *node.children, refuri=address))
            elif path:
                node.replace_self(node.children)


def setup(app: Sphinx) -> Dict[str, Any]:
    app.add_config_value("source_url", addresses.read(ROOT)["source_url"], "env", str)
    app.add_config_value("source_revision", "main", "env", str)
    app.add_transform(SourceLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
