# SPDX-License-Identifier: Apache-2.0
"""Examine a built library: whether it can be shipped, and on which systems it runs.

The library is read and not loaded. The output is one line for each rule, "ok" or "FAIL"; the exit code is 1 if
a rule failed. The rules:

  schemas    every op has a valid schema line in the file
  exports    the library exports the ops, with their metadata and documentation, and nothing else
  unique     no symbol is process-wide (GNU_UNIQUE)
  itself     the library binds its own symbols to itself (-Bsymbolic)
  host       the loading process need not define any symbol, such as a symbol of tvm_ffi, Python or a framework
  needed     the library depends only on libraries that every Linux has, and on libraries that --needed permits
  nodelete   the library stays mapped (-z nodelete), so that a deleter cannot dangle
  startup    no start-up code flushes subnormals to zero (-ffast-math at the link)
  glibc      the glibc that the library needs, not newer than --glibc, and the platform tag of its wheel
  cuda       the GPU architectures of the library's code, which must equal the list of --cuda, if given
  identity   version, commit, compiler, CUDA and kernkit, as recorded in the file
  sealed     in a library's folder: third_party/kernkit and third_party/kernkit_dev agree with their manifests
"""

import argparse
import dataclasses
import json
import pathlib

from ..binaries.glibc import parse_version, platform_tag
from ..binaries.library import read_library
from ..binaries.rules import Finding, examine, failure
from ..errors import UserError
from ..project import copies, manifest


def check_sealed(folder: pathlib.Path) -> Finding:
    """Returns the finding of the rule "sealed" for `folder`, one of the two folders of a library's copy of kernkit."""
    changes, line = manifest.changes(str(folder)), manifest.version_line(str(folder))
    if any(changes):
        return failure("sealed", f"{folder} differs from its original in {' '.join(line.split()[:2])}: {changes}; restore it "
                     "from git, or bring the change to kernkit: ./kk update replaces the folder")
    return Finding("sealed", True, f"{folder} is {line}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", type=pathlib.Path, metavar="LIB.so", help="the built library")
    parser.add_argument("--needed", action="append", default=[], metavar="NAME.so.N", help="an additional permitted dependency of the library; repeatable")
    parser.add_argument("--glibc", metavar="2.N", help="the newest permitted glibc version")
    parser.add_argument("--cuda", metavar="LIST", help="the required GPU architectures, for example sm_80,sm_90a,compute_90; or none")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    if arguments.glibc is not None and len(parse_version(arguments.glibc)) != 2:
        raise UserError(f'--glibc "{arguments.glibc}" is not a version; enter a version such as 2.28')
    library = read_library(arguments.library)
    findings = examine(library, also_needed=arguments.needed, glibc=arguments.glibc, cuda=arguments.cuda)
    findings += [check_sealed(pathlib.Path(folder)) for folder in copies.FOLDERS if manifest.has_manifest(folder)]
    if arguments.json:
        print(
            json.dumps(
                {
                    "library": str(arguments.library),
                    "ok": all(finding.ok for finding in findings),
                    "schemas": library.lines,
                    "needed": library.needed,
                    "glibc": ".".join(map(str, library.needs().get("GLIBC", ()))) or None,
                    "platform_tag": platform_tag(library.machine, library.versions),
                    "cuda": library.architectures,
                    "identity": library.identity,
                    "rules": [dataclasses.asdict(finding) for finding in findings],
                },
                indent=2,
            )
        )
    else:
        for finding in findings:
            print(f"{'ok' if finding.ok else 'FAIL':<5} {finding.rule:<9} {finding.text}")
    return 0 if all(finding.ok for finding in findings) else 1
