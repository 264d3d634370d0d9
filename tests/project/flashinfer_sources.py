# SPDX-License-Identifier: Apache-2.0
"""Functions for FlashInfer's files that include tvm-ffi's headers: renders the templates that some of the files need,
and runs nvcc's front end on a file."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from commands import timed
from published import flashinfer_command

# An include of a file that FlashInfer renders from a template.
TEMPLATE = re.compile(r'#include ["<](\w+\.inc)[">]')


def on_tvm_ffi(csrc):
    return sorted(
        path.name for path in csrc.iterdir()
        if path.is_file() and re.search(r"tvm/ffi/|tvm_ffi_utils\.h", path.read_text(errors="replace"))
    )  # fmt: skip


def rendered(csrc, workspace, *attention, architecture="9.0a"):
    """Renders one instance of each template, or the templates of one kind of attention with its dtype and head size.
    Returns {rendered file: its folder below the workspace}."""
    program = pathlib.Path(__file__).with_name("flashinfer_templates.py")
    environment = {**os.environ, "FLASHINFER_CUDA_ARCH_LIST": architecture, "FLASHINFER_WORKSPACE_BASE": str(workspace)}
    command = [sys.executable, program, csrc.parents[2], *attention]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def front_end(csrc, flags, file, limit=10000):
    """Runs nvcc's front end (preprocessor and cudafe++, for host and device), which generates no code. Returns its time
    [s] and its output, which is "" if the file is accepted. `limit`: time limit of each step [s]."""
    took = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [*flashinfer_command(csrc, flags, csrc / file, f"{folder}/o"), "--dryrun", "--keep", "--keep-dir", folder]
        dry = subprocess.run(command, cwd=csrc, capture_output=True, text=True)
        steps = [line[3:] for line in dry.stderr.splitlines() if line.startswith("#$ ")]
        last = next(i for i, step in enumerate(steps) if step.startswith("cudafe++"))
        for step in steps[last - 1 : last + 1]:
            seconds, code, output = timed(f"ulimit -t {limit}; {step}", shell=True, cwd=csrc)
            took += seconds
            if code != 0:
                return took, output
    return took, ""
