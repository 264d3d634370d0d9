# SPDX-License-Identifier: Apache-2.0
"""Modules of the command line import each other in one direction, and so do the folders that hold them."""

import ast
import graphlib

import pytest

PACKAGE = "sdk/python/kernkit"


def dotted(path, folder):
    """The name of a module below the package, as in "frameworks.files"."""
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def imports_of(name, source, modules):
    """The modules of the package that a module imports, inside functions as well."""
    here = name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) + 1 - node.level] + (node.module or "").split(".") * bool(node.module)
            for alias in node.names:
                whole = ".".join([*base, alias.name])
                found.add(whole if whole in modules else ".".join(base))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kernkit":
            found.add(node.module.partition(".")[2])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            text = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            prefix = ".".join([*here, text.value.lstrip(".")]).lstrip(".")  # a module, or what its name begins with
            found.update(module for module in modules if module.startswith(prefix) and module != name)
    return found & set(modules)


@pytest.fixture(scope="module")
def modules(root):
    """{module: its imports}; __init__ of a package has the package's name."""
    folder = root / PACKAGE
    sources = {dotted(path, folder): path.read_text() for path in folder.rglob("*.py")}
    return {name: imports_of(name, source, sources) for name, source in sources.items()}


def circle(graph):
    """The nodes of a circle, as in ["a", "b", "a"], or []."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_in_a_circle(modules):
    assert len(modules) > 60 and modules["cli"] and modules["__main__"] == {"cli"}
    assert circle(modules) == []


@pytest.mark.parametrize(
    "source",
    ["from ..{last} import x", "def f():\n    from .. import {last}", "import importlib\n\ndef f():\n    importlib.import_module('..{last}', __package__)"],
)
def test_a_circle_is_found(modules, source):
    assert imports_of("a.b", "from .. import x\nfrom .c import y", {"a.b", "a.c", "x"}) == {"a.c", "x"}
    found = imports_of("a.b", source.replace("{last}", "d"), {"a.b", "d"})
    if "import_module" in source:
        found = imports_of("b", source.replace("..{last}", ".{last}").replace("{last}", "d"), {"b", "d"})
    assert found == {"d"}
    (low, *_) = modules["schema"]
    assert set(circle({**modules, low: {*modules[low], "schema"}})) == {low, "schema"}
