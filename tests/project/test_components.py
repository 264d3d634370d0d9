# SPDX-License-Identifier: Apache-2.0
"""The components of a library's copy: the core includes nothing optional, and a library needs few packages."""

import re

import pytest
from commands import run
from kernkit.library import parts, seal

LIBRARY_PACKAGES = {"g++", "python3-venv", "ninja-build", "cmake", "libgtest-dev", "libbenchmark-dev"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
WHERE_IT_IS = re.compile(r'^#if __has_include\("([^"]+)"\).*\n#include "\1"\n#endif$', re.MULTILINE)


@pytest.fixture(scope="module")
def by_part(root):
    """{part: its files in sdk/}."""
    return parts.sorted_into_parts(seal.files_below(str(root / "sdk")))


def test_the_core_has_what_every_library_needs(by_part):
    for path in ("abi/abi.h", "export.h", "cuda/impl/launch.h", "cpu/elementwise.h"):
        assert f"include/kernkit/{path}" in by_part["core"]
    assert {"src/kernkit.cc", "CMakeLists.txt", "cmake/KernkitLibrary.cmake"} <= set(by_part["core"])


def steps_out(root, by_part, planted=()):
    """Each include by which the core reaches a part, or what is always taken what has to be asked for, but for one
    that the file makes only where the part is."""
    asked = {part.name for part in parts.PARTS if part.taken == parts.ASKED}
    everywhere = {"core": set(by_part) | asked}  # where the core may not reach; others: what is asked for
    found = []
    for name, files in by_part.items():
        for path in files:
            if not path.endswith((".h", ".cuh", ".cc", ".cu")):
                continue
            text = WHERE_IT_IS.sub("", (root / "sdk" / path).read_text(encoding="utf-8"))
            for included in [*INCLUDE.findall(text), *(one for where, one in planted if where == path)]:
                part = parts.part_of(f"include/{included}")
                refused = everywhere.get(name, asked if name not in asked else set()) - {name}
                if included.startswith("kernkit/") and part in refused:
                    found.append(f"{path} ({name}) includes {included} ({part})")
    return found


def test_the_core_includes_nothing_optional(root, by_part):
    assert steps_out(root, by_part) == []


@pytest.mark.parametrize(
    "path, included",
    [("include/kernkit/call/op.h", "kernkit/host/module.h"), ("include/kernkit/tensor.h", "kernkit/testing/tensor.h"),
     ("src/kernkit.cc", "kernkit/math.h")],
)  # fmt: skip
def test_an_include_of_a_part_is_found(root, by_part, path, included):
    (found,) = steps_out(root, by_part, [(path, included)])
    assert found.startswith(path) and found.endswith(f"includes {included} ({parts.part_of('include/' + included)})")


def test_a_library_takes_the_simulator_over(default_library):
    files = seal.files_below(str(default_library / "third_party/kernkit"))
    assert any(path.startswith("simulator/") for path in files)


def test_a_library_configures_without_what_it_left(default_library, tmp_path):
    run("cmake", "-S", default_library, "-B", tmp_path, "-G", "Ninja", "-DKERNKIT_CUDA=OFF")


def test_a_library_needs_no_other_debian_package(default_library):
    """Besides those that its ./kk has always installed."""
    text = (default_library / "kk").read_text()
    (body,) = re.findall(r"\nmissing_packages\(\) \{\n(.*?)\n\}\n", text, re.DOTALL)
    assert set(re.findall(r"echo ([\w+-]+)$", body, re.MULTILINE)) == LIBRARY_PACKAGES
    assert text.count("apt-get install") == 2 and "$missing" in text  # the call, and its sentence


def test_parts_are_named_once_and_by_what_is_there(root):
    names = [part.name for part in parts.PARTS]
    assert len(set(names)) == len(names)
    assert parts.part_of("simulator/ptx/machine.cc") == "ptx"
    assert parts.part_of("simulator/runtime/memory.cc") == "simulator"
