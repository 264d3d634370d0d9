# SPDX-License-Identifier: Apache-2.0
"""`kernkit conformance --dlpack`: each rule passes for a correct producer and fails for a producer that breaks the rule."""

import pathlib
import re

import numpy as np
import pytest

pytest.importorskip("ml_dtypes")

from kernkit import cli
from kernkit.conformance import rule as results
from kernkit.conformance.catalogue import KINDS, rule_of
from kernkit.conformance.dlpack import lifetime_rules, producers
from kernkit.conformance.runner import run

# {rule: (faults of planted_producer.py that break the rule, a part of the reason)}
FAULTS = {
    "methods": [("without_device", "has no __dlpack_device__")],
    "legacy-capsule": [("always_versioned", "named dltensor_versioned"), ("not_a_capsule", "an object of type int"),
                       ("other_name", 'the capsule has the name "tensor"')],
    "versioned-capsule": [("never_versioned", "the capsule is named dltensor")],
    "version": [("major_7", "the capsule has version 7.0"), ("minor_99", "the capsule has version 1.99")],
    "newer-consumer": [("major_7", "the capsule has version 7.0")],
    "older-consumer": [("wrong_for_old", "named dltensor_versioned"), ("raises_for_old", "raised ValueError: planted")],
    "keywords": [("lacks_keyword", "raises TypeError")],
    "unknown-keyword": [("any_keyword", "the export accepts the keyword no_such_keyword; expected TypeError")],
    "flags": [("undefined_flag", "the flags of a float32 array are 0x100")],
    "device-method": [("device_is_another", "__dlpack_device__() returns (1, 1)"), ("device_is_a_list", "__dlpack_device__() returns [1, 0]")],
    "device-of-tensor": [("tensor_on_another_device", "the capsule has device (3, 0)")],
    "export-to-cpu": [("rejects_cpu", "raises ValueError: planted"), ("tensor_on_another_device", "the capsule has device type 3")],
    "export-to-unsupported-device": [("ignores_device", "the export returns a capsule"), ("wrong_error_of_device", "ValueError: planted")],
    "stream-none": [("rejects_stream_none", "__dlpack__(stream=None) raises ValueError: planted")],
    "stream-on-cpu": [("accepts_stream", "the export with stream=1 returns a capsule")],
    "stream-minus-one": [("accepts_minus_one", "the export with stream=-1 returns a capsule")],
    "shape": [("size_one_is_dropped", "an array of shape [1] has ndim 0"), ("empty_is_one", "an array of shape [0] is exported with shape [1]")],
    "strides-present": [("null_strides", "an array of shape [1] has NULL strides in a capsule of version 1.3")],
    "elements": [("strides_in_bytes", "float32 [5]: the elements are [0.0, ")],
    "rank-zero": [("rank_zero_is_one", "ndim is 1")],
    "sliced-view": [("views_begin_at_base", "slice: the elements are ")],
    "strided-view": [("views_look_compact", "slice with steps: the elements are ")],
    "transposed-view": [("transpose_looks_compact", "transpose: the elements are [0.0, 1.0, ")],
    "reversed-view": [("strides_are_positive", "slice with a negative step: the elements are [18.0, ")],
    "empty-array": [("empty_is_one", "an array of shape [0] is exported with elements")],
    "empty-data": [("empty_has_data", "an array of shape [0] has a data pointer that is not NULL")],
    "aligned-data": [("unaligned", "the data pointer of 1 elements is a multiple of 16 bytes")],
    "integers": [("wrong_uint16", "uint16 is exported with (code, bits, lanes) = (3, 16, 1) instead of (1, 16, 1)"),
                 ("wrong_lanes", "int8 is exported with (code, bits, lanes) = (0, 8, 2) instead of (0, 8, 1)")],
    "floats": [("wrong_float16", "float16 is exported with")],
    "bfloat16": [("wrong_bfloat16", "bfloat16 is exported with")],
    "complex-numbers": [("wrong_complex64", "complex64 is exported with")],
    "booleans": [("wrong_bool", "bool is exported with")],
    "float8": [("wrong_float8_e5m2", "float8_e5m2 is exported with")],
    "sub-byte-types": [("wrong_int4", "int4 is exported with")],
    "packed-elements": [("padded_without_flag", "int4: 0, 1, 2, 3 are the bytes 00 01 instead of 10 32")],
    "arrays-without-dlpack": [("wrong_error_of_dtype", "datetime64: ValueError: no code for datetime64"),
                              ("exports_everything", "datetime64: the export returns a capsule")],
    "copy-true": [("no_copy", "the copy shares the memory of the array"), ("lacks_keyword", "raises TypeError")],
    "copied-flag": [("no_copied_flag", "the flags of a copy are 0x0; IS_COPIED is 2"), ("always_read_only", "a copy has the flag READ_ONLY")],
    "copy-false": [("always_copies", "the export is a copy"), ("lacks_keyword", "__dlpack__(copy=False) raises TypeError")],
    "copy-by-default": [("always_copies", "two exports have memory of their own without the flag IS_COPIED")],
    "read-only-flag": [("no_read_only_flag", "the flags are 0x0; READ_ONLY is 1")],
    "read-only-without-version": [("exports_read_only", "the export returns a capsule, in which the array looks writable")],
    "writable-array": [("always_read_only", "the flag READ_ONLY is set for an array that may be written")],
    "unconsumed-capsule": [("capsule_deletes_twice", "the deletion of a capsule named dltensor calls the deleter 2 times"),
                           ("capsule_leaks", "the deletion of a capsule named dltensor calls no deleter; 30 arrays of 1048576 bytes leave ")],
    "consumed-capsule": [("destructor_ignores_name", "the destructor of a consumed capsule, exported as dltensor, calls the deleter")],
    "data-outlives-array": [("memory_of_the_array_alone", "the elements change after the array is deleted")],
    "exports-are-independent": [("shared_structure", "two capsules have the same structure")],
    "structure-is-released": [("deleter_keeps_structure", "200 exports, consumed, leave "), ("capsule_leaks", "200 exports, not consumed, leave ")],
    "array-is-released": [("deleter_keeps_array", "30 arrays of 1048576 bytes leave ")],
    "exchange-table": [("exchange_major_2", "the table has version 2.3"), ("exchange_without_export", "functions of the table are NULL: from_object")],
    "exchange-export": [("exchange_exports_another", "data, shape, dtype or device differs from the tensor that __dlpack__() exports")],
    "exchange-borrow": [("exchange_borrows_another", "data, shape, dtype or device differs from the tensor that __dlpack__() exports")],
    "exchange-import": [("exchange_imports_another", "the result is of type ndarray")],
    "exchange-allocator": [("exchange_allocates_another", "the tensor has shape [7, 5]"),
                           ("exchange_allocator_fails", "the allocator fails: MemoryError: planted")],
    "exchange-stream": [("exchange_stream_of_cpu", "current_work_stream returns 0x8")],
}  # fmt: skip
CRASHES = {"deleter-without-gil": ("deleter_needs_gil", "crashed (SIGSEGV) in the deleter, called in a thread of C")}


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    """Adds the planted producers to the import path of child processes."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent))


def test_a_correct_producer_passes_every_rule():
    outcomes = run("dlpack", "planted_producer:good")
    assert [(result.rule, result.reason) for result in outcomes if result.status != results.PASS] == []
    assert [result.rule for result in outcomes] == [rule.name for rule in KINDS["dlpack"].rules]


def test_every_rule_has_a_producer_that_breaks_it():
    assert set(FAULTS) | set(CRASHES) == {rule.name for rule in KINDS["dlpack"].rules}


@pytest.mark.parametrize("rule, fault, reason", [(rule, *case) for rule, cases in FAULTS.items() for case in cases],
                         ids=lambda value: value if " " not in value else "")  # fmt: skip
def test_a_fault_is_found(rule, fault, reason, monkeypatch):
    monkeypatch.setattr(lifetime_rules, "_ROUNDS", 200)  # saves time
    outcome = results.apply(rule_of("dlpack", rule), producers.find(f"planted_producer:{fault}"))
    assert outcome.status == (results.FAIL if rule_of("dlpack", rule).level == results.MUST else results.ADVICE), outcome
    assert reason in outcome.reason


@pytest.mark.parametrize("rule", CRASHES)
def test_a_crash_is_a_result(rule):
    fault, reason = CRASHES[rule]
    (outcome,) = run("dlpack", f"planted_producer:{fault}", [rule])
    assert (outcome.status, outcome.reason) == (results.FAIL, reason)


@pytest.mark.skipif(np.__version__.startswith("2.0."), reason="NumPy 2.0 has no max_version, dl_device and copy")
def test_numpy_keeps_every_required_rule(capsys):
    assert cli.main(["conformance", "--dlpack", "numpy"]) == 0
    assert re.search(r"\| pass / FAIL / advice / n/a +\| +\| \d+ / 0 / ", capsys.readouterr().out)


def test_a_package_without_exports_is_not_accused(monkeypatch):
    """The rule about legacy capsules does not apply to a producer that rejects exports without max_version."""

    class OnlyVersioned:
        def __dlpack__(self, **keywords):
            raise BufferError("max_version is missing")

    monkeypatch.setattr(producers._NumPy, "make", lambda self, shape, dtype="float32": OnlyVersioned())
    outcome = results.apply(rule_of("dlpack", "legacy-capsule"), producers.find("numpy"))
    assert (outcome.status, outcome.reason) == (results.NOT_APPLICABLE, "the package does not support exports without max_version: BufferError: max_version is missing")
