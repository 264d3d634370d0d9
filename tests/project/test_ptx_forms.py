# SPDX-License-Identifier: Apache-2.0
"""forms.txt lists each instruction form that tests run, as "add.s32 PtxInteger.Arithmetic integers": the form, a test,
and the list of the form's SIMD code if the form has SIMD code. docs/instructions.md lists each row of the instruction
table. `python tests/project/test_ptx_forms.py` writes the list and the page."""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from cuda_tools import tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "sdk/simulator/tests/ptx/forms.txt"
PAGE = ROOT / "docs/instructions.md"
UNSUPPORTED = ROOT / "sdk/simulator/tests/ptx/unsupported_forms.txt"
PROGRAM = ROOT / "build/release/bin/ptx_test"
WRONG = ("PtxFaults", "PtxHeapFaults", "PtxMatrixFaults", "PtxVariableFaults", "PtxUnsupportedForms", "PtxInit", "PtxMbarrierFaults", "PtxBulkCopyFaults", "PtxClusterFaults", "PtxAsyncMistakes", "PtxAsyncInit", "PtxTensorCore")  # tests of unsupported forms, of faults, or of an option of the simulator
MACHINE = ("PtxInstructionTable", "PtxMemoryModel", "PtxGrid", "PtxCounters", "PtxRaces", "PtxBulkCopyOrder")  # tests of the simulator's own behaviour


def lines():
    return [line.split() for line in LIST.read_text().splitlines() if not line.startswith("#")]


def listed():
    """Returns {form: a test that runs the form}."""
    return {form: test for form, test, *_ in lines()}


def simd_listed():
    """Returns {form: the list of its SIMD code} for the forms that have SIMD code."""
    return {form: simd[0] for form, _, *simd in lines() if simd}


def table():
    """Returns {title of a section: its rows in the instruction table, as [(mnemonic, modifiers)]}."""
    text = re.sub(r'"\s+"', "", (ROOT / "sdk/simulator/ptx/isa/instructions.cc").read_text())
    sections = re.findall(r"^// ([^\n]*)\nconstexpr Instruction \w+\[\] = \{\n(.*?)^\};", text, re.M | re.S)
    return {title: re.findall(r'Instruction\("(\w+)",\s*"([^"]*)"', rows) for title, rows in sections}


def unsupported():
    """Returns [(instruction, forms, reason)] for the forms that the simulator rejects."""
    return [tuple(line.split(" ; ")) for line in UNSUPPORTED.read_text().splitlines() if not line.startswith("#")]


def instruction_names():
    """Returns the mnemonics of the instruction table."""
    return {name for rows in table().values() for name, _ in rows}


def forms_of(ptx):
    """Returns the forms in a PTX text of nvcc, which has one instruction in a line."""
    return set(re.findall(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)(?:\s[^:\n]*)?;", ptx, re.MULTILINE))


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Returns the folder into which the tests write their PTX."""
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def runs(texts):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing: run ./kk build")
    return run_tests(texts)


@pytest.fixture(scope="module")
def ran(runs):
    """Returns {form: the tests that ran the form}."""
    return runs[0]


def run_tests(folder):
    """Runs the tests; returns ({form: the tests that ran the form}, {form: the list of its SIMD code})."""
    path = folder / "forms"
    values = {"KERNKIT_PTX_FORMS": str(path), "KERNKIT_PTX_TEXTS": str(folder), "KERNKIT_PTX_AVX2": "0"}
    result = subprocess.run([PROGRAM, "--gtest_brief=1", "--gtest_filter=-PtxInstructionTable.*"], capture_output=True, text=True,
                            env={**os.environ, **values})  # fmt: skip
    assert result.returncode == 0, result.stdout
    forms, simd, names = {}, {}, instruction_names()
    for line in path.read_text().splitlines():
        form, test, simd_list = line.split()
        if form.split(".")[0] in names and not test.startswith(WRONG):
            forms.setdefault(form, []).append(test)
            if simd_list != "-":
                assert simd.setdefault(form, simd_list) == simd_list, form
    return forms, simd


def page_of_the_table():
    """Returns the part of docs/instructions.md that contains the instruction table."""
    lines = []
    for title, rows in table().items():
        lines += [f"## {title}", "", "| instruction | modifiers |", "|---|---|"]
        for name, modifiers in rows:
            items = [f"`{item}`".replace("|", "\\|") for item in modifiers.split()]
            lines.append(f"| `{name}` | {' '.join(items)} |".replace("  |", " |"))
        lines.append("")
    lines += ["## Unsupported forms", "", "The simulator rejects these forms, which PTX ISA defines for compute capability 7.5 to 8.9. For each row, a test checks that the launch of a kernel with such an instruction fails.", ""]
    lines += ["| forms | reason |", "|---|---|"] + [f"| {forms} | {reason} |" for _, forms, reason in unsupported()] + [""]
    return "\n".join(lines)


def test_the_page_lists_the_instruction_table():
    assert len(instruction_names()) > 80
    start, table_start, following = PAGE.read_text().partition("\n## ")
    assert table_start + following == "\n" + page_of_the_table(), "the page is outdated; run python tests/project/test_ptx_forms.py"


@pytest.mark.all
def test_each_listed_form_is_run_by_its_test(ran):
    assert [(form, test) for form, test in listed().items() if test not in ran.get(form, [])] == []


@pytest.mark.all
def test_each_form_that_a_test_runs_is_listed(ran):
    assert set(ran) - set(listed()) == set(), "forms.txt lacks forms; run python tests/project/test_ptx_forms.py"


@pytest.mark.all
def test_the_list_names_the_simd_code_of_each_form(runs):
    assert simd_listed() == runs[1], "forms.txt is outdated; run python tests/project/test_ptx_forms.py"


@pytest.mark.all
def test_each_form_is_in_the_program_for_a_gpu():
    """The program for a GPU, which links the same objects with NVIDIA's runtime, has a test of each form. Without a GPU
    each test is skipped."""
    program = PROGRAM.with_name("ptx_forms_gpu_test")
    if not program.exists():
        pytest.skip("no CUDA compiler: the program is linked with NVIDIA's runtime")
    names, suite = set(), ""
    for line in subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout.splitlines():
        name = line.split("#")[0].strip()
        suite = suite if line.startswith(" ") else name
        names.add(suite + name)
    assert {test for test in listed().values() if test not in names} == set()
    result = subprocess.run([program, "--gtest_filter=PtxForms.Loads"], capture_output=True, text=True)
    assert "no CUDA device" in result.stdout or "[       OK ]" in result.stdout


def rejected_by_ptxas(ptxas, text, folder):
    """Returns the lines of a PTX text that ptxas rejects, each with the error."""
    (folder / "text.ptx").write_text(text)
    target = re.search(r"^\.target (\w+)$", text, re.M)[1]
    target = "sm_80" if target == "sm_13" else target  # a later device
    result = subprocess.run([ptxas, f"-arch={target}", "-O0", "-o", os.devnull, folder / "text.ptx"], capture_output=True, text=True)
    lines, errors = text.splitlines(), re.findall(r"line (\d+); \w+ *: (.*)", result.stderr)
    assert result.returncode == 0 or errors, result.stderr
    return [(lines[int(number) - 1], why) for number, why in errors if result.returncode]


def joined(texts):
    """Merges PTX texts with the same head that contain only kernels, and renames the kernels. ptxas then needs to run
    for fewer texts."""
    entry, kernels, modules = ".visible .entry k(", {}, []
    for text in texts:
        head, body = text[: text.index(".address_size 64\n") + 17], text[text.index(".address_size 64\n") + 17 :]
        if body.startswith(entry):
            kernels.setdefault(head, []).append(body)
        else:
            modules.append(text)
    for head, bodies in kernels.items():
        modules.append(head + "".join(body.replace(entry, f".visible .entry k{i}(") for i, body in enumerate(bodies)))
    return modules


@pytest.mark.all
def test_ptxas_takes_each_text(ran, texts, tmp_path):
    """ptxas accepts the PTX of all tests, except tests of faults and of unsupported forms. The simulator may accept
    more than ptxas, so the simulator alone would not detect invalid PTX."""
    ptxas = tool("ptxas")
    if not ptxas:
        pytest.skip("ptxas is not installed")
    of_forms = [path.read_text() for path in texts.glob("*.ptx") if not path.name.startswith(WRONG)]
    assert len(of_forms) > 800
    assert [rejected for text in joined(of_forms) for rejected in rejected_by_ptxas(ptxas, text, tmp_path)] == []
    planted = of_forms[0].replace("ret;", "add.f32 %n, %n;\nret;", 1)
    assert rejected_by_ptxas(ptxas, planted, tmp_path)


@pytest.mark.all
def test_ptxas_takes_each_unsupported_form(tmp_path):
    """ptxas accepts each form on the list of unsupported forms, so the list contains only forms of the ISA."""
    ptxas = tool("ptxas")
    if not ptxas:
        pytest.skip("ptxas is not installed")
    assert len(unsupported()) > 10
    registers = ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %d<16>;\n"
    kernels = [f".visible .entry k{i}()\n{{\n{registers}{instruction};\nret;\n}}\n"
               for i, (instruction, _, _) in enumerate(unsupported())]  # fmt: skip
    text = ".version 8.8\n.target sm_89\n.address_size 64\n" + "".join(kernels)
    assert rejected_by_ptxas(ptxas, text, tmp_path) == []


# Functions of two 16-bit sources are tested with all 2^32 pairs, which takes about 29 minutes of processor time.
# KERNKIT_PTX_PAIRS=n tests every value of the first source with every n-th value of the second.
PAIRS = os.environ.get("KERNKIT_PTX_PAIRS", "1")
OF_VALUES = "PtxInteger.*:PtxReal.*:PtxConvert.*:PtxValueForms.*"


def run_longer(tests, **values):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing: run ./kk build")
    result = subprocess.run([PROGRAM, "--gtest_brief=1", f"--gtest_filter={tests}"], env={**os.environ, **values},
                            capture_output=True, text=True)  # fmt: skip
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["PtxConvert.*", "PtxInteger.*", "PtxValueForms.Comparisons", "PtxValueForms.*-*.Comparisons"])
def test_pairs_of_16_bits(tests):
    run_longer(tests, KERNKIT_PTX_PAIRS=PAIRS)


@pytest.mark.slow
def test_ten_million_random_values():
    run_longer(OF_VALUES, KERNKIT_PTX_RANDOM="10000000")


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().partition("\n## ")[0] + "\n" + page_of_the_table())
    with tempfile.TemporaryDirectory() as folder:
        tests_by_form, simd = run_tests(pathlib.Path(folder))
    of_gpu = {form: [test for test in tests if not test.startswith(MACHINE)] or tests for form, tests in tests_by_form.items()}
    text = "".join(f"{form} {tests[0]} {simd.get(form, '')}".rstrip() + "\n" for form, tests in sorted(of_gpu.items()))
    LIST.write_text("# Forms of instructions that the PTX machine runs, each with a test that runs it, and with the list of its SIMD code.\n"
                    + text)  # fmt: skip
