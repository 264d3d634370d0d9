# SPDX-License-Identifier: Apache-2.0
"""The size budget: the core stays small and includes nothing optional, a library takes little over and
owns little. Lines are those that are not blank; figures are printed where one is exceeded."""

import re

import pytest
from commands import run
from kernkit.library import parts, seal

CORE_LINES = 8000
# What was taken over when the budget began: 297 files, 20,973 lines. Since then 240 lines moved there
# from every library's kk, kernkit_add_kernel() learnt what real kernels need, an op can be removed, and
# 40 lines say what is wrong about an architecture, an op without a test, or ./kk gpu without its part,
# and let scratch of an example hold anything. Ten are ./kk wheels and ./kk test --arch;
# seventy one program of all ops, programs of one op that compile no other, and ./kk test OP; ten a wheel for aarch64;
# ten what tools are told of a device's memory; fifty lines with shapes that a copy of the SDK or the first code of an
# op cannot take, and an op of the library's name.
VENDORED_FILES, VENDORED_LINES = 297, 21000 + 240 + 250 + 50 + 40 + 10 + 70 + 10 + 10 + 50
OWNED_FILES, KK_LINES, SCALE_LINES = 32, 120, 190
LIBRARY_PACKAGES = {"g++", "python3-venv", "ninja-build", "cmake", "libgtest-dev", "libbenchmark-dev"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
WHERE_IT_IS = re.compile(r'^#if __has_include\("([^"]+)"\).*\n#include "\1"\n#endif$', re.MULTILINE)


def lines_of(path):
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


@pytest.fixture(scope="module")
def by_part(root):
    """{part: its files in sdk/}."""
    return parts.sorted_into_parts(seal.files_below(str(root / "sdk")))


def test_the_core_is_small(root, by_part):
    lines = {name: sum(lines_of(root / "sdk" / path) for path in files) for name, files in by_part.items()}
    figures = ", ".join(f"{name} {len(by_part[name])} files, {lines[name]} lines" for name in lines)
    assert lines["core"] <= CORE_LINES, figures
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


def test_a_library_takes_little_over(default_library):
    folder = default_library / "third_party/kernkit"
    files = seal.files_below(str(folder))
    budgeted = [path for path in files if parts.part_of(path) != "rows"]  # later than the budget
    lines = sum(lines_of(folder / path) for path in budgeted)
    figures = f"{len(budgeted)} files, {lines} lines in third_party/kernkit, rows left out"
    assert len(budgeted) <= VENDORED_FILES, figures
    assert lines <= VENDORED_LINES, figures
    assert any(path.startswith("cuda_on_cpu/") for path in files), "CUDA on the CPU stays in"


def test_a_library_configures_without_what_it_left(default_library, tmp_path):
    run("cmake", "-S", default_library, "-B", tmp_path, "-G", "Ninja", "-DKERNKIT_CUDA=OFF")


def test_a_library_owns_little(default_library):
    owned = [path for path in seal.files_below(str(default_library)) if not path.startswith("third_party/kernkit/")]
    assert len(owned) <= OWNED_FILES, f"{len(owned)} files: {owned}"
    kk = (default_library / "kk").read_text().splitlines()
    assert len(kk) <= KK_LINES, f"kk has {len(kk)} lines"


def test_a_kernel_is_four_small_files(root):
    lengths = {path.name: len(path.read_text().splitlines()) for path in (root / "kernels/scale").iterdir()}
    assert len(lengths) == 4 and sum(lengths.values()) <= SCALE_LINES, lengths


def test_a_library_needs_no_other_debian_package(default_library):
    """Besides those that its ./kk has always installed."""
    text = (default_library / "kk").read_text()
    (body,) = re.findall(r"\nmissing_packages\(\) \{\n(.*?)\n\}\n", text, re.DOTALL)
    assert set(re.findall(r"echo ([\w+-]+)$", body, re.MULTILINE)) == LIBRARY_PACKAGES
    assert text.count("apt-get install") == 2 and "$missing" in text  # the call, and its sentence


def test_parts_are_named_once_and_by_what_is_there(root):
    names = [part.name for part in parts.PARTS]
    assert len(set(names)) == len(names)
    assert parts.part_of("cuda_on_cpu/ptx/machine.cc") == "ptx"
    assert parts.part_of("cuda_on_cpu/runtime/memory.cc") == "cuda_on_cpu"
