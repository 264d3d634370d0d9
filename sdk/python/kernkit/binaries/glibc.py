# SPDX-License-Identifier: Apache-2.0
"""Versions of symbols of glibc and of g++'s libraries, and the platform tag of a wheel that needs these versions.

The platform tags come from auditwheel's policy file; auditwheel itself is not imported.
"""

import functools
import importlib.util
import json
import pathlib
from typing import Any, Dict, Iterable, List, Optional, Tuple

Version = Tuple[int, ...]
# Policy of a platform tag: {kind of symbols, such as "GLIBC": versions that every system of the tag provides}.
Policy = Dict[str, List[str]]

# {symbol version whose name has no number: the first glibc release that defines the version}. Source: NEWS of glibc
# 2.36, on -z pack-relative-relocs.
_SYMBOLIC_VERSIONS = {"GLIBC_ABI_DT_RELR": (2, 36)}


def parse_version(text: str) -> Version:
    """Returns (3, 4, 29) for "3.4.29", and () for a text that is not a version, such as PRIVATE."""
    parts = text.split(".")
    return tuple(map(int, parts)) if all(map(str.isdigit, parts)) else ()


def version_of(text: str) -> Tuple[str, Version]:
    """Returns (kind, number) of a version, as in ("GLIBC", (2, 34)) for "GLIBC_2.34", and (text, ()) for an unknown
    version."""
    kind, _, number = text.partition("_")
    version = _SYMBOLIC_VERSIONS.get(text) or parse_version(number)
    return (kind, version) if version else (text, ())


@functools.lru_cache(maxsize=None)
def _policies() -> Optional[List[Any]]:
    """Returns the entries of auditwheel's policy file, the oldest system first, or None if auditwheel is not
    installed."""
    spec = importlib.util.find_spec("auditwheel")  # finds the package without importing it
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = pathlib.Path(folder) / "policy/manylinux-policy.json"
        if path.is_file():
            entries = [entry for entry in json.loads(path.read_text()) if entry["symbol_versions"]]
            return sorted(entries, key=lambda entry: -int(entry["priority"]))
    return None


def has_policies() -> bool:
    """Returns whether auditwheel is installed, whose policy file defines the platform tags."""
    return _policies() is not None


def allows(policy: Policy, versions: Iterable[str]) -> bool:
    """Returns whether every system of the policy provides all `versions`, such as "GLIBC_2.34". Versions of kinds that
    the policy does not list are ignored."""
    needs = (text.partition("_") for text in versions)
    return all(number in policy.get(kind, [number]) for kind, _, number in needs)


def platform_tag(machine: str, versions: Iterable[str]) -> Optional[str]:
    """Returns the platform tag of the oldest systems on which a file that needs these versions runs, such as
    "manylinux_2_28_x86_64", or None if no tag allows the versions or auditwheel is not installed."""
    needs = set(versions)
    for entry in _policies() or []:
        policy = entry["symbol_versions"].get(machine)
        if policy is not None and allows(policy, needs):
            return f"{entry['name']}_{machine}"
    return None
