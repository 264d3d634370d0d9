# SPDX-License-Identifier: Apache-2.0
"""The fields of the package's metadata that are defined outside of pyproject.toml: version, addresses, authors, and
README for the package's page.

scikit-build-core loads this module from the folder of the sources, as [[tool.dynamic-metadata]] in pyproject.toml
specifies."""

import pathlib
import re
from typing import Any, Dict, List, Mapping

from .. import sdk
from . import addresses

# Pattern of a fenced code block, an image or link, or inline code, whichever begins first.
_MARKDOWN = re.compile(
    r"^```.*?^```$|(?P<image>!?)\[(?P<text>(?:`[^`\n]*`|[^][`])*)\]\((?P<target>[^()\s]+)\)|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)


def package_page(readme: str, root: pathlib.Path, source_url: str, version: str) -> str:
    """Returns the text of README for the package's page in the package index, which resolves no relative links and
    anchors. Links and images point to the repository at the tag of the version. If `source_url` is empty, a link
    becomes its text and an image its description.

    root: the folder of README."""

    def replaced(found: "re.Match[str]") -> str:
        text, target = found["text"], found["target"]
        if target is None or re.match(r"https?:|mailto:", target):
            return found[0]
        if not source_url:
            return text
        path = f"README.md{target}" if target.startswith("#") else target.rstrip("/")
        kind = "raw" if found["image"] else "tree" if (root / path.partition("#")[0]).is_dir() else "blob"
        return f"{found['image']}[{text}]({source_url}/{kind}/v{version}/{path})"

    return _MARKDOWN.sub(replaced, readme)


def _author(text: str) -> Dict[str, str]:
    """Returns the table in project.authors for an author given as "Name" or "Name <mail@address>"."""
    name, _, mail = text.rstrip(">").partition(" <")
    return {"name": name, "email": mail} if mail else {"name": name}


def _urls(values: Mapping[str, str], version: str) -> Dict[str, str]:
    source = values["source_url"]
    of_source = {"Source": source, "Issues": f"{source}/issues", "Changelog": f"{source}/blob/v{version}/CHANGELOG.md"}
    return {**(of_source if source else {}), **({"Documentation": values["site_url"]} if values["site_url"] else {})}


def metadata(root: pathlib.Path, readme_path: str = "README.md") -> Dict[str, Any]:
    """Returns the fields version, readme, urls and authors of [project] in pyproject.toml. A field without a value is
    empty. Raises UserError if addresses.toml has an unsupported line or value.

    root: folder of the repository. readme_path: path below `root` of the file with the package page's text."""
    values, version = addresses.read(root), sdk.version_of(root / "sdk")
    readme = (root / readme_path).read_text(encoding="utf-8")
    page = package_page(readme, root, values["source_url"], version)
    authors: List[str] = values["authors"].split("; ") if values["authors"] else []
    return {
        "version": version,
        "readme": {"content-type": "text/markdown", "text": page},
        "urls": _urls(values, version),
        "authors": [_author(author) for author in authors],
    }


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns metadata() for scikit-build-core, which calls this hook in the folder of pyproject.toml.

    settings: `root` and `readme_path`, the arguments of metadata(); the defaults are valid in the repository."""
    return metadata(pathlib.Path(settings.get("root", ".")), settings.get("readme_path", "README.md"))
