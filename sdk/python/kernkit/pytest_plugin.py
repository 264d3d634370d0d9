# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin that `-p kernkit` loads, for tests on device="cuda" that also run without a GPU, under `kernkit
run`.

Under `kernkit run`, the header of pytest's output states that the CPU computes the results. A test that fails because
it needs code that the simulator cannot run is skipped, with the reason. Without `kernkit run` the plugin does
nothing."""

import ctypes
import re
from typing import Any, Generator, List, Optional

import pytest

HEADER = ('kernkit: the CPU computes the results of device="cuda": kernels run by their PTX, and PyTorch\'s operators by '
          "PyTorch's kernels for the CPU. Measured times are meaningless")  # fmt: skip
# Pattern of a report about code that a GPU runs and the simulator does not. The pattern excludes the report about a
# grid that does not fit a kernel's cluster, which is an error of the program.
UNSUPPORTED = re.compile(r" cannot run: (?!the grid is not a multiple)| is not supported\b| are not supported\b")
# Beginning of the sentence that torch_cuda/ adds to PyTorch's message.
ADVICE = "kernkit runs PyTorch's operators on CUDA tensors"
# Text of cudaErrorNotSupported. The error of a test is searched too, because only the first call of an unsupported
# function adds a report.
NOT_SUPPORTED = "operation not supported"


class Reports:
    """The reports of kernkit's runtime in this process, see kernkit/simulator/reports.h."""

    def __init__(self, function: Any) -> None:
        self.function, self.count = function, 0
        function.argtypes, function.restype = [ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t

    def new(self) -> List[str]:
        """Returns the reports that the runtime has made since the previous call."""
        texts = []
        while length := self.function(self.count, None, 0):
            text = ctypes.create_string_buffer(length + 1)
            self.function(self.count, text, length + 1)
            texts.append(text.value.decode(errors="replace"))
            self.count += 1
        return texts


def reports_of_process() -> Optional[Reports]:
    """Returns the reports of the runtime that `kernkit run` loads, or None without this runtime."""
    function = getattr(ctypes.CDLL(None), "kernkit_report", None)
    return Reports(function) if function else None


REPORTS = reports_of_process()


def reason_of(error: BaseException, reports: List[str]) -> str:
    """Returns the reason why the simulator cannot run a failed test; "" if the test failed for another reason. `error`:
    the error that the test raised. `reports`: the reports that the runtime made during the test."""
    unsupported = [text for text in reports if UNSUPPORTED.search(text)]
    if unsupported:
        return unsupported[0]
    is_lacking = isinstance(error, NotImplementedError) and ADVICE in str(error)
    first_sentence = re.split(r"\. |\n", str(error))[0]
    return first_sentence if is_lacking or NOT_SUPPORTED in str(error) else ""


def pytest_report_header() -> Optional[str]:
    return HEADER if REPORTS else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, Any]:
    """Turns a failure of a test or of its setup into a skip if the cause is code that the simulator does not run. This
    hook is used because pytest does not raise failures of unittest's test cases in pytest_runtest_call."""
    report = yield
    if not REPORTS:
        return report
    reports = REPORTS.new()  # also discards the reports of a phase that passes
    if report.failed and call.when != "teardown" and call.excinfo is not None:
        reason = reason_of(call.excinfo.value, reports)
        if reason:
            file, line, _ = item.location
            report.outcome, report.longrepr = "skipped", (file, (line or 0) + 1, f"Skipped: needs a GPU: {reason}")
    return report
