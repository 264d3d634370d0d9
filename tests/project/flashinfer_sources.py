# SPDX-License-Identifier: Apache-2.0
"""Which of FlashInfer's files include tvm-ffi's headers, the templates that some of them need, and
what nvcc's front end says of a file."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from commands import timed
from published import flashinfer_command

# A file that FlashInfer makes of a template; a header that neither set of headers has.
TEMPLATE = re.compile(r'#include ["<](\w+\.inc)[">]')


def on_tvm_ffi(csrc):
    return sorted(
        path.name for path in csrc.iterdir()
        if path.is_file() and re.search(r"tvm/ffi/|tvm_ffi_utils\.h", path.read_text(errors="replace"))
    )  # fmt: skip


def rendered(csrc, workspace, *attention, architecture="9.0a"):
    """{what FlashInfer makes of a template: the folder below the workspace that has it}, one instance each;
    or of a kind of attention with its dtype and size of heads."""
    program = pathlib.Path(__file__).with_name("flashinfer_templates.py")
    environment = {**os.environ, "FLASHINFER_CUDA_ARCH_LIST": architecture, "FLASHINFER_WORKSPACE_BASE": str(workspace)}
    command = [sys.executable, program, csrc.parents[2], *attention]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def front_end(csrc, flags, file, limit=10000):
    """Seconds of nvcc's front end, that is the preprocessor and cudafe++, which reads for host and device; and
    what it says: "" when it takes the file. No code is made. A step may take `limit` seconds."""
    took = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [*flashinfer_command(csrc, flags, csrc / file, f"{folder}/o"), "--dryrun", "--keep", "--keep-dir", folder]
        dry = subprocess.run(command, cwd=csrc, capture_output=True, text=True)
        steps = [line[3:] for line in dry.stderr.splitlines() if line.startswith("#$ ")]
        last = next(i for i, step in enumerate(steps) if step.startswith("cudafe++"))
        for step in steps[last - 1 : last + 1]:
            seconds, code, said = timed(f"ulimit -t {limit}; {step}", shell=True, cwd=csrc)
            took += seconds
            if code != 0:
                return took, said
    return took, ""
