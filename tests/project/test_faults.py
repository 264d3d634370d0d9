# SPDX-License-Identifier: Apache-2.0
"""The kernels' tests detect the faults in tests/faults/ on a machine without a GPU. Each fault is a patch, whose first
lines describe the inputs with wrong results. The patch must apply and compile, and one of the programs below, which
pass without the patch, must fail."""

import pathlib
import shutil
import subprocess

import pytest
from commands import ENVIRONMENT, run

FAULTS = pathlib.Path(__file__).parent.parent / "faults"
TEMPLATE = "template/{{cookiecutter.library_name}}"

# {folder of faults: (the project in which the faults are planted, its test programs)}
PROGRAMS = {
    "kernels": (
        ".",
        ["scale_test", "add_test", "cuda_calls_test", "contract_test", "gpu_on_cpu_test"],
    ),
    "template": (TEMPLATE, ["silu_and_mul_test", "silu_and_mul_cuda_test"]),
}
# Kind of project for faults in code that nvcc compiles. The tests run the PTX of this code, without a sanitizer.
ON_PTX = "kernels_on_ptx"
PROGRAMS[ON_PTX] = (".", ["cuda_calls_of_nvcc_test", "contract_on_ptx_test", "gpu_on_ptx_test"])
SANITIZERS = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


class Project:
    """A copy of the repository in which a fault can be planted."""

    def __init__(self, root, dlpack_include, folder, kind):
        listed = run("git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z")
        for name in filter(None, listed.split("\0")):
            if (root / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name, follow_symlinks=False)
        subfolder, self.programs = PROGRAMS[kind]
        self.source, self.build = folder, folder / "build"
        options = {"DLPACK_INCLUDE_DIR": dlpack_include, "KERNKIT_BUILD_BENCHMARKS": "OFF"}
        if kind == ON_PTX:
            options |= {"CMAKE_BUILD_TYPE": "Release", "KERNKIT_CUDA": "ON", "CMAKE_CUDA_ARCHITECTURES": "80-virtual"}
        else:
            options |= {"CMAKE_BUILD_TYPE": "Debug", "CMAKE_C_FLAGS": SANITIZERS, "CMAKE_CXX_FLAGS": SANITIZERS,
                        "KERNKIT_CUDA": "OFF"}  # fmt: skip
        arguments = [f"-D{key}={value}" for key, value in options.items()]
        run("cmake", "-S", folder / subfolder, "-B", self.build, "-G", "Ninja", *arguments)

    def apply(self, *arguments):
        subprocess.run(["git", "apply", *arguments], cwd=self.source, check=True)

    def first_failure(self):
        """Builds the programs and runs them; returns the output of the first program that fails, or None."""
        run("cmake", "--build", self.build, "-j", "2", "--target", *self.programs)
        for program in self.programs:
            result = subprocess.run(
                [self.build / "bin" / program, "--gtest_brief=1", "--gtest_fail_fast"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, env=ENVIRONMENT,
            )
            if result.returncode:
                return result.stdout.decode(errors="replace")
        return None


@pytest.fixture(scope="module")
def project(root, dlpack_include, tmp_path_factory):
    """Returns project_of(kind), which builds a project without a fault once. The project's tests must pass."""
    projects = {}

    def project_of(kind):
        if kind not in projects:
            correct = Project(root, dlpack_include, tmp_path_factory.mktemp(kind), kind)
            assert correct.first_failure() is None  # otherwise every fault would seem to be detected
            projects[kind] = correct
        return projects[kind]

    return project_of


def patches_of(kind):
    """Returns the patches in a folder of faults. For ON_PTX, returns the patches of the folder `kernels` that change
    only code compiled by nvcc."""
    if kind != ON_PTX:
        return sorted((FAULTS / kind).glob("*.patch"))
    return [patch for patch in patches_of("kernels") if "+++ b/" in (text := patch.read_text()) and ".cc\n" not in text]


def test_twelve_faults_are_planted_for_ptx():
    assert len(patches_of(ON_PTX)) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, patch",
    [pytest.param(kind, patch, id=f"{kind}-{patch.stem}") for kind in PROGRAMS for patch in patches_of(kind)],
)
def test_fault_is_found(project, kind, patch):
    if kind == ON_PTX and not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler: the fault is in code that nvcc compiles")
    copy = project(kind)
    copy.apply(patch)
    try:
        printed = copy.first_failure()
    finally:
        copy.apply("-R", patch)
    assert printed, "no test sees: " + patch.read_text(encoding="utf-8").split("diff --git")[0]


def test_faults_apply(root):
    """All patches can be applied. Because this test is fast, an outdated patch is found soon after a change of the
    kernels."""
    patches = sorted(FAULTS.glob("*/*.patch"))
    assert patches
    for patch in patches:
        run("git", "-C", root, "apply", "--check", patch)
