# SPDX-License-Identifier: Apache-2.0
"""Orders the results of the site's search: classes and functions of namespaces precede members of classes, and template
parameters are left out."""

from typing import Any, Dict, Iterator, Set, Tuple

from sphinx.application import Sphinx
from sphinx.domains.cpp import CPPDomain

Entry = Tuple[str, str, str, str, str, int]
FIRST, DEFAULT = 0, 1  # priorities of Sphinx's search
_CLASSES = ("class", "union", "enum")


class RankedCPPDomain(CPPDomain):
    """Sphinx's domain for C++, which also sets the search priority of each symbol."""

    def get_objects(self) -> Iterator[Entry]:
        entries = [entry for entry in super().get_objects() if not entry[2].endswith("Param")]
        classes: Set[str] = {entry[0] for entry in entries if entry[2] in _CLASSES}
        for name, shown, kind, page, anchor, _ in entries:
            is_member = name.rpartition("::")[0] in classes
            yield name, shown, kind, page, anchor, DEFAULT if is_member else FIRST


def setup(app: Sphinx) -> Dict[str, Any]:
    app.add_domain(RankedCPPDomain, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
