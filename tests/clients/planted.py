# SPDX-License-Identifier: Apache-2.0
"""The command line of programs with planted faults: PROGRAM fault|correct KERNEL..."""

import sys


def run(kernels, error_type):
    """Calls those functions of `kernels`, {name: function}, that the command line names, with True if the fault is
    switched on. Prints an exception of type `error_type`, which the client raises."""
    has_fault = sys.argv[1] == "fault"
    try:
        for name in sys.argv[2:]:
            kernels[name](has_fault)
    except error_type as error:
        print(error)
