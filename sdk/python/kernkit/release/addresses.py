# SPDX-License-Identifier: Apache-2.0
"""Reads addresses.toml, the only file with the project's web addresses and contacts."""

import pathlib
import re
from typing import Dict, List

from ..errors import UserError

FILE = "addresses.toml"
UNSET = "unset"  # placeholder for a missing value
_WEB = r"https://[^\s/\"<>]+(?:/[^\s/\"<>]+)*"  # pattern of a web address without a slash at the end
_MAIL = r"[^\s@\"<>]+@[^\s@\"<>]+"
_AUTHOR = rf"[^\s<>;][^<>;]*(?: <{_MAIL}>)?"
# {key: (pattern of the value, description of the value)}.
_WEB_FORM = _WEB, "a web address that begins with https:// and has no slash at the end"
_CONTACT_FORM = f"{_WEB}|{_MAIL}", "a mail address, or a web address that begins with https:// and has no slash at the end"
FORMS = {
    "source_url": _WEB_FORM,
    "site_url": _WEB_FORM,
    "package_url": _WEB_FORM,
    "authors": (f"{_AUTHOR}(?:; {_AUTHOR})*", 'authors as "Name" or "Name <mail@address>", separated by "; "'),
    "security_contact": _CONTACT_FORM,
    "conduct_contact": _CONTACT_FORM,
}


def _entries(root: pathlib.Path) -> Dict[str, str]:
    """Returns {key: value} of the lines in addresses.toml. Supports only lines `key = "value"`, because Python 3.9 has
    no parser of TOML. Raises UserError for any other line."""
    found: Dict[str, str] = {}
    for number, line in enumerate((root / FILE).read_text(encoding="utf-8").splitlines(), 1):
        entry = re.fullmatch(r'(\w+) = "([^"\\]*)"', line.strip())
        if entry and entry[1] in FORMS and entry[1] not in found:
            found[entry[1]] = entry[2]
        elif line.strip() and not line.startswith("#"):
            keys = ", ".join(FORMS)
            raise UserError(f'{FILE}:{number}: found {line.strip()}; supported: key = "value", once for each key of {keys}')
    return found


def read(root: pathlib.Path) -> Dict[str, str]:
    """Returns {key: value} for every key of FORMS; "" for an unset value.

    root: folder of the repository, or of an unpacked sdist. Raises UserError if a line or a value has an unsupported
    form."""
    entries = _entries(root)
    found = {key: entries.get(key, UNSET) for key in FORMS}
    for key, (pattern, form) in FORMS.items():
        if found[key] != UNSET and not re.fullmatch(pattern, found[key]):
            raise UserError(f'{FILE}: {key}: found "{found[key]}"; enter {form}, or "{UNSET}"')
    return {key: "" if value == UNSET else value for key, value in found.items()}


def unset(values: Dict[str, str]) -> List[str]:
    """Returns a message for each empty value of `values`, which read() returned."""
    return [f'{FILE}: {key} is "{UNSET}"; enter {FORMS[key][1]}' for key, value in values.items() if not value]
