# SPDX-License-Identifier: Apache-2.0
"""Tests the Python functions that `kernkit bindings` writes: their calls, errors, signatures and documentation."""

import importlib
import inspect
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import compiled
import numpy as np
import pytest
import tvm_ffi


def write_package(root, library, folder, name):
    """Writes a package of the library's functions into `folder`, imports the package and returns it."""
    package = folder / name
    command = [sys.executable, "-m", "kernkit", "bindings", library, "--package", name]
    written = subprocess.run(
        [*map(str, command), "--output", str(package)],
        cwd=root / "sdk/python", capture_output=True, text=True,
    )  # fmt: skip
    assert written.returncode == 0, written.stderr
    shutil.copy(library, package)
    (package / "__init__.py").write_text("from ._ops import *\n")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def kernel_package(root, library, tmp_path_factory):
    return write_package(root, library, tmp_path_factory.mktemp("kernels"), "bound_kernels")


@pytest.fixture(scope="module")
def odd(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    library = folder / "libodd.so"
    compiled.build(root / "tests/interop/bindings/bindings.cc", library)
    return write_package(root, library, folder, "odd_package")


def test_positional_and_keyword_arguments(kernel_package):
    x = np.arange(3, dtype="float32")
    y = np.empty_like(x)
    assert kernel_package.scale(y, x, 2.0) is None
    np.testing.assert_array_equal(y, 2 * x)
    kernel_package.scale(factor=3, x=x, y=y)
    np.testing.assert_array_equal(y, 3 * x)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f, y: f(y, y), "scale() missing 1 required positional argument: 'factor'"),
        (lambda f, y: f(y, y, 1.0, out=y), "scale() got an unexpected keyword argument 'out'"),
        (lambda f, y: f(y, y, 1.0, x=y), "scale() got multiple values for argument 'x'"),
        (lambda f, y: f(y, y, "2"), 'scale(): factor: expected float, got str "2"'),
        (lambda f, y: f(y > 0, y > 0, 1), "scale(): x: dtype bool is not supported; "),
    ],
)
def test_an_invalid_call_is_rejected_by_python_or_by_the_kernel(kernel_package, call, message):
    with pytest.raises(TypeError) as caught:
        call(kernel_package.scale, np.zeros(3, "float32"))
    assert str(caught.value).startswith(message)


def test_written_files(root, kernel_package):
    golden = (root / "tests/interop/bindings/scale.py").read_text()
    function = golden.partition("# [function]\n")[2].partition("# [/function]")[0]
    assert function and function in pathlib.Path(kernel_package._ops.__file__).read_text()


def test_signature_and_help_of_a_function(kernel_package):
    scale = kernel_package.scale
    assert scale.__name__ == "scale"
    assert str(inspect.signature(scale)) == (
        "(y: 'Tensor', x: 'Tensor', factor: 'float') -> 'None'"
    )
    assert inspect.getdoc(scale) == (
        "y = x * factor, elementwise.\n\nscale(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"
    )
    assert typing.get_type_hints(scale)["factor"] is float
    assert [name for name in dir(kernel_package) if name[0] != "_"] == ["add", "scale"]


def test_defaults_are_those_of_the_schema(odd):
    bare = tvm_ffi.load_module(f"{odd.__path__[0]}/libodd.so")
    all_of_them = '-7 1e-06 inf -inf 1 true it\\s "so" bfloat16 falsefalse'
    assert odd.defaults() == bare.defaults() == all_of_them
    assert odd.defaults(whole=2, flag=False) == all_of_them.replace("1 true", "2 false")


def test_names_that_mean_something_else_in_python(odd):
    assert odd.lambda__(from_=1, lambda_=2) == 123
    assert odd.lambda__(1, 2, lambda__=4) == 124
    assert odd.lambda_(5) == 5
    assert odd.library(_library=6) == 6
    assert odd._library(tvm_ffi=1, os=2, Tensor=3) == 123
    assert odd.str("text") == "text" and odd.bytes(b"1234") == 4
    assert list(odd.Any()) == [1, 2.5] and list(odd.kind(7, 2)) == [3, 1]
    assert odd.applied(lambda x: x / 2, 3.0) == 1.5
    assert odd.written(np.zeros(2)) is odd.written(y=np.zeros(2), x=np.zeros((2, 3))[:, ::2]) is None
    assert odd.any(tuple=np.zeros(2), hasattr=[np.zeros(2)]) == 1
    for name in odd._ops.__all__:
        typing.get_type_hints(getattr(odd, name))


def test_any_documentation_is_shown_unchanged(odd):
    assert inspect.getdoc(odd.written) == (
        'Ends a text: """ \\ \x07\n\n    indented, then a last "\n\n'
        "written(Tensor(a!) y, Tensor? x=None) -> ()"
    )


USE = """
import numpy as np
import bound_kernels, odd_package
from bound_kernels import scale

x = np.zeros(3, "float32")
scale(x, x, factor=2)
odd_package.written(x)
odd_package.defaults(n=None, sizes=(1, 2), dtype=np.float32)
ints = [1]
ints += odd_package.kind(1, b=1)
text: str = odd_package.str("a")
scale(x, x, "2")
scale(x, "x", 2.0)
scale(x, x)
text = odd_package.bytes(b"")
"""


SETTINGS = """
[mypy]
strict = True
show_error_codes = True
[mypy-tvm_ffi.*]
follow_imports = skip
"""


@pytest.mark.all
def test_type_checkers_read_it(kernel_package, odd, tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    for package in (kernel_package, odd):
        folder = package.__path__[0]
        shutil.copytree(folder, tmp_path / package.__name__)
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "use.py", "bound_kernels/_ops.py", "odd_package/_ops.py"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    wrong = re.findall(r"^(.*): error: .*\[(.*)\]$", checked.stdout, re.MULTILINE)
    assert wrong == [
        ("use.py:13", "arg-type"),
        ("use.py:14", "arg-type"),
        ("use.py:15", "call-arg"),
        ("use.py:16", "assignment"),
    ], checked.stdout
