# SPDX-License-Identifier: Apache-2.0
"""./kk docs works in a clean copy of the repository without a network, reports planted faults, and writes pages that a
browser displays."""

import os
import re
import shutil
import subprocess

import browser
import pytest
from commands import timed
from environments import environment_with

pytestmark = pytest.mark.slow
WIDTHS = (1280, 390)
# {words that a newcomer enters in the search: (page, sentence of the page that answers the question)}.
QUESTIONS = {
    "install without root": ("docs/command-line.html", "Without root, install kernkit into a virtual environment"),
    "return a new tensor": ("docs/tensors-and-ownership.html", "A function that returns `Tensor`"),
    "debug a kernel with gdb": ("docs/testing-without-a-gpu.html", "KERNKIT_SEED=0 gdb --args"),
    "which Python versions does a wheel support": ("docs/versioning.html", "One wheel serves every Python from 3.9 on."),
    "optional argument default": ("docs/adding-a-kernel.html", "`float eps=1e-6` has a default"),
}


def offline():
    """Returns a command prefix that disables the network, or an empty list if the system does not permit that."""
    command = ["unshare", "--map-root-user", "--net"]
    permitted = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if permitted else []


@pytest.fixture(scope="module")
def environment(root):
    """Returns environment variables for ./kk docs."""
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("KK_", "PYTHON"))}
    return {**inherited, "KK_VENV": str(environment_with(root, "requirements-docs.txt"))}


@pytest.fixture(scope="module")
def clone(root, environment, tmp_path_factory):
    """Returns a copy of the repository's files that git does not ignore."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this copy has no git repository")
    folder = tmp_path_factory.mktemp("clone") / "kernkit"
    for name in listed.stdout.splitlines():
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name, follow_symlinks=False)
    return folder


def build(folder, environment):
    """Runs ./kk docs and returns (processor time [s], exit code, output)."""
    return timed([*offline(), "./kk", "docs"], cwd=folder, env=environment)


@pytest.fixture(scope="module")
def site(clone, environment):
    """Returns the folder build/docs/html, built in the copy."""
    seconds, code, output = build(clone, environment)
    assert code == 0, output
    assert output.endswith("built      build/docs/html/index.html\n")
    assert "WARNING" not in output
    assert seconds < 120  # twice the 60 s that a build on two cores takes at most
    return clone / "build/docs/html"


def pages(root):
    """Returns the pages of the site, as paths in the repository without endings."""
    files = [root / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")]
    files += [path for pattern in ("*.md", "gallery/*/README.md", "reference/*.md") for path in (root / "docs").glob(pattern)]
    return sorted(str(path.relative_to(root).with_suffix("")) for path in files)


def test_every_page_is_on_the_site(root, site):
    written = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert written == {*pages(root), "index", "genindex", "search"}
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()


def test_navigation_is_the_table_of_readme(site):
    text = (site / "README.html").read_text()
    captions = re.findall(r'<p class="caption"[^>]*><span class="caption-text">(.*?)</span>', text)
    table = re.search(r"^\| question \|.*?\n\n", (site.parents[2] / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    groups = re.findall(r"^\| (\w+): ", table, re.MULTILINE)
    assert list(dict.fromkeys(captions)) == [*dict.fromkeys(groups), "More"]


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text()
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]* src=\"(https?:[^\"]*)", text)
        loaded += re.findall(r"<link[^>]* rel=\"(?!canonical)[^\"]*\"[^>]* href=\"(https?:[^\"]*)", text)
        assert loaded == [], path
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text() and "@import" not in path.read_text(), path


def test_links_to_sources_have_no_invented_address(root, site):
    """While addresses.toml has no address, names of source files are not links. test_links_to_sources tests links with
    an address."""
    if 'source_url = "unset"' not in (root / "addresses.toml").read_text():
        pytest.skip("addresses.toml has the address of the repository")
    text = (site / "README.html").read_text()
    assert "kernels/scale/" in text and not re.search(r'href="[^"]*kernels/scale', text)
    assert not list(site.glob("_downloads"))


# {name: (file, text, replacement, message)}: faults that are planted together, and the message of ./kk docs about each
# fault.
FAULTS = {
    "function_without_page": (
        "sdk/include/kernkit/planted.h", None,
        "// A header.\n#pragma once\n\nnamespace kernkit {\n\n/// Returns the number of planted faults.\nint faults();\n\n}  // namespace kernkit\n",
        "sdk/include/kernkit/planted.h: no page; add {header} kernkit/planted.h to a page of docs/reference/",
    ),
    "function_without_comment": (
        "sdk/include/kernkit/apply.h", "\n}  // namespace kernkit\n", "\nint planted_count(int first);\n\n}  // namespace kernkit\n",
        "function kernkit::planted_count(int first): no comment",
    ),
    "comment_that_repeats_the_name": (
        "sdk/include/kernkit/bytes.h", "\n}  // namespace kernkit\n", "\n/// Returns the planted bytes.\nint planted_bytes();\n\n}  // namespace kernkit\n",
        "function kernkit::planted_bytes(): only repeats the name",
    ),
    "type_without_page": (
        "sdk/include/kernkit/list.h", "\n}  // namespace kernkit\n", "\n/// Counts words without a plant.\nvoid planted_words(Unplanted words);\n\n}  // namespace kernkit\n",
        "reference target not found: Unplanted",
    ),
    "link_to_no_page": ("docs/errors.md", "# Errors\n", "# Errors\n\n[Planted](planted-page.md)\n", "docs/errors.md:3: WARNING: "),
    "link_to_no_heading": ("docs/limits.md", "# Limits\n", "# Limits\n\n[Planted](errors.md#planted-heading)\n", "planted-heading"),
    "example_that_does_not_compile": (
        "docs/reference/dispatch.md", "  // expect\n", "  expect planted\n",
        "docs/reference/dispatch.md: WARNING: the block from kernels/scale/scale.cc differs from the file",
    ),
    "example_of_no_file": (
        "docs/glossary.md", "\n\n", "\n\n```cpp\nplanted();\n```\n\n", "docs/glossary.md: WARNING: a block of cpp is not cut from a file",
    ),
    "cmake_function_without_page": (
        "sdk/cmake/KernkitVersion.cmake", None, "# kernkit_planted()\n#\n# Plants a fault.\nfunction(kernkit_planted)\nendfunction()\n",
        "sdk/cmake/KernkitVersion.cmake: kernkit_planted(): no page; add {cmake-file} KernkitVersion.cmake to docs/reference/cmake.md",
    ),
    "argument_without_help": (
        "sdk/python/kernkit/commands/cmakedir.py", "def add_arguments(parser: argparse.ArgumentParser) -> None:\n",
        'def add_arguments(parser: argparse.ArgumentParser) -> None:\n    parser.add_argument("--planted")\n',
        "kernkit cmakedir: --planted PLANTED: no help text besides a default",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def red(site, clone, environment):
    """Returns (exit code, output) of ./kk docs with all planted faults. The faults are removed from the copy
    afterwards."""
    before = {}
    for file, text, replacement, _ in FAULTS.values():
        path = clone / file
        before.setdefault(path, path.read_text() if path.exists() else None)
        old = path.read_text() if path.exists() else ""
        assert text is None or text in old, file
        path.write_text(old + replacement if text is None else replacement.join(old.rsplit(text, 1)))
    moved = site.rename(site.with_name("kept"))
    _, code, output = build(clone, environment)
    for path, old in before.items():
        path.unlink() if old is None else path.write_text(old)
    shutil.rmtree(site, ignore_errors=True)
    moved.rename(site)
    return code, output


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_reported(red, name):
    code, output = red
    assert code == 1
    assert FAULTS[name][3] in output


def test_planted_faults_are_all_that_is_reported(red):
    """Only planted faults are reported. Since the build passes without the faults, each single fault makes the build
    fail."""
    lines = [line for line in red[1].splitlines() if "WARNING" in line or line.startswith(("sdk/", "kernkit "))]
    unexpected = [line for line in lines if not any(fault[3] in line or "lanted" in line for fault in FAULTS.values())]
    assert unexpected == []


@pytest.fixture(scope="module")
def examined(root, site, tmp_path_factory):
    """Returns the findings of a browser on each page, the results of a search, and the messages of the browser's
    console."""
    if not browser.PROGRAM:
        pytest.skip("chromium is not installed: apt-get install chromium")
    profile = tmp_path_factory.mktemp("chromium")
    names = [f"{page}.html" for page in (*pages(root), "index", "genindex")]
    return browser.examine(site, profile, names, WIDTHS, ["TensorView", *QUESTIONS])


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_the_screen(examined, width):
    measured = {page: of_widths[str(width)] for page, of_widths in examined[0]["pages"].items()}
    assert len(measured) > 50
    assert {page: page_measured["overflow"] for page, page_measured in measured.items() if page_measured["overflow"] > 0} == {}
    assert {page for page, page_measured in measured.items() if not page_measured["heading"] or page_measured["broken_images"]} == set()
    assert min(page_measured["font_size"] for page_measured in measured.values()) >= 14


def test_code_of_100_columns_fits_at_1280_pixels(examined):
    wide = {page: [columns for columns in of_widths["1280"]["wide_code"] if columns <= 100]
            for page, of_widths in examined[0]["pages"].items()}  # fmt: skip
    assert {page: columns for page, columns in wide.items() if columns} == {}


def test_search_finds_the_page_of_a_class(examined):
    assert any(result.startswith("docs/reference/tensors.html") for result in examined[0]["results"]["TensorView"])


@pytest.mark.parametrize("question", QUESTIONS)
def test_search_answers_a_question_of_a_newcomer(root, examined, question):
    """The page in QUESTIONS is among the first three results of the search and contains the answer."""
    page, answer = QUESTIONS[question]
    assert page in [result.partition("#")[0] for result in examined[0]["results"][question][:3]]
    assert answer in " ".join((root / page).with_suffix(".md").read_text().split())


def test_console_has_no_errors(examined):
    assert examined[1] == []
