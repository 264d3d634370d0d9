# SPDX-License-Identifier: Apache-2.0
"""Settings for Python packages that compile kernels themselves: Triton, Numba, CuPy, PyTorch, FlashInfer. With these
settings, each package keeps PTX instead of machine code, in a private cache, so that no run on a GPU loads a kernel
that was compiled for the simulator."""

import os
import pathlib
import re
from typing import Dict, Mapping, Optional

DEFAULT_CAPABILITY = "80"  # compute capability 8.0, for which the packages compile tensor-core code to mma instructions
# {environment variable that names a folder of compiled code: name of the private folder}.
CACHES = {
    "TRITON_CACHE_DIR": "triton",
    "NUMBA_CACHE_DIR": "numba",
    "CUPY_CACHE_DIR": "cupy",
    "CUDA_CACHE_PATH": "nvidia",
    "TORCH_EXTENSIONS_DIR": "torch_extensions",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
}
# A script that packages run instead of ptxas. The script copies the PTX to the output file. libcuda.so.1 of kernkit
# loads PTX as text.
PTXAS = """\
#!/bin/sh
input= output=
while [ $# -gt 0 ]; do
  case $1 in
    --version) exec echo "ptxas of kernkit, which passes PTX on: Cuda compilation tools, release 13.0, V13.0.88";;
    -o|--output-file) output=$2; shift;;
    *.ptx) input=$1;;
  esac
  shift
done
if [ -z "$input" ] || [ -z "$output" ]; then
  echo "ptxas of kernkit: expected FILE.ptx -o FILE" >&2
  exit 1
fi
exec cp "$input" "$output"
"""
# A script that FlashInfer's build files run with the command line of nvcc as arguments. The script changes the options
# so that nvcc writes PTX instead of machine code, and runs nvcc.
NVCC_LAUNCHER = """\
#!/bin/sh
for word; do
  shift
  case $word in
    -gencode=arch=compute_*,code=sm_*)
      architecture=${word#-gencode=arch=} architecture=${architecture%%,*}
      word=-gencode=arch=$architecture,code=$architecture;;
  esac
  set -- "$@" "$word"
done
exec "$@"
"""


def is_python(program: str) -> bool:
    """Returns whether a program is the Python interpreter, or a script that Python runs."""
    if re.fullmatch(r"python[\d.]*", pathlib.Path(program).resolve().name):
        return True
    with open(program, "rb") as file:
        first = file.readline(256)
    return first.startswith(b"#!") and b"python" in first


def write_script(path: pathlib.Path, text: str) -> str:
    """Writes `text` into the executable file `path`, unless the file already contains this text. Returns the path."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The file is complete before it is renamed, so that other processes see the whole file.
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text(text)
        partial.chmod(0o755)
        os.replace(partial, path)
    return str(path)


def settings(folder: pathlib.Path, driver: Optional[pathlib.Path], environment: Mapping[str, str]) -> Dict[str, str]:
    """Returns the environment variables of a run: folders for caches below `folder` and, if the run has a `driver`
    (libcuda.so.1), the scripts PTXAS and NVCC_LAUNCHER. If `environment` already sets the variable of a cache folder,
    the run uses the subfolder kernkit of that folder instead."""
    variables = {}
    for name, private in CACHES.items():
        folder_name = environment.get(name)
        variables[name] = str(pathlib.Path(folder_name) / "kernkit" if folder_name else folder / "caches" / private)
    variables["CUPY_COMPILE_WITH_PTX"] = "1"
    if driver:
        assembler = write_script(folder / "ptxas", PTXAS)
        variables.update(TRITON_PTXAS_PATH=assembler, TRITON_PTXAS_BLACKWELL_PATH=assembler, TRITON_LIBCUDA_PATH=str(driver.parent))
        launcher = write_script(folder / "nvcc_launcher", NVCC_LAUNCHER)
        variables["FLASHINFER_NVCC_LAUNCHER"] = " ".join(filter(None, [launcher, environment.get("FLASHINFER_NVCC_LAUNCHER")]))
    return variables
