# SPDX-License-Identifier: Apache-2.0
"""Web addresses of files of the repository."""

from typing import Any

from public_headers import ROOT


def address_of(config: Any, path: str) -> str:
    """Returns the web address of a file or a folder of the repository; "" if no address is set."""
    if not config.source_url:
        return ""
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{config.source_url}/{kind}/{config.source_revision}/{path}"


def source_link(config: Any, path: str, text: str) -> str:
    """Returns `text`, a path or a name of a file, as Markdown code: as a link to the file if an address is set."""
    address = address_of(config, path)
    return f"[`{text}`]({address})" if address else f"`{text}`"
