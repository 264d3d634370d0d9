# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs the one test of --one-test. pytest's own selection splits names at brackets and colons, which
the names of generated classes contain."""


def pytest_addoption(parser):
    parser.addoption("--one-test", required=True, metavar="NAME")


def pytest_collection_modifyitems(config, items):
    name = config.getoption("--one-test")
    items[:] = [item for item in items if item.nodeid == name or item.nodeid.endswith("/" + name)][:1]
