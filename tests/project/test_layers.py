# SPDX-License-Identifier: Apache-2.0
"""Headers in the folders of kernkit/ include only headers of lower layers, and the pages list the layers correctly."""

import collections
import re

import pytest
from test_format import tracked

# Include folders that kernkit's CMake functions and the tests pass to the compiler.
INCLUDE_FOLDERS = ("sdk/include", "sdk/simulator/include", "sdk/simulator", "sdk/simulator/shim", "sdk/src",
                   "sdk/tvm_ffi_compat", "kernels", "tests/sdk", "tests/gpu")  # fmt: skip


@pytest.fixture(scope="module")
def headers(root):
    """Returns {header of kernkit/: the headers that it includes}, both without "kernkit/"."""
    folders = [root / "sdk/include/kernkit", root / "sdk/simulator/include/kernkit"]
    text = {p.relative_to(folder).as_posix(): p.read_text() for folder in folders for p in folder.rglob("*.*h")}
    # Headers under former names, which only include the headers under current names, are left out.
    text = {name: code for name, code in text.items() if not name.startswith("cuda_on_cpu/")}
    return {name: re.findall('^#include "kernkit/(.*)"', code, re.MULTILINE) for name, code in text.items()}


@pytest.fixture(scope="module")
def layers(root):
    """Returns the folders in the order of CONTRIBUTING's table, the lowest layer first."""
    return re.findall(r"^\| `(\w+)/` \|", (root / "CONTRIBUTING.md").read_text(), re.MULTILINE)


def layer_of(header):
    """Returns the layer of a header, or None for a header of the root, which is in no layer."""
    folder, slash, _ = header.partition("/")
    return folder if slash and folder != "impl" else None


def steps_up(headers, layers):
    """Returns the includes by which a header of a layer reaches a header of a higher layer, also through headers of the
    root."""
    violations = []
    for header in sorted(headers):
        if layer_of(header) is None:
            continue
        reached, below = {header}, [header]
        while below:
            here = below.pop()
            for included in headers[here]:
                layer = layer_of(included)
                if layer and layers.index(layer) > layers.index(layer_of(header)):
                    violations.append(f"{header}: {here} includes {included}")
                elif included not in reached:
                    reached.add(included)
                    below.append(included)
    return violations


def test_no_folder_includes_a_layer_above(headers, layers):
    assert steps_up(headers, layers) == []


@pytest.mark.parametrize(
    "header, included, sentence",
    [
        ("types/dtype.h", "call/op.h", "types/dtype.h: types/dtype.h includes call/op.h"),
        # The planted include is in a header of the root, which a header of memory/ includes.
        ("error.h", "env.h", "memory/nd_alloc.h: env.h includes host_api/host_api.h"),
        ("impl/tensor.h", "cuda/stream.h", "schema/parser.h"),
    ],
)
def test_a_step_up_is_found(headers, layers, header, included, sentence):
    planted = {**headers, header: [*headers[header], included]}
    violations = steps_up(planted, layers)
    if sentence == "schema/parser.h":  # schema/parser.h includes no tensor header, so no violation is reported for the file
        assert violations and not any(line.startswith(sentence) for line in violations)
    else:
        assert sentence in violations


def test_contributing_lists_the_folders(headers, layers):
    assert sorted(layers) == sorted({layer_of(header) for header in headers} - {None})


def test_the_page_of_headers_names_each_of_the_root(root, headers):
    text = (root / "docs/headers.md").read_text()
    named = set()
    for cell in re.findall(r"`kernkit/[^|]*", text):
        named.update(re.findall(r"`(?:kernkit/)?([\w/]+\.c?u?h)`", cell))
    assert named <= set(headers), "there is no such header"
    public = {header for header in headers if "/" not in header}
    assert public - named == set()


def shared_include_paths(files):
    """Returns {include path: headers} for include paths of several headers."""
    by_path = collections.defaultdict(set)
    for folder in INCLUDE_FOLDERS:
        for file in files:
            if file.startswith(f"{folder}/"):
                by_path[file[len(folder) + 1 :]].add(file)
    return {path: sorted(paths_of_name) for path, paths_of_name in by_path.items() if len(paths_of_name) > 1}


def test_no_two_headers_share_an_include_path(root):
    """No two headers have the same include path; otherwise the order of the options -I would determine which header is
    included."""
    files = [path.relative_to(root).as_posix() for path in tracked(root, ".h", ".cuh", ".hpp")]
    assert len(files) > 300
    assert shared_include_paths(files) == {}
    planted = "sdk/simulator/include/kernkit/tensor.h"
    assert shared_include_paths([*files, planted]) == {"kernkit/tensor.h": ["sdk/include/kernkit/tensor.h", planted]}
