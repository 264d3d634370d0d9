# SPDX-License-Identifier: Apache-2.0
"""Links to files of the repository that are no page of the site lead to the repository's web address.

The address is source_url of addresses.toml. Without the address, the text of a link remains, without a link.
"""

import posixpath
from typing import Any, Dict, Optional

from docutils import nodes
from kernkit.release import addresses
from public_headers import ROOT
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def address_of(config: Any, path: str) -> str:
    """The web address of a file or a folder of the repository; "" if no address is set."""
    if not config.source_url:
        return ""
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{config.source_url}/{kind}/{config.source_revision}/{path}"


def source_link(config: Any, path: str, text: str) -> str:
    """Markdown for a path or a name of a file, as code: a link to the file if an address is set."""
    address = address_of(config, path)
    return f"[`{text}`]({address})" if address else f"`{text}`"


class SourceLinks(SphinxTransform):
    """MyST makes downloads of links to files and broken references of links to folders. This transform runs before
    Sphinx collects downloads."""

    default_priority = 5

    def path_of(self, node: nodes.Element) -> Optional[str]:
        """The path of a link's target in the repository; None for a page or an address."""
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
        for node in list(self.document.findall(addnodes.pending_xref)) + list(
            self.document.findall(addnodes.download_reference)
        ):
            if isinstance(node, addnodes.pending_xref) and node.get("reftype") != "myst":
                continue
            path = self.path_of(node)
            if path is None:
                continue
            address = address_of(self.config, path)
            if address:
                link = nodes.reference("", "", *node.children, refuri=address)
                node.replace_self(link)
            else:
                node.replace_self(node.children)


def setup(app: Sphinx) -> Dict[str, Any]:
    app.add_config_value("source_url", addresses.read(ROOT)["source_url"], "env", str)
    app.add_config_value("source_revision", "main", "env", str)
    app.add_transform(SourceLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
