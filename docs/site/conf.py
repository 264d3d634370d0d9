# SPDX-License-Identifier: Apache-2.0
"""Sphinx's configuration of the site. The source folder is the repository's root, so that links between pages are the
same in a checkout and on the site. ./kk docs builds the site."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from public_headers import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "sdk/python"))  # for the imports of the command line and of the reader of addresses.toml
from kernkit import sdk  # noqa: E402
from kernkit.release import addresses  # noqa: E402

version = release = sdk.version_of(ROOT / "sdk")
project = "kernkit"
html_title = f"kernkit {version}"
copyright = "the authors of kernkit; licence Apache-2.0"
language = "en"

root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/gallery/*/README.md", "docs/reference/*.md"]
exclude_patterns = ["build", ".venv", ".git", "bench", "kernels", "sdk", "template", "tests", "docs/site"]
extensions = [
    "myst_parser",
    "breathe",
    "sphinx_copybutton",
    "sphinxcontrib.moderncmakedomain",
    "readme_navigation",
    "source_links",
    "quoted_code",
    "header_reference",
    "cmake_reference",
    "command_reference",
    "used_names",
    "declarations",
    "search_ranking",
]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
# MyST would warn about the CMake domain, which cannot resolve references without a role, at each broken link.
suppress_warnings = ["myst.domains"]
nitpicky = True
# Names in declarations that no page documents and that Sphinx therefore cannot link.
nitpick_ignore_regex = [
    # Names of the C++ standard library, of other projects and of compilers.
    (r"cpp:.*", r"std(::.*)?|u?int\d*_t|u?intptr_t|size_t|DL\w+|cuda\w+|dim3|(::)?benchmark(::.*)?|__builtin_\w+"),
    # Namespaces, which Sphinx links like types.
    (r"cpp:.*", r"(::)?(\w+::)*(kernkit|simulator|testing|contract|gpu|\w+_benchmark|shapes|schema|math|cuda|cpu|kind|host_api)"),
    # Private declarations, by their namespace or as a base of a public class.
    (r"cpp:.*", r"(::)?(\w+::)*detail(::.*)?|(\w+::)*AnyValue|Op(::\w+)?"),
    # Members of a template's instance and of an alias, which Sphinx does not resolve; anonymous unions.
    (r"cpp:.*", r".*<.*>::\w+|CudaBackend::\w+|E::\w+|.*@\d+"),
]
highlight_language = "none"

# Default folder of Doxygen's XML, which build.py replaces by an option of sphinx-build.
breathe_projects = {"kernkit": "build/docs/doxygen/xml"}
breathe_default_project = "kernkit"
breathe_domain_by_extension = {"h": "cpp", "cuh": "cpp"}

html_baseurl = addresses.read(ROOT)["site_url"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["kernkit.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
pygments_style = "tango"
pygments_dark_style = "monokai"
