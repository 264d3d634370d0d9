# SPDX-License-Identifier: Apache-2.0
"""The command line of programs with planted faults: PROGRAM fault|correct KERNEL..."""

import sys


def run(kernels, error_type):
    """Calls the named ones of `kernels`, {name: function}, with whether the fault is switched on. Prints an error of the
    client, whose type is `error_type`."""
    has_fault = sys.argv[1] == "fault"
    try:
        for name in sys.argv[2:]:
            kernels[name](has_fault)
    except error_type as error:
        print(error)
