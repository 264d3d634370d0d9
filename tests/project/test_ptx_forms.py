# SPDX-License-Identifier: Apache-2.0
"""Each form of an instruction that the PTX machine knows has a test. forms.txt lists them: "add.s32
PtxInteger.Arithmetic". `python tests/project/test_ptx_forms.py` writes the list anew."""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/sdk/cuda_on_cpu/ptx/forms.txt"
PROGRAM = ROOT / "build/release/bin/ptx_test"
WRONG = ("PtxFaults", "PtxHeapFaults")  # tests of what the machine does not know, or of faults


def listed():
    return dict(line.split() for line in LIST.read_text().splitlines() if not line.startswith("#"))


def known():
    """The names of the instructions that the decoder knows."""
    return set(re.findall(r'^ *\{"(\w+)", \w+\},$', (ROOT / "sdk/cuda_on_cpu/ptx/lanes/families.cc").read_text(), re.M))


def forms_of(ptx):
    """Those of a PTX text as nvcc writes it, one in a line."""
    return set(re.findall(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)(?:\s[^:\n]*)?;", ptx, re.MULTILINE))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """{form: the tests that ran it}."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing: ./kk build makes it")
    return run_tests(tmp_path_factory.mktemp("forms") / "forms")


def run_tests(path):
    done = subprocess.run([PROGRAM, "--gtest_brief=1"], env={**os.environ, "KERNKIT_PTX_FORMS": str(path)},
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout
    forms = {}
    for line in path.read_text().splitlines():
        form, test = line.split()
        if form.split(".")[0] in known() and not test.startswith(WRONG):
            forms.setdefault(form, []).append(test)
    return forms


def test_each_instruction_of_the_decoder_is_listed():
    names = known()
    assert len(names) > 80
    assert names - {form.split(".")[0] for form in listed()} == set()


@pytest.mark.all
def test_each_listed_form_is_run_by_its_test(ran):
    assert [(form, test) for form, test in listed().items() if test not in ran.get(form, [])] == []


@pytest.mark.all
def test_each_form_that_a_test_runs_is_listed(ran):
    assert set(ran) - set(listed()) == set(), "python tests/project/test_ptx_forms.py adds them to forms.txt"


# Of two sources of 16 bits all 2^32 pairs, in about 29 minutes of one processor; KERNKIT_PTX_PAIRS=n: every value
# of the first with every n-th of the second.
PAIRS = os.environ.get("KERNKIT_PTX_PAIRS", "1")
OF_VALUES = "PtxInteger.*:PtxReal.*:PtxConvert.*:PtxValueForms.*"


def run_longer(tests, **values):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing: ./kk build makes it")
    done = subprocess.run([PROGRAM, "--gtest_brief=1", f"--gtest_filter={tests}"], env={**os.environ, **values},
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["PtxConvert.*", "PtxInteger.*", "PtxValueForms.Comparisons", "PtxValueForms.*-*.Comparisons"])
def test_pairs_of_16_bits(tests):
    run_longer(tests, KERNKIT_PTX_PAIRS=PAIRS)


@pytest.mark.slow
def test_ten_million_random_values():
    run_longer(OF_VALUES, KERNKIT_PTX_RANDOM="10000000")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = run_tests(pathlib.Path(folder) / "forms")
    lines = (f"{form} {tests[0]}\n" for form, tests in sorted(found.items()))
    LIST.write_text("# Forms of instructions that the PTX machine runs, each with a test that runs it.\n" + "".join(lines))
