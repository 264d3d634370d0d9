# SPDX-License-Identifier: Apache-2.0
"""`kernkit conformance LIB.so`: each rule passes for a correct library and fails for a library that breaks the rule."""

import json
import pathlib
import subprocess

import pytest
import tvm_ffi
from kernkit import cli
from kernkit.conformance import rule as results
from kernkit.conformance.catalogue import KINDS, rule_of
from kernkit.conformance.library.guarded import GuardedPage
from kernkit.conformance.library.subject import Subject
from kernkit.conformance.runner import run

FOLDER = pathlib.Path(__file__).parent
FLAGS = ("-Wl,-Bsymbolic", "-Wl,-z,nodelete")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Compiles planted_library.c with a fault, once for each fault and set of flags."""
    folder, built = tmp_path_factory.mktemp("planted"), {}

    def compile_with(fault="", flags=FLAGS):
        path = built.setdefault((fault, *flags), folder / f"lib{fault.lower() or 'good'}{len(built)}.so")
        if not path.exists():
            command = ["gcc", "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-w", *([f"-DFAULT_{fault}"] if fault else []), *flags]
            subprocess.run([*command, FOLDER / "planted_library.c", "-o", path], check=True)
        return path

    return compile_with


def test_a_correct_library_passes_every_rule(planted):
    outcomes = run("library", str(planted()))
    assert [(result.rule, result.reason) for result in outcomes if result.status != results.PASS] == []
    assert [result.rule for result in outcomes] == [rule.name for rule in KINDS["library"].rules]


# (rule, fault, the beginning of the reason). These faults do not harm the process of the test, in which the rule is
# applied.
FAULTS = [
    ("exported-functions", "METADATA_WITHOUT_FUNCTION", "other: metadata or documentation without an exported function"),
    ("unique-symbols", "UNIQUE_SYMBOL", "planted_shared: shared by all libraries of a process"),
    ("process-state", "SIGNAL_HANDLER", "loading the library changes: signal handlers"),
    ("loads", "UNDEFINED_SYMBOL", "the library cannot be loaded: "),
    ("library-context", "CONTEXT_IS_SET", "__tvm_ffi__library_ctx is 0x8; expected NULL until the loader stores the handle of the library"),
    ("metadata", "METADATA_IS_NO_JSON", "__tvm_ffi__metadata_op() returns no JSON"),
    ("metadata", "METADATA_OF_ANOTHER_TYPE", "op: type_schema is of type int; expected ffi.Function"),
    ("documentation", "DOCUMENTATION_IS_AN_INT", "__tvm_ffi__doc_op() returns a value of type index 1; expected a str, type index 11 or 65"),
    ("argument-count", "ACCEPTS_ANY_COUNT", "op() accepts 65 arguments; its metadata has 2 parameters"),
    ("argument-count", "NO_ERROR_SET", "op() returns -1 and sets no error"),
    ("none-arguments", "ACCEPTS_NONE", None),
    ("wrong-types", "ACCEPTS_A_STR", None),
    ("unknown-type", "ACCEPTS_UNKNOWN", None),
    ("borrowed-arguments", "CHANGES_ARGUMENTS", "op() changes the array of its arguments, which is const"),
    ("borrowed-arguments", "KEEPS_A_REFERENCE", "op() fails and leaves an argument with 2 references instead of 1"),
    ("borrowed-arguments", "CHANGES_A_TENSOR", "op() fails and changes the DLTensor of an argument"),
    ("error-code", "ERROR_CODE", "op() returns 1; expected -1 for an error"),
    ("error-code", "NO_ERROR_SET", "op() returns -1 and sets no error"),
    ("error-code", "ERROR_IS_A_STR", "op() sets an object of type index 65; expected 67, the type index of ffi.Error"),
    ("error-kind", "EMPTY_KIND", 'op() sets an error of kind ""; expected one identifier, such as TypeError'),
    ("error-kind", "KIND_IS_A_SENTENCE", 'op() sets an error of kind "not a kind"; expected one identifier, such as TypeError'),
    ("error-kind", "EMPTY_MESSAGE", "op() sets an error without a message"),
    ("result-after-error", "RESULT_AFTER_ERROR", "op() returns an error and an object of type index 65"),
    ("error-is-released", "ERROR_IS_KEPT", "the error that op() sets has 2 references; expected 1, held by the error slot"),
    ("error-is-released", "ERROR_LEAKS", "1000 failed calls of op() leave "),
    ("error-of-thread", "THREADS_SHARE_STATE", "op(), called in several threads, leaves RuntimeError in the slot of its thread; expected TypeError, as in one thread"),
    ("error-after-success", "ERROR_AFTER_SUCCESS", "__tvm_ffi__metadata_op() returns 0 and leaves RuntimeError: planted"),
]  # fmt: skip

# (rule, fault, the reason). A library with one of these faults ends or changes the process that loads the library.
ENDS = [
    ("process-state", "ENVIRONMENT", "loading the library changes: environment variables"),
    ("process-state", "CURRENT_FOLDER", "loading the library changes: current folder"),
    ("library-context", "CONTEXT_IS_CONST", "crashed (SIGSEGV) in a store to __tvm_ffi__library_ctx"),
    ("loads-twice", "LOADED_ONCE", "crashed (SIGABRT) in dlopen() of a copy"),
    ("argument-count", "READS_MISSING_ARGUMENTS", "crashed (SIGSEGV) in op() with 0 arguments"),
    ("none-arguments", "NONE_IS_A_TENSOR", "crashed (SIGSEGV) in op() with 2 arguments of type index 0"),
    ("wrong-types", "FLOAT_IS_A_TENSOR", "crashed (SIGSEGV) in op() with 2 arguments of type index 3"),
    ("small-tensors", "READS_PAST_A_TENSOR", "crashed (SIGSEGV) in op() with 2 arguments of type index 7"),
]  # fmt: skip

# {rule: flags, in place of FLAGS, with which the correct planted_library.c breaks the rule}
FLAGS_OF = {"bound-to-itself": ("-Wl,-z,nodelete",), "stays-mapped": ("-Wl,-Bsymbolic",), "startup-code": (*FLAGS, "-ffast-math")}


def test_every_rule_has_a_library_that_breaks_it():
    assert {rule for rule, *_ in FAULTS + ENDS} | set(FLAGS_OF) == {rule.name for rule in KINDS["library"].rules}


@pytest.mark.parametrize("rule, fault, reason", FAULTS, ids=lambda value: value if isinstance(value, str) and " " not in value else "")
def test_a_fault_is_found(planted, rule, fault, reason):
    outcome = results.apply(rule_of("library", rule), Subject(str(planted(fault))))
    assert outcome.status == (results.FAIL if rule_of("library", rule).level == results.MUST else results.ADVICE)
    assert reason is None or outcome.reason.startswith(reason), outcome.reason


@pytest.mark.parametrize("rule, fault, reason", ENDS, ids=lambda value: value if " " not in value else "")
def test_a_crash_is_a_result(planted, rule, fault, reason):
    (outcome,) = run("library", str(planted(fault)), [rule])
    assert outcome.status in (results.FAIL, results.ADVICE) and outcome.reason == reason


@pytest.mark.parametrize("rule", FLAGS_OF)
def test_a_fault_of_the_link_is_found(planted, rule):
    path = planted(flags=FLAGS_OF[rule])
    if rule == "startup-code" and b"set_fast_math" not in path.read_bytes():
        pytest.skip("this gcc links no start-up code into a shared library")
    assert results.apply(rule_of("library", rule), Subject(str(path))).status == results.ADVICE


def test_the_rules_after_a_crash_are_applied(planted):
    rules = ["metadata", "none-arguments", "error-code"]
    assert [result.status for result in run("library", str(planted("NONE_IS_A_TENSOR")), rules)] == ["pass", "FAIL", "pass"]


def test_a_call_that_does_not_return_is_stopped(planted):
    (outcome,) = run("library", str(planted("NEVER_RETURNS")), ["none-arguments"], patience=2)
    assert outcome.reason == "did not return within 2 s in op() with 2 arguments of type index 0"


def test_rules_without_a_function_are_not_applicable(planted, tmp_path):
    path = tmp_path / "libempty.so"
    subprocess.run(["gcc", "-shared", *FLAGS, "-x", "c", "/dev/null", "-o", path], check=True)
    outcomes = {result.rule: result for result in run("library", str(path))}
    assert outcomes["error-code"].status == results.NOT_APPLICABLE and outcomes["loads"].status == results.PASS
    assert outcomes["error-code"].reason == "the library exports no function __tvm_ffi_*"


def test_memory_past_a_guarded_page_is_placed():
    page = GuardedPage()
    assert page.address_of_end(16) + 16 == page.address_of_end(0) == page.end
    with pytest.raises(ValueError, match="do not fit into a page"):
        page.address_of_end(5000)


# The command


def test_table_json_and_exit_codes(planted, tmp_path, capsys):
    good, bad, record = str(planted()), str(planted("ERROR_CODE")), tmp_path / "record.json"
    arguments = ["--rule", "error-code", "--rule", "stays-mapped", "--json", str(record)]
    assert cli.main(["conformance", good, *arguments]) == 0
    assert cli.main(["conformance", good, bad, *arguments]) == 1
    lines = capsys.readouterr().out.splitlines()[-8:]
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == ["rule", "level", pathlib.Path(good).name, pathlib.Path(bad).name]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:5]]
    assert cells == [["stays-mapped", "should", "pass", "pass"], ["error-code", "must", "pass", "FAIL"],
                     ["pass / FAIL / advice / n/a", "", "2 / 0 / 0 / 0", "1 / 1 / 0 / 0"]]  # fmt: skip
    assert f"FAIL: {pathlib.Path(bad).name}: error-code: op() returns 1; expected -1 for an error [tvm/ffi/c_api.h, TVMFFISafeCallType]" in lines
    written = json.loads(record.read_text())
    assert not written["ok"] and [product["product"] for product in written["products"]] == [good, bad]
    assert written["products"][1]["results"][1] == {"rule": "error-code", "status": "FAIL", "reason": "op() returns 1; expected -1 for an error"}


def test_advice_is_a_negative_result_with_strict_only(planted):
    arguments = ["conformance", str(planted(flags=FLAGS[:1])), "--rule", "stays-mapped"]
    assert cli.main(arguments) == 0 and cli.main([*arguments, "--strict"]) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no product was named; enter the path of a library, or --dlpack with a package such as numpy"),
        (["missing.so"], "missing.so cannot be read: No such file or directory"),
        ([__file__], "is not a shared library: the file has no ELF header"),
        (["--dlpack", "nump"], '--dlpack "nump" is not a producer; enter numpy, torch, jax, tvm_ffi, or module:function'),
        (["--dlpack", "no_such_module:make"], "--dlpack no_such_module:make: ModuleNotFoundError: "),
        (["--dlpack", "numpy", "--rule", "loads"], '--rule "loads" is not a rule for these products'),
    ],
)  # fmt: skip
def test_wrong_arguments_are_rejected(arguments, message, capsys):
    assert cli.main(["conformance", *arguments]) == 3
    assert message in capsys.readouterr().err


def test_a_product_that_cannot_be_opened_is_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "planted_exit.py").write_text("import os\nos._exit(7)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert cli.main(["conformance", "--dlpack", "planted_exit:make"]) == 3
    message = "planted_exit:make: the product ended its process with exit code 7 while it was opened; open it in Python"
    assert message in capsys.readouterr().err


def test_the_rules_are_listed(capsys):
    assert cli.main(["conformance", "--rules"]) == 0
    printed = capsys.readouterr().out
    for kind in KINDS.values():
        names = [rule.name for rule in kind.rules]
        assert len(names) == len(set(names)) and all(f"| {name} " in printed for name in names)
        assert all(rule.sentence.endswith(".") and rule.source for rule in kind.rules)


def test_a_host_that_is_not_installed_is_reported(planted, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Exception, match="run pip install apache-tvm-ffi"):
        Subject(str(planted()))


def test_a_library_on_tvm_ffis_own_headers():
    """The testing library in the wheel of apache-tvm-ffi passes every required rule."""
    path = pathlib.Path(tvm_ffi.__file__).parent / "lib/libtvm_ffi_testing.so"
    assert [result for result in run("library", str(path)) if result.status == results.FAIL] == []
