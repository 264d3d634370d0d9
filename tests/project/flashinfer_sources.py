# SPDX-License-Identifier: Apache-2.0
"""Which of FlashInfer's files include tvm-ffi's headers, and the templates that some of them need."""

import json
import os
import pathlib
import re
import subprocess
import sys

# A file that FlashInfer makes of a template; a header that neither set of headers has.
TEMPLATE = re.compile(r'#include ["<](\w+\.inc)[">]')


def on_tvm_ffi(csrc):
    return sorted(
        path.name for path in csrc.iterdir()
        if path.is_file() and re.search(r"tvm/ffi/|tvm_ffi_utils\.h", path.read_text(errors="replace"))
    )  # fmt: skip


def rendered(csrc, workspace):
    """{what FlashInfer makes of a template: the folder below the workspace that has it}, one instance each."""
    program = pathlib.Path(__file__).with_name("flashinfer_templates.py")
    environment = {**os.environ, "FLASHINFER_CUDA_ARCH_LIST": "9.0a", "FLASHINFER_WORKSPACE_BASE": str(workspace)}
    command = [sys.executable, program, csrc.parents[2]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
