# SPDX-License-Identifier: Apache-2.0
"""Lists the requirements of a release that a commit does not meet: addresses, dates, the version in every file, the
tag."""

import datetime
import pathlib
import re
from typing import Dict, List

from .. import sdk
from ..project import git
from . import addresses

# {field of CITATION.cff: the key of addresses.toml with the same value}.
_CITED_ADDRESSES = {"repository-code": "source_url", "url": "site_url"}


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _changelog_problems(text: str, version: str) -> List[str]:
    heading = re.search(r"^## (\S+) \((.*)\)$", text, re.MULTILINE)
    if not heading or heading[1] != version:
        found = f'"{heading[0]}"' if heading else "no heading"
        return [f'CHANGELOG.md: found {found} as the first version; enter "## {version} (YYYY-MM-DD)"']
    if not _is_date(heading[2]):
        return [f'CHANGELOG.md: version {version} has "{heading[2]}" for a date; enter the date as YYYY-MM-DD']
    return []


def _citation_problems(text: str, version: str, date: str, values: Dict[str, str]) -> List[str]:
    """Returns a message for each field of CITATION.cff with a wrong value. date: date of the version in CHANGELOG.md,
    or "" if it is unknown."""
    fields = dict(re.findall(r"^([\w-]+): (.+)$", text, re.MULTILINE))
    expected = {"version": version, "date-released": date, **{field: values[key] for field, key in _CITED_ADDRESSES.items()}}
    return [f'CITATION.cff: {field}: found {fields.get(field, "nothing")}; enter "{field}: {value}"'
            for field, value in expected.items() if value and fields.get(field) != value]  # fmt: skip


def _commit_problems(root: pathlib.Path, version: str) -> List[str]:
    found = []
    if git.output(root, "status", "--porcelain"):
        found.append("git: found uncommitted changes; commit the changes, because archives are built from the last commit")
    tags = git.output(root, "tag", "--points-at", "HEAD").split()
    if f"v{version}" not in tags:
        found.append(f"git: the last commit has {'the tags ' + ', '.join(tags) if tags else 'no tag'}; run git tag v{version}")
    return found


def problems(root: pathlib.Path) -> List[str]:
    """Returns a message for each requirement of a release that the last commit does not meet; [] if the commit may be
    released.

    root: folder of the repository. Raises UserError if addresses.toml has an unsupported line or value, or git
    failed."""
    values, version = addresses.read(root), sdk.version_of(root / "sdk")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    of_changelog = _changelog_problems(changelog, version)
    date = "" if of_changelog else re.findall(r"^## \S+ \((.*)\)$", changelog, re.MULTILINE)[0]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    return [*addresses.unset(values), *of_changelog, *_citation_problems(citation, version, date, values),
            *_commit_problems(root, version)]  # fmt: skip
