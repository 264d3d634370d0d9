# SPDX-License-Identifier: Apache-2.0
"""Builds the site: python docs/site/build.py FOLDER [OPTION...]. FOLDER/html is the site, FOLDER/doxygen has Doxygen's XML.
Options go to sphinx-build. Exit code 1: a warning of Doxygen or Sphinx, or a public name without page or comment."""

import os
import pathlib
import shutil
import sys
from typing import List

from doxygen import run_doxygen
from public_headers import ROOT

sys.path.insert(0, str(ROOT / "sdk/python"))


def main(folder: pathlib.Path, options: List[str]) -> int:
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        print(f"{sys.prefix} lacks Sphinx; run: pip install -r tests/requirements-docs.txt", file=sys.stderr)
        return 1
    from completeness import problems

    try:
        xml = run_doxygen(folder / "doxygen")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    html = folder / "html"
    shutil.rmtree(html, ignore_errors=True)
    jobs = str(min(2, len(os.sched_getaffinity(0))))
    words = ["-c", "docs/site", "-b", "html", "-W", "-E", "-q", "-j", jobs, "-d", f"{folder}/doctrees",
             "-D", f"breathe_projects.kernkit={xml}", *options, ".", str(html)]  # fmt: skip
    code = build_main(words)
    if not (html / "README.html").exists():
        return code or 1
    shutil.copy(html / "README.html", html / "index.html")
    found = problems(xml, html)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else code


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
