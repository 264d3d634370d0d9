# SPDX-License-Identifier: Apache-2.0
"""Generates a library that replaces cuBLAS, cuDNN and NCCL on a machine without a GPU, for programs that use PyTorch
and for the libraries that such programs load.

cublas.cc computes products of matrices by PyTorch's kernels for the CPU. Every other function that returns a status
returns the library's status for an unsupported call, and the function's first call adds a report with the function's
name. The names come from NVIDIA's headers, which PyTorch's packages contain. The library is loaded before torch, so
that its functions take precedence over NVIDIA's functions. Like start.py, this file imports no other module of kernkit."""

import pathlib
import re

FOLDERS = {"cublas": "cu13/include", "cudnn": "cudnn/include", "nccl": "nccl/include"}  # below site-packages/nvidia
HEADERS = {"cublas": ("cublas_api.h", "cublasLt.h", "cublasXt.h"), "cudnn": ("cudnn*.h",), "nccl": ("nccl.h",)}
DECLARATION = {
    "cublas": r"^(cublasStatus_t|const char\s*\*|size_t|unsigned|void)\s*CUBLASWINAPI\s+(\w+)\s*\(",
    "cudnn": r"^(?:CUDNN_DEPRECATED\s+)?(cudnnStatus_t|const char\s*\*|size_t|void)\s*CUDNNWINAPI\s+(\w+)\s*\(",
    "nccl": r"^(ncclResult_t|const char\s*\*|void)\s*(p?nccl\w+)\s*\(",
}
STATUS = {"cublas": ("CUBLAS_STATUS_NOT_SUPPORTED", 15), "cudnn": ("CUDNN_STATUS_NOT_SUPPORTED", 3000),
          "nccl": ("ncclInvalidUsage", 5)}  # fmt: skip
PREAMBLE = """\
// Written by nvidia_libraries.py from NVIDIA's headers.
#include <atomic>
#include <cstddef>
#include <string>
extern "C" __attribute__((weak)) void kernkit_add_report(const char* sentence);
static int missing(const char* function, const char* status, int number, std::atomic<bool>* is_reported) {
  if (!is_reported->exchange(true) && kernkit_add_report != nullptr) {
    kernkit_add_report((std::string(function) + "() is not supported: it returns " + status +
                        "; use an operator of PyTorch, or run the program on a GPU").c_str());
  }
  return number;
}
#define MISSING(name, status, number)                        \\
  extern "C" __attribute__((weak)) int name() {              \\
    static std::atomic<bool> is_reported{false};             \\
    return missing(#name, #status, number, &is_reported);    \\
  }
#define TEXT(name)                                           \\
  extern "C" __attribute__((weak)) const char* name(int status) { \\
    return status == 0 ? "success" : "not supported without a GPU"; \\
  }
#define NUMBER(name, value) extern "C" __attribute__((weak)) size_t name() { return value; }
#define VERSION(name, value)                                 \\
  extern "C" __attribute__((weak)) int name(int* version) {  \\
    *version = value;                                        \\
    return 0;                                                \\
  }
"""


def folder_of(library, packages, others):
    """Returns the folder with the headers of a library, in a package below `packages` or in the list `others`; None if
    no folder has the headers."""
    pattern = HEADERS[library][0]
    folders = [packages / "nvidia" / FOLDERS[library], *others]
    return next((folder for folder in folders if next(folder.glob(pattern), None)), None)


def declared(library, folder):
    """Returns {name: result type} of the functions that the headers of a library declare."""
    functions = {}
    for pattern in HEADERS[library]:
        for header in sorted(folder.glob(pattern)):
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(errors="replace"), flags=re.DOTALL)
            functions.update({name: result for result, name in re.findall(DECLARATION[library], text, re.MULTILINE)})
    return functions


def number_in(folder, pattern, name):
    """Returns the value of a numeric macro in the headers of a folder; 0 if the macro is not defined. `pattern`: glob
    pattern of the headers' names."""
    for header in sorted(folder.glob(pattern)):
        found = re.search(rf"^#define {name}\s+(\d+)", header.read_text(errors="replace"), re.MULTILINE)
        if found:
            return int(found[1])
    return 0


def source(folders):
    """Returns C++ source with a weak definition of each function that the headers of the libraries declare. `folders`:
    {library: folder of its headers}."""
    lines = [PREAMBLE]
    for library, folder in folders.items():
        functions = declared(library, folder)
        if library == "cudnn":
            parts = [number_in(folder, "cudnn_version*.h", f"CUDNN_{part}") for part in ("MAJOR", "MINOR", "PATCHLEVEL")]
            lines.append(f"NUMBER(cudnnGetVersion, {parts[0] * 10000 + parts[1] * 100 + parts[2]})")
            functions.pop("cudnnGetVersion", None)
        if library == "nccl":
            lines.append(f"VERSION(ncclGetVersion, {number_in(folder, 'nccl.h', 'NCCL_VERSION_CODE')})")
            functions.pop("ncclGetVersion", None)
        for name, result in sorted(functions.items()):
            if result.startswith("const char"):
                lines.append(f"TEXT({name})")
            elif result.endswith("_t") and result != "size_t":
                lines.append(f"MISSING({name}, {STATUS[library][0]}, {STATUS[library][1]})")
            else:
                lines.append(f"NUMBER({name}, 0)")
    return "\n".join(lines) + "\n"


def found_folders(packages, others):
    """Returns {library: folder of its headers} for the libraries whose headers are installed."""
    folders = {library: folder_of(library, packages, others) for library in HEADERS}
    return {library: folder for library, folder in folders.items() if folder is not None}


def command(compiler, folders, headers, output, generated):
    """Returns the command that compiles the library. `folders`: {library: folder of its headers}. `headers`: the folder
    with cuda_runtime_api.h. `generated`: the file with source()."""
    here = pathlib.Path(__file__).resolve().parent
    sources = [str(generated), *([str(here / "cublas.cc")] if "cublas" in folders else [])]
    includes = [word for folder in {headers, folders.get("cublas", headers)} for word in ("-isystem", str(folder))]
    return [compiler, "-O1", "-std=c++17", "-shared", "-fPIC", *includes, "-o", str(output), *sources]
