# SPDX-License-Identifier: Apache-2.0
"""Runs Doxygen over copies of the public headers."""

import pathlib
import shutil
import subprocess

from public_headers import ROOT, grouped, public_headers, source_of
from reference_xml import correct_all

# Attributes, macros for attributes, and a macro for static assertions, which the reference leaves out of declarations.
ATTRIBUTES = (
    "KERNKIT_ACCESSOR KERNKIT_HOST_DEVICE KERNKIT_DEVICE KERNKIT_MATH KERNKIT_INLINE KERNKIT_ALL_INLINE KERNKIT_FLATTENED "
    "KERNKIT_COLD KERNKIT_LOCAL KERNKIT_UNROLLED KERNKIT_VECTORISED KERNKIT_VECTORISED_ROWS KERNKIT_UNFUSED "
    "KERNKIT_CONTRACT_INLINE KERNKIT_READS_POISONED_MEMORY __device__ __host__ __global__ __forceinline__ "
    "KERNKIT_SHAPE_ERRORS(x) __attribute__(x) alignas(x)"
).split()

# Predefined macros that select the branches of the preprocessor: g++ with optimisation and AddressSanitizer on x86-64.
BRANCHES = ["__cplusplus=201703L", "__GNUC__=12", "__OPTIMIZE__=1", "__x86_64__=1", "__SANITIZE_ADDRESS__=1"]

SETTINGS = {
    "PROJECT_NAME": "kernkit",
    "RECURSIVE": "YES",
    "EXTENSION_MAPPING": "cuh=C++",
    "FILE_PATTERNS": "*.h *.cuh",
    "FULL_PATH_NAMES": "YES",
    "JAVADOC_AUTOBRIEF": "YES",
    "DISTRIBUTE_GROUP_DOC": "YES",
    "EXTRACT_ALL": "YES",
    "EXCLUDE_SYMBOLS": "*::detail* detail*",
    "HIDE_FRIEND_COMPOUNDS": "YES",
    "SORT_MEMBER_DOCS": "NO",
    "MACRO_EXPANSION": "YES",
    "EXPAND_ONLY_PREDEF": "YES",
    "SKIP_FUNCTION_MACROS": "NO",
    "GENERATE_HTML": "NO",
    "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES",
    "XML_PROGRAMLISTING": "NO",
    "QUIET": "YES",
    "WARN_IF_UNDOCUMENTED": "NO",
    "WARN_AS_ERROR": "NO",
}


def run_doxygen(output: pathlib.Path) -> pathlib.Path:
    """Deletes the folder `output`, writes Doxygen's XML of the public headers to output/xml, and returns that folder.
    Raises RuntimeError if Doxygen is missing, fails or warns."""
    if not shutil.which("doxygen"):
        raise RuntimeError("doxygen is missing; install it: sudo apt-get install doxygen")
    shutil.rmtree(output, ignore_errors=True)
    copies = output / "headers"
    for header in public_headers():
        copy = copies / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(grouped(header, (ROOT / source_of(header)).read_text()))
    predefined = [f"{name}=" for name in ATTRIBUTES] + BRANCHES
    settings = {
        **SETTINGS,
        "INPUT": f'"{copies}"',
        "STRIP_FROM_PATH": f'"{copies}"',
        "OUTPUT_DIRECTORY": f'"{output}"',
        "PREDEFINED": " ".join(f'"{entry}"' for entry in predefined),
    }
    doxyfile = output / "Doxyfile"
    doxyfile.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    done = subprocess.run(["doxygen", doxyfile], capture_output=True, text=True)
    # Doxygen's messages name the copies, which have the same line numbers as the headers.
    message = "\n".join(dict.fromkeys(done.stderr.replace(f"{copies}/", "").splitlines()))
    if done.returncode != 0 or message:
        raise RuntimeError(f"doxygen reports problems in the headers' comments:\n{message}")
    correct_all(output / "xml")
    return output / "xml"
