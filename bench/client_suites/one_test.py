# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs the one test of --one-test. pytest's own selection splits names at brackets and
colons, which the names of generated classes contain."""


def pytest_addoption(parser):
    parser.addoption("--one-test", required=True, metavar="NAME")


def pytest_collection_modifyitems(config, items):
    # The name without the file: the command line selects the file, and pytest has no name for a file outside its root.
    name = config.getoption("--one-test").partition("::")[2]
    items[:] = [item for item in items if item.nodeid.partition("::")[2] == name][:1]
