# SPDX-License-Identifier: Apache-2.0
"""The components of a library's copy: the core includes nothing optional, and a library needs few packages."""

import re

import pytest
from commands import run
from kernkit.project import copies, manifest
from kernkit.scaffold import components

LIBRARY_PACKAGES = {"g++", "python3-venv", "ninja-build", "cmake", "libgtest-dev", "libbenchmark-dev"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
WHERE_IT_IS = re.compile(r'^#if __has_include\("([^"]+)"\).*\n#include "\1"\n#endif$', re.MULTILINE)
ON_GPU = re.compile(r"^#if defined\(KERNKIT_ON_GPU\)\n(?:#include .*\n)+", re.MULTILINE)  # KernkitGpu.cmake defines KERNKIT_ON_GPU


@pytest.fixture(scope="module")
def by_name(root):
    """Returns {component: its files in sdk/}."""
    return components.by_component(manifest.files_below(str(root / "sdk")))


def test_the_core_has_what_every_library_needs(by_name):
    for path in ("abi/abi.h", "export.h", "cuda/impl/launch.h", "cpu/elementwise.h"):
        assert f"include/kernkit/{path}" in by_name["core"]
    assert {"src/kernkit.cc", "CMakeLists.txt", "cmake/KernkitLibrary.cmake"} <= set(by_name["core"])


def steps_out(root, by_name, planted=()):
    """Returns the includes by which the core reaches a component, or a component of every copy reaches an optional
    component. An include inside `#if __has_include` of the same header does not count."""
    optional = {component.name for component in components.COMPONENTS if component.copied == components.OPTIONAL}
    forbidden = {"core": set(by_name) | optional}  # components of every copy must not include optional components
    violations = []
    for name, files in by_name.items():
        for path in files:
            if not path.endswith((".h", ".cuh", ".cc", ".cu")):
                continue
            text = ON_GPU.sub("", WHERE_IT_IS.sub("", (root / "sdk" / path).read_text(encoding="utf-8")))
            for included in [*INCLUDE.findall(text), *(include for file, include in planted if file == path)]:
                component = components.component_of(f"include/{included}")
                forbidden_components = forbidden.get(name, optional if name not in optional else set()) - {name}
                if included.startswith("kernkit/") and component in forbidden_components:
                    violations.append(f"{path} ({name}) includes {included} ({component})")
    return violations


def test_the_core_includes_nothing_optional(root, by_name):
    assert steps_out(root, by_name) == []


@pytest.mark.parametrize(
    "path, included",
    [("include/kernkit/call/op.h", "kernkit/host/module.h"), ("include/kernkit/tensor.h", "kernkit/testing/tensor.h"),
     ("src/kernkit.cc", "kernkit/math.h")],
)  # fmt: skip
def test_an_include_of_a_component_is_found(root, by_name, path, included):
    (violation,) = steps_out(root, by_name, [(path, included)])
    assert violation.startswith(path) and violation.endswith(f"includes {included} ({components.component_of('include/' + included)})")


def test_a_library_takes_the_simulator_over(default_library):
    files = manifest.files_below(str(default_library / copies.DEVELOPMENT))
    assert any(path.startswith("simulator/") for path in files)
    assert not (default_library / copies.SDK / "simulator").exists()


def test_no_file_that_a_build_needs_includes_a_file_for_development(root):
    paths = [path for path in manifest.files_below(str(root / "sdk")) if not components.is_for_development(path)]
    texts = {path: (root / "sdk" / path).read_text(encoding="utf-8") for path in paths if path.endswith((".h", ".cuh", ".cc"))}
    assert len(texts) > 150
    included = {(path, header) for path, text in texts.items() for header in INCLUDE.findall(text)}
    assert [pair for pair in included if pair[1].startswith(("kernkit/testing/", "kernkit/simulator/"))] == []


def test_scripts_are_in_the_folder_of_the_cmake_file_that_names_them(default_library):
    files = [path for folder in copies.FOLDERS for path in (default_library / folder / "cmake").glob("*.cmake")]
    named = {path: re.findall(r"_LIST_DIR\}/([\w./]+\.(?:sh|map))\b", path.read_text()) for path in files}
    assert {"link_program.sh", "compile_on_cpu.sh", "kernkit.map"} <= {name for names in named.values() for name in names}
    assert [(path, name) for path, names in named.items() for name in names if not (path.parent / name).is_file()] == []


def test_a_library_configures_without_the_other_components(default_library, tmp_path):
    run("cmake", "-S", default_library, "-B", tmp_path, "-G", "Ninja", "-DKERNKIT_CUDA=OFF")


def test_a_library_needs_no_other_debian_package(default_library):
    """`./kk` of a library installs no Debian packages except LIBRARY_PACKAGES."""
    text = (default_library / "kk").read_text()
    (body,) = re.findall(r"\nmissing_packages\(\) \{\n(.*?)\n\}\n", text, re.DOTALL)
    assert set(re.findall(r"echo ([\w+-]+)$", body, re.MULTILINE)) == LIBRARY_PACKAGES
    assert text.count("apt-get install") == 2 and "$missing" in text  # one occurrence in the call, one in the message


def test_component_names_are_unique(root):
    names = [component.name for component in components.COMPONENTS]
    assert len(set(names)) == len(names)
    assert components.component_of("simulator/ptx/machine.cc") == "ptx"
    assert components.component_of("simulator/runtime/memory.cc") == "simulator"
