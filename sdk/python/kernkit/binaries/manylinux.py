# SPDX-License-Identifier: Apache-2.0
"""From the versions of glibc and g++'s libraries that a file asks for to the tag of its wheel."""

from typing import Dict, NamedTuple, Optional, Tuple

Version = Tuple[int, ...]


class Policy(NamedTuple):
    """What every Linux with this glibc has at least."""

    glibc: Version
    glibcxx: Version
    cxxabi: Version
    gcc: Version


# Source: auditwheel 6.8, manylinux-policy.json, x86_64. On aarch64 some allow more.
POLICIES = (
    Policy((2, 5), (3, 4, 8), (1, 3, 1), (4, 2, 0)),
    Policy((2, 12), (3, 4, 13), (1, 3, 3), (4, 3, 0)),
    Policy((2, 17), (3, 4, 19), (1, 3, 7), (4, 8, 0)),
    Policy((2, 24), (3, 4, 22), (1, 3, 10), (4, 8, 0)),
    Policy((2, 26), (3, 4, 22), (1, 3, 10), (4, 8, 0)),
    Policy((2, 27), (3, 4, 24), (1, 3, 11), (7, 0, 0)),
    Policy((2, 28), (3, 4, 24), (1, 3, 11), (7, 0, 0)),
    Policy((2, 31), (3, 4, 28), (1, 3, 12), (7, 0, 0)),
    Policy((2, 34), (3, 4, 29), (1, 3, 13), (7, 0, 0)),
    Policy((2, 35), (3, 4, 30), (1, 3, 13), (12, 0, 0)),
    Policy((2, 36), (3, 4, 30), (1, 3, 13), (12, 0, 0)),
    Policy((2, 38), (3, 4, 30), (1, 3, 13), (12, 0, 0)),
    Policy((2, 39), (3, 4, 33), (1, 3, 15), (14, 0, 0)),
    Policy((2, 40), (3, 4, 33), (1, 3, 15), (14, 0, 0)),
    Policy((2, 41), (3, 4, 33), (1, 3, 15), (14, 0, 0)),
)
_FIELDS = {"GLIBC": "glibc", "GLIBCXX": "glibcxx", "CXXABI": "cxxabi", "GCC": "gcc"}
# Versions whose names are words, and since when they are there. Relocations as -z
# pack-relative-relocs packs them: glibc's NEWS for 2.36.
_WORDS = {"GLIBC_ABI_DT_RELR": (2, 36)}


def parse_version(text: str) -> Version:
    """"3.4.29" as (3, 4, 29), or () for what is no version, such as PRIVATE."""
    parts = text.split(".")
    return tuple(map(int, parts)) if all(map(str.isdigit, parts)) else ()


def version_of(text: str) -> Tuple[str, Version]:
    """"GLIBC_2.34" as ("GLIBC", (2, 34)); what is no known version as it is, with ()."""
    kind, _, number = text.partition("_")
    version = _WORDS.get(text) or parse_version(number)
    return (kind, version) if version else (text, ())


def allows(policy: Policy, needs: Dict[str, Version]) -> bool:
    """Whether a file that needs these versions, by name as in GLIBC, runs there. A version of glibc
    and g++'s libraries that is not known runs nowhere; others are not asked about."""
    return all(version <= getattr(policy, _FIELDS[name]) if name in _FIELDS
               else name.partition("_")[0] not in _FIELDS for name, version in needs.items())  # fmt: skip


def platform_tag(machine: str, needs: Dict[str, Version]) -> Optional[str]:
    """The lowest tag, as in "manylinux_2_28_x86_64", or None where none is known that suffices."""
    for policy in POLICIES:
        if allows(policy, needs):
            return f"manylinux_{policy.glibc[0]}_{policy.glibc[1]}_{machine}"
    return None
