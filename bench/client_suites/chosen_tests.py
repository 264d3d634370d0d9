# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs the tests of --chosen-tests in the order of that list, and records how each test ends. pytest's
own selection splits names at brackets and colons, which the names of generated classes contain."""

import faulthandler
import json

import pytest
from endings import skipped as ending_of_skipped

PATHS = {}  # {"endings": file of --endings}
REPORTS = {}  # {test: its reports}


def pytest_addoption(parser):
    parser.addoption("--chosen-tests", required=True, metavar="FILE", help="JSON list of names of tests, without the file's name")
    parser.addoption("--endings", metavar="FILE", help="file that gets a line of JSON for each test: name, ending, reason, time [s]")
    parser.addoption("--test-limit", type=float, metavar="S", help="time limit of a test; the process ends at the limit [s]")


def pytest_configure(config):
    PATHS["endings"] = config.getoption("--endings")


def name_of(nodeid):
    """Returns the part of a test's ID after the file, since the ID does not contain the file's name if the file is
    outside pytest's root folder."""
    return nodeid.partition("::")[2]


def pytest_collection_modifyitems(config, items):
    with open(config.getoption("--chosen-tests")) as file:
        chosen = json.load(file)
    found = {}
    for item in items:
        found.setdefault(name_of(item.nodeid), item)
    items[:] = [found[name] for name in chosen if name in found]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    limit = item.config.getoption("--test-limit")
    if limit:
        faulthandler.dump_traceback_later(limit, exit=True)  # exit=True ends the process even if a thread holds Python's lock
    yield
    if limit:
        faulthandler.cancel_dump_traceback_later()


def ending_of(reports):
    """Returns the ending of a test and its reason. A failure that the package expects does not count as a failure."""
    if any(report.failed for report in reports):
        return "failed", ""
    skipped = next((report for report in reports if report.skipped and not hasattr(report, "wasxfail")), None)
    if skipped is None:
        return "passed", ""
    return ending_of_skipped(str(skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else skipped.longrepr)[:200])


def pytest_runtest_logreport(report):
    reports = REPORTS.setdefault(report.nodeid, [])
    reports.append(report)
    if report.when == "teardown" and PATHS["endings"]:
        seconds = sum(one.duration for one in reports)
        with open(PATHS["endings"], "a") as file:
            file.write(json.dumps([name_of(report.nodeid), *ending_of(reports), seconds]) + "\n")
