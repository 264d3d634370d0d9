# SPDX-License-Identifier: Apache-2.0
"""The wheels of libraries of `kernkit new --with frameworks` contain modules for PyTorch and JAX."""

import os
import re
import site
import sys
import zipfile

import pytest
from rendering import CALL, CALLED, check, files_below, render


@pytest.fixture(scope="module")
def cpu_library(template, environment, driver_environment, tmp_path_factory):
    """Returns a library without CUDA whose schema lines have shapes, after `./kk test` and `./kk wheel`."""
    output = tmp_path_factory.mktemp("cpu")
    answers = {"library_name": "silu_and_mul", "cuda": "none", "licence": "MIT", "ci": "none", "parts": "frameworks"}
    result = render(template, output, environment, description="For the CPU.", **answers)
    assert result.returncode == 0, result.stdout
    at = {"cwd": output / "silu_and_mul", "env": driver_environment}
    added = "(Tensor(out!) y[...], Tensor x[...], float alpha=2.0) -> ()"
    check("./kk", "add", "times", added, **at)
    printed = check("./kk", "test", **at)
    assert re.search(r"\n\d+ passed, 0 failed, \d+ skipped\n", printed), printed
    check("./kk", "wheel", **at)
    return output / "silu_and_mul"


X = """
import numpy, silu_and_mul as ops
x = numpy.array([[1, -2, 3, 4]], "float32")
"""
OF_FRAMEWORKS = {
    "none": "import sys\nsys.modules['torch'] = sys.modules['jax'] = None\n" + CALL.format(name="silu_and_mul"),
    "torch": X + """
import torch, silu_and_mul.torch
given = torch.ops.silu_and_mul
def run(x): return given.times.functional(given.silu_and_mul.functional(x), 0.5)
t = torch.from_numpy(x)
y = torch.compile(run, fullgraph=True, backend="aot_eager")(t)
utilities = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static", "test_aot_dispatch_dynamic")
for op, arguments in ((given.silu_and_mul.functional, (t,)), (given.silu_and_mul.default, (t[:, 2:].clone(), t)),
                      (given.times.functional, (t, 0.5)), (given.times.default, (t + 1, t, 0.5))):
    assert set(torch.library.opcheck(op, arguments, test_utils=utilities).values()) == {"SUCCESS"}
print((2 * y).double().numpy().round(4).tolist(), ops.__version__)
""",
    "jax": X + """
import jax, silu_and_mul.jax as given
y = jax.jit(lambda x: given.times(given.silu_and_mul(x), 0.5))(x)
print((2 * numpy.asarray(y, "float64")).round(4).tolist(), ops.__version__)
""",
}


@pytest.fixture(scope="module")
def installed(cpu_library, tmp_path_factory):
    """Returns the Python interpreter of a new environment in which the wheel is installed; the environment also has
    this environment's frameworks."""
    folder = tmp_path_factory.mktemp("environment")
    check(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (wheel,) = (cpu_library / "dist").glob("*.whl")
    check(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", packages, wheel)
    (packages / "frameworks.pth").write_text("\n".join(site.getsitepackages()))
    return folder / "bin/python"


@pytest.mark.all
@pytest.mark.parametrize("framework", OF_FRAMEWORKS)
def test_frameworks_have_the_ops_of_an_installed_wheel(installed, tmp_path, framework):
    """The ops of an installed wheel work and pass torch's operator checks. Without frameworks, the package can be
    imported and called."""
    pytest.importorskip("numpy" if framework == "none" else framework)
    env = {**os.environ, "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    output = check(installed, "-B", "-W", "ignore", "-c", OF_FRAMEWORKS[framework], env=env, cwd=tmp_path)
    assert output == CALLED  # PyTorch's warnings are disabled


@pytest.mark.all
def test_a_wheel_carries_the_modules_of_frameworks(cpu_library):
    (wheel,) = (cpu_library / "dist").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"silu_and_mul/{name}.py" for name in ("_torch", "torch", "_jax", "jax", "_ops")} <= names


@pytest.mark.all
def test_a_library_without_cuda(cpu_library):
    for path, content in files_below(cpu_library).items():
        if not path.startswith(("third_party/", "kk", ".kernkit.json")):
            text = content.decode().replace("KERNKIT_CUDA", "")
            assert "cuda" not in text.lower() or path in ("tests/silu_and_mul_test.cc",), path
        assert not path.endswith(".cu") or path.startswith("third_party/")
        assert b"SPDX-License-Identifier: Apache" not in content or path.startswith("third_party/")
    assert (cpu_library / "LICENSE").read_text().startswith("MIT License\n\nCopyright (c) The authors")
    assert not (cpu_library / ".github").exists()


@pytest.mark.slow
def test_one_command_does_everything(cpu_library, driver_environment):
    printed = check("./kk", "all", cwd=cpu_library, env=driver_environment)
    assert re.search(r"\n\d+ passed, 0 failed, \d+ skipped\n", printed), printed
    assert len(re.findall(r"\n\d+ passed in ", printed)) == 2, printed  # pytest ran on the build and on the installed wheel
    assert re.search(r"  wheel: \d+ s\n", printed) and re.search(r"  together: \d+ s\n", printed), printed
