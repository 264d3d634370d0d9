# SPDX-License-Identifier: Apache-2.0
"""The page on licences names every package that kernkit requires, with the licence of the package's metadata."""

import importlib.metadata
import re
import sys

import pytest

requirements = pytest.importorskip("packaging.requirements", reason="packaging is not installed")
# {licence: regular expression of its name in a package's metadata, in a licence text or in the page}
LICENCES = {
    "Apache": r"Apache",
    "BSD": r"\bBSD\b|Redistribution and use in source and binary forms",
    "MIT": r"\bMIT\b",
    "MPL": r"\bMPL\b|Mozilla Public License",
    "PSF": r"\bPSF\b",
    "GPL": r"\bGPL\b|GNU General Public",
    "Artistic": r"Artistic",
    "public domain": r"(?i)public domain",
}


def licences_in(text):
    return {name for name, pattern in LICENCES.items() if re.search(pattern, text)}


def licences_of(package):
    """Returns the licences in a package's metadata, or in its licence text if the metadata names no licence."""
    metadata = importlib.metadata.metadata(package)
    named = [metadata.get("License-Expression") or "", (metadata.get("License") or "").partition("\n")[0]]
    named += [line for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")]
    texts = [path for path in importlib.metadata.files(package) or [] if re.search(r"LICENSE", path.name)]
    return licences_in("\n".join(named)) or licences_in("\n".join(path.read_text() for path in texts))


def required(names):
    """Returns the packages with these names, and all packages that they require."""
    required_names, new = set(), set(names)
    while new:
        required_names |= new
        lines = [line for name in new for line in importlib.metadata.requires(name) or []]
        parsed = map(requirements.Requirement, lines)
        expected = {each.name for each in parsed if not each.marker or each.marker.evaluate({"extra": ""})}
        new = {re.sub("[-_.]+", "-", name).lower() for name in expected} - required_names
    return required_names


@pytest.fixture(scope="module")
def own_table(root):
    """Returns the names of the packages that kernkit requires directly, from pyproject.toml."""
    (listed,) = re.findall(r"^dependencies = \[(.*)\]$", (root / "pyproject.toml").read_text(), re.MULTILINE)
    return [requirements.Requirement(text).name for text in re.findall('"(.*?)"', listed)]


@pytest.fixture(scope="module")
def table(root):
    """Returns {package: licence} from the page's tables."""
    section = (root / "docs/licences.md").read_text().partition("## Packages that kernkit installs")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    return {package: licence for licence, packages in rows[1:] for package in packages.split(", ")}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="for an older Python, kernkit requires more packages")
def test_the_page_names_every_package(root, own_table, table):
    names = required(own_table)
    assert {"cookiecutter", "text-unidecode", "typing-extensions"} <= names
    assert set(table) == names
    assert f"these packages, {len(names)} at present" in (root / "docs/licences.md").read_text()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="for an older Python, pip installs older versions of the packages")
def test_the_page_names_the_licence_of_each_package(table):
    assert {name: licences_in(cell) for name, cell in table.items()} == {name: licences_of(name) for name in table}


def test_licences_are_recognised():
    assert licences_in("Apache-2.0 OR BSD-2-Clause") == {"Apache", "BSD"}
    assert licences_in("License :: OSI Approved :: GNU General Public License v2 or later (GPLv2+)") == {"GPL"}
    assert licences_in("Permission is granted") == set()
