# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file

for folder in sorted(pathlib.Path(sys.argv[1]).glob("add_to-*")):
    if (folder / "results.json").exists():
        arguments = {argument["name"]: argument for argument in json.loads((folder / "call.json").read_text())["arguments"]}
        before, after = load_file(folder / "inputs.safetensors"), load_file(folder / "outputs.safetensors")
        expected = before["y"] + before["x"] * arguments["factor"]["value"]
        if not np.allclose(after["y"], expected, rtol=1e-5, atol=1e-6):
            print(folder)
