# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with or without planted faults, as the command line specifies: PROGRAM fault|correct KERNEL..."""

import sys


def run(kernels, error_type):
    """Calls the functions of `kernels`, {name: function}, whose names are on the command line. The argument is True if
    the first word of the command line is "fault", which switches the faults on. Prints an exception of type
    `error_type`."""
    has_fault = sys.argv[1] == "fault"
    try:
        for name in sys.argv[2:]:
            kernels[name](has_fault)
    except error_type as error:
        print(error)
