# SPDX-License-Identifier: Apache-2.0
"""Running a command of which a test wants the output, or its failure's text."""

import os
import subprocess
import sys

# As if this Python's environment were active, whose wheel carries dlpack.h.
ENVIRONMENT = {**os.environ, "VIRTUAL_ENV": sys.prefix}


def run(*command):
    result = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
