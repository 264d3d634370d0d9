# SPDX-License-Identifier: Apache-2.0
"""The addresses in the package's metadata and on its page come from addresses.toml."""

import re
import shutil

import pytest
from kernkit.errors import UserError
from kernkit.release import addresses, package_metadata
from release_files import ADDRESSES, addresses_file


@pytest.fixture
def sources(root, tmp_path):
    """Returns a folder with the files that metadata() reads."""
    for path in ("README.md", "addresses.toml", "sdk/include/kernkit/base/version.h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / path, tmp_path / path)
    return tmp_path


def read(folder, text):
    (folder / "addresses.toml").write_text(text)
    return addresses.read(folder)


def test_the_repository_s_file_has_every_key(root):
    values = addresses.read(root)
    names = re.findall(r"^(\w+) = ", (root / "addresses.toml").read_text(), re.MULTILINE)
    assert names == list(values) == list(ADDRESSES)


def test_values_are_read(tmp_path):
    assert read(tmp_path, "# a comment\n\n" + addresses_file()) == ADDRESSES
    assert addresses.unset(ADDRESSES) == []


def test_unset_values_are_listed(tmp_path):
    text = addresses_file(site_url="unset").replace('authors = "Ann Example <ann@example.org>; Bo Example"\n', "")
    values = read(tmp_path, text)
    assert values == {**ADDRESSES, "site_url": "", "authors": ""}
    assert addresses.unset(values) == [
        'addresses.toml: site_url is "unset"; enter a web address that begins with https:// and has no slash at the end',
        'addresses.toml: authors is "unset"; enter authors as "Name" or "Name <mail@address>", separated by "; "',
    ]


@pytest.mark.parametrize(
    "values, message",
    [
        ({"source_url": "http://example.org/x"}, 'source_url: found "http://example.org/x"; enter a web address that begins with https://'),
        ({"site_url": "https://example.org/"}, 'site_url: found "https://example.org/"; enter a web address'),
        ({"authors": "Ann <ann>"}, 'authors: found "Ann <ann>"; enter authors as "Name"'),
        ({"authors": ""}, 'authors: found ""; enter authors as "Name"'),
        ({"security_contact": "somebody"}, 'security_contact: found "somebody"; enter a mail address, or a web address'),
    ],
)
def test_a_value_of_another_form_is_an_error(tmp_path, values, message):
    with pytest.raises(UserError, match=re.escape(f"addresses.toml: {message}")):
        read(tmp_path, addresses_file(**values))


@pytest.mark.parametrize("line", ['sourceurl = "x"', "source_url = 'x'", "[section]", 'site_url = "https://example.org/twice"'])
def test_an_unsupported_line_is_an_error(tmp_path, line):
    with pytest.raises(UserError, match=re.escape(f"addresses.toml:7: found {line}; supported: key = ")):
        read(tmp_path, addresses_file() + line + "\n")


def test_metadata_takes_addresses_from_the_file(sources):
    (sources / "addresses.toml").write_text(addresses_file())
    fields = package_metadata.metadata(sources)
    source = ADDRESSES["source_url"]
    assert fields["urls"] == {"Source": source, "Issues": f"{source}/issues", "Documentation": ADDRESSES["site_url"],
                              "Changelog": f"{source}/blob/v{fields['version']}/CHANGELOG.md"}  # fmt: skip
    assert fields["authors"] == [{"name": "Ann Example", "email": "ann@example.org"}, {"name": "Bo Example"}]


def test_metadata_contains_no_placeholder(sources):
    (sources / "addresses.toml").write_text("".join(f'{key} = "unset"\n' for key in ADDRESSES))
    fields = package_metadata.metadata(sources)
    assert (fields["urls"], fields["authors"]) == ({}, []) and "unset" not in fields["readme"]["text"]


PAGE = """[`a b`](docs/a.md#part), [folder](docs/), [site](https://example.org), [here](#part), ![plot](docs/a.png)
`[x](y.md)` and x[i](y)
```cpp
[](int i) { return f[i](x); }
```
"""


@pytest.mark.parametrize(
    "source, first, second",
    [
        ("https://example.org/k", "[`a b`](https://example.org/k/blob/v1.2.3/docs/a.md#part), [folder](https://example.org/k/tree/v1.2.3/docs), "
         "[site](https://example.org), [here](https://example.org/k/blob/v1.2.3/README.md#part), ![plot](https://example.org/k/raw/v1.2.3/docs/a.png)",
         "`[x](y.md)` and x[i](https://example.org/k/blob/v1.2.3/y)"),
        ("", "`a b`, folder, [site](https://example.org), here, plot", "`[x](y.md)` and xi"),
    ],
)  # fmt: skip
def test_links_of_the_package_s_page(tmp_path, source, first, second):
    (tmp_path / "docs").mkdir()
    page = package_metadata.package_page(PAGE, tmp_path, source, "1.2.3")
    assert page == f"{first}\n{second}\n" + PAGE.partition("\n```")[2].join(["```", ""])


def relative_links(page):
    """Returns the targets of links without a scheme, except links in code."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page, flags=re.DOTALL | re.MULTILINE)
    return [target for target in re.findall(r"\]\(([^)\s]*)", text) if not re.match("https://|mailto:", target)]


@pytest.mark.parametrize("values", [{}, {"source_url": "unset"}])
def test_the_package_s_page_has_no_relative_link(sources, values):
    assert len(relative_links((sources / "README.md").read_text())) > 20
    (sources / "addresses.toml").write_text(addresses_file(**values))
    page = package_metadata.metadata(sources)["readme"]["text"]
    assert relative_links(page) == [] and page.count("\n") == (sources / "README.md").read_text().count("\n")
