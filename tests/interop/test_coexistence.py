# SPDX-License-Identifier: Apache-2.0
"""Several libraries in one process do not affect each other: two copies of one library, libraries that export the same
op, and libraries built with different versions of kernkit."""

import ctypes
import shutil
import subprocess
import sys

import compiled
import pytest
import tvm_ffi

pytestmark = pytest.mark.all

SOURCE = """
#include <string>
#include "kernkit/export.h"
#include "kernkit/base/version.h"

int64_t which() { return NUMBER; }
std::string words() { return "of library " + std::to_string(NUMBER); }
void reject(int64_t n) {
  KERNKIT_THROW(ValueError) << "library " << n << ", version " << KERNKIT_VERSION_MINOR;
}
KERNKIT_EXPORT(which, "() -> int", "Library NUMBER.", which)
KERNKIT_EXPORT(words, "() -> str", "", words)
KERNKIT_EXPORT(reject, "(int n=NUMBER) -> ()", "", reject)
"""


def other_version(root, folder):
    """Creates a copy of the headers that represents another version: errors and kept host functions have different
    layouts."""
    include = folder / "include"
    shutil.copytree(root / "sdk/include", include)

    def change(header, old, new):
        path = include / "kernkit" / header
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    change("base/version.h", "#define KERNKIT_VERSION_MINOR 1", "#define KERNKIT_VERSION_MINOR 99")
    change("error.h", "    long count;\n", "    char pad[88];\n    long count;\n")
    change("error.h", "  Block* block_;\n", "  void* pad_ = nullptr;\n  Block* block_;\n")
    change("host_api/host_api.h", "  const char* name_;\n", "  void* pad_ = nullptr;\n  const char* name_;\n")
    return include


def build(root, folder, *options):
    include = other_version(root, folder)
    paths = []
    for number, name in enumerate(("one", "two", "three"), 1):
        source = folder / f"{name}.cc"
        source.write_text(SOURCE.replace("NUMBER", str(number)))
        headers = include if name == "three" else None
        paths.append(compiled.build(source, folder / f"lib{name}.so", *options, include=headers))
    return paths


@pytest.fixture(scope="module")
def libraries(root, tmp_path_factory):
    return build(root, tmp_path_factory.mktemp("hidden"), "-fvisibility=hidden")


@pytest.fixture(scope="module")
def open_libraries(root, tmp_path_factory):
    """Returns libraries compiled without -fvisibility=hidden, as code that is compiled at run time usually is."""
    return build(root, tmp_path_factory.mktemp("open"))


def check(modules):
    for _ in range(3):
        for number, version, module in modules:
            assert module.which() == number
            assert module.words() == f"of library {number}"
            text = rf"^reject\(\): library {number}, version {version}$"
            with pytest.raises(ValueError, match=text):
                module.reject()


@pytest.mark.parametrize("which", ["libraries", "open_libraries"])
def test_python(request, which):
    libraries = request.getfixturevalue(which)
    first, second, third = (tvm_ffi.load_module(str(path)) for path in libraries)
    again = tvm_ffi.load_module(str(libraries[0]))
    check([(1, 1, first), (2, 1, second), (3, 99, third), (1, 1, again)])


@pytest.mark.parametrize(
    "which, mode",
    [
        ("libraries", ctypes.RTLD_LOCAL),
        ("libraries", ctypes.RTLD_GLOBAL),
        ("open_libraries", ctypes.RTLD_LOCAL),
    ],
)
def test_without_a_host(request, which, mode):
    libraries = request.getfixturevalue(which)
    script = f"""
import ctypes, sys
libraries = [ctypes.CDLL(path, {mode}) for path in sys.argv[1:]]
result = (ctypes.c_int64 * 2)()
for _ in range(3):
    for library in libraries:
        assert getattr(library, "__tvm_ffi_reject")(None, None, 0, result) == -1
    for i, library in enumerate(libraries):
        library.kernkit_last_error.restype = ctypes.c_char_p
        assert getattr(library, "__tvm_ffi_which")(None, None, 0, result) == 0
        assert result[1] == i + 1
        message = library.kernkit_last_error().decode()
        version = 99 if i == 2 else 1
        assert message == f"ValueError: reject(): library {{i + 1}}, version {{version}}", message
"""
    subprocess.run([sys.executable, "-c", script, *map(str, libraries)], check=True)


MAIN = """
#include <stdio.h>
#include "kernkit/host/module.h"
int main(int argc, char** argv) {
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 1; i < argc; ++i) {
      const kernkit::Module module = kernkit::Module::load(argv[i]);
      try {
        module["reject"]();
      } catch (const kernkit::Error& error) {
        printf("%d %s %s\\n", module["which"]().cast<int>(),
               module["words"]().cast<std::string>().c_str(), error.message());
      }
    }
  }
}
"""


@pytest.mark.parametrize("linked", [False, True])
def test_cpp(root, libraries, tmp_path, dlpack_include, linked):
    """In a C++ program that loads three libraries, each library calls its own functions and raises its own errors. If
    `linked` is true, the program is also linked with the libraries, so the symbols of the first library take
    precedence."""
    main = tmp_path / "main.cc"
    main.write_text(MAIN)
    program = tmp_path / "main"
    sources = sorted((root / "sdk/src/host").glob("*.cc"))
    include = ["-I", root / "sdk/include", "-I", root / "sdk/src", "-isystem", dlpack_include]
    command = ["c++", "-std=c++17", "-pthread", *include, main, *sources, "-o", program, "-ldl"]
    if linked:
        command += ["-Wl,--no-as-needed", *libraries]
    subprocess.run(command, check=True)
    result = subprocess.run(
        [program, *libraries], stdout=subprocess.PIPE, text=True, check=True
    )
    expected = [
        f"{i} of library {i} reject(): library {i}, version {99 if i == 3 else 1}" for i in (1, 2, 3)
    ]
    assert result.stdout.splitlines() == expected * 2
