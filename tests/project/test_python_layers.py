# SPDX-License-Identifier: Apache-2.0
"""The modules of the command line have no circular imports, neither between modules nor between folders."""

import ast
import graphlib
import sys

import pytest
from kernkit.scaffold import components

PACKAGE = "sdk/python/kernkit"
PACKAGES = ("binaries", "codegen", "commands")  # a library has parts of these packages in third_party/kernkit and in third_party/kernkit_dev


def module_name(path, folder):
    """Returns the name of a module below the folder, such as "project.files", or "project" for the __init__.py of a
    folder."""
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(name, source, modules):
    """Returns the modules of the package that a module imports, including imports in functions and by
    import_module()."""
    folder = name.split(".")[:-1]
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) + 1 - node.level] + (node.module.split(".") if node.module else [])
            full_names = {".".join([*base, alias.name]) for alias in node.names}
            imported |= {name if name in modules else ".".join(base) for name in full_names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kernkit":
            imported.add(node.module.partition(".")[2])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            text = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            dots = len(text.value) - len(text.value.lstrip("."))
            prefix = ".".join([*folder[: len(folder) + 1 - dots], text.value[dots:]])
            imported |= {module for module in modules if module.startswith(prefix)}
    return (imported & set(modules)) - {name, ""}


@pytest.fixture(scope="module")
def graph(root):
    """Returns {module: the modules that it imports}."""
    folder = root / PACKAGE
    sources = {module_name(path, folder): path.read_text() for path in folder.rglob("*.py")}
    return {name: imports_of(name, source, sources) for name, source in sources.items()}


def steps_to_development(graph):
    """Returns the imports by which a module in third_party/kernkit of a library reaches a module in
    third_party/kernkit_dev. cli is excluded, because it imports only commands that exist."""

    def is_for_development(name):
        return components.is_for_development(f"python/kernkit/{name.replace('.', '/')}.py")

    return [(name, dependency) for name, imported in graph.items() if not is_for_development(name) and name != "cli"
            for dependency in imported if is_for_development(dependency) and dependency not in PACKAGES]  # fmt: skip


def test_modules_of_a_build_import_no_module_for_development(graph):
    assert steps_to_development(graph) == []
    planted = {**graph, "binaries.ops": {*graph["binaries.ops"], "programs"}}
    assert steps_to_development(planted) == [("binaries.ops", "programs")]


def cycle(graph):
    """Returns the nodes of a cycle, as in ["a", "b", "a"], or [] if the graph has no cycle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def of_folders(graph):
    """Returns {folder: the folders whose modules its modules import}; a module outside folders is treated as a
    folder."""
    by_folder = {}
    for name, imported in graph.items():
        folder = name.split(".")[0]
        by_folder.setdefault(folder, set()).update({dependency.split(".")[0] for dependency in imported} - {folder})
    return by_folder


def test_no_modules_import_each_other_in_a_circle(graph):
    assert len(graph) > 60 and "commands.new" in graph["cli"]
    assert cycle(graph) == []


def test_no_folders_import_each_other_in_a_circle(graph):
    assert cycle(of_folders(graph)) == []


@pytest.mark.parametrize(
    "source",
    ["from ..c import x", "from .. import c", "def f():\n    from ..c import x", "def f():\n    import_module('..c', __package__)",
     "from kernkit.c import x"],
)  # fmt: skip
def test_an_import_is_found(source):
    assert imports_of("a.b", source, {"a.b", "a.d", "c"}) == {"c"}


def packages_of(source):
    """Returns the packages outside the standard library that a module imports, including imports in functions."""
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            packages.add(node.module)
        elif isinstance(node, ast.Import):
            packages |= {alias.name for alias in node.names}
    return {name.split(".")[0] for name in packages} - set(sys.stdlib_module_names)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="sys.stdlib_module_names is new in Python 3.10")
def test_a_build_needs_no_package(root):
    """The modules that a build uses need no package, because the Python in which CMake runs `kernkit bindings` may have
    none."""
    folder = root / PACKAGE
    by_module = {module_name(path, folder): packages_of(path.read_text()) for path in folder.rglob("*.py")}
    assert packages_of("def f():\n    from elftools.elf import elffile\n    import json") == {"elftools"}
    hooks = {"copies", "manifest"}  # modules of project/ that the template's hook imports
    users = {name: packages - hooks for name, packages in by_module.items() if packages - hooks}
    assert users.pop("bench.plots") == {"matplotlib"} and users.pop("scaffold.rendering") == {"cookiecutter"}
    assert {name.split(".")[0] for name in users} == {"on_gpu", "torch_cuda", "pytest_plugin"}  # run by users, not by a build


def test_a_circle_is_found(graph):
    assert {"schema", "binaries.ops"} <= set(cycle({**graph, "schema": {"binaries.ops"}}))
    assert {"codegen", "commands"} <= set(cycle(of_folders({**graph, "codegen.python_ops": {"commands.bindings"}})))
