# SPDX-License-Identifier: Apache-2.0
"""Compile times of FlashInfer's files that include tvm-ffi's headers. nvcc compiles each file with kernkit's headers of
the same names, then with tvm-ffi's headers:

    python bench/python/flashinfer_compile.py FOLDER_OF_THE_UNPACKED_WHEEL RECORD.jsonl [--how HOW] [--until 05:15]

Times are seconds of processor time. HOW selects the steps of the compilation:

  front end    the preprocessor and cudafe++, which reads a file for host and device and makes no code
  unoptimised  in addition the device's front end (`nvcc -fdevice-syntax-only`), and the host's compiler with -O0. Device
               code takes the same time to optimise with both sets of headers if its text is the same: the kernels and all
               functions that they call are compared after the front end (`same`). Host code takes no longer to optimise if
               the object has no more bytes.
  whole        the host's object with -O3, and PTX, which is compared. ptxas reads the same PTX with both.

Files with short times are measured first. A file that the record contains with this or a later HOW is skipped. A file
with a ratio above 1.05 is measured up to three more times, and the shortest times count. The result is None for a set
of headers with which nvcc rejects the file."""

import argparse
import concurrent.futures
import datetime
import functools
import json
import pathlib
import re
import sys
import tempfile

import tvm_ffi
from rows import ROOT

sys.path.insert(0, str(ROOT / "tests/project"))
import flashinfer_sources  # noqa: E402
from commands import timed  # noqa: E402
from device_code import device_code, unnumbered  # noqa: E402
from published import flashinfer_command, flashinfer_folders  # noqa: E402

HOW = ("front end", "unoptimised", "whole")
PTX = "arch=compute_90a,code=compute_90a"
LIMITS = (30, 120, 480, 2000)  # time limit of a step of nvcc in each round [s]; a slower file is measured in the next round
SLOWER = 1.05


class TooLong(Exception):
    pass


def has_error(output):
    """Returns True if the compiler's output has an error message with a source line. Otherwise raises TooLong: the step
    was ended at its time limit."""
    if re.search(r"\.\w+(:\d+:|\(\d+\):).* error", output):
        return True
    raise TooLong


def made_of(csrc, flags, file, how, limit):
    """Compiles a file. Returns (time [s], size of the object [bytes], number of kernels, device code), or None if
    nvcc rejects the file. `limit`: the time limit of a step of nvcc [s]."""
    until = [] if how == "whole" else ["-fdevice-syntax-only", "-Xcompiler", "-O0"]
    with tempfile.TemporaryDirectory() as folder:
        command = flashinfer_command(csrc, flags, csrc / file, f"{folder}/o", PTX)
        took, code, output = timed(["prlimit", f"--cpu={limit}", *command, *until, "--keep", "--keep-dir", folder])
        if code != 0 and has_error(output):
            return None
        (front_end,), (ptx,) = (list(pathlib.Path(folder).glob(name)) for name in ("*.cudafe1.gpu", "*.ptx"))
        kernels, text = device_code(front_end.read_text(errors="replace"))
        unnumbered_code = unnumbered(ptx.read_text()) if how == "whole" else text
        return took, (pathlib.Path(folder) / "o").stat().st_size, len(kernels), unnumbered_code


@functools.cache
def included(path, folders):
    """Returns the files of the wheel that a file includes directly."""
    names = re.findall(r'#include ["<]([^">]+)[">]', path.read_text(errors="replace"))
    paths = (next((at / name for at in (path.parent, *folders) if (at / name).is_file()), None) for name in names)
    return {path.resolve() for path in paths if path}


def size(csrc, file):
    """Returns the total size of a file and of all files of the wheel that it includes [bytes], which estimates the
    compile time."""
    folders, visited, unvisited = tuple(flashinfer_folders(csrc)), set(), {csrc / file}
    while unvisited:
        path = unvisited.pop()
        visited.add(path)
        unvisited |= included(path, folders) - visited
    return sum(path.stat().st_size for path in visited)


def compare(csrc, flags, file, how, limit):
    """Compiles a file with both sets of headers, and returns the times and the comparison as a row of the record."""
    row, codes = {"file": file, "how": how}, []
    for implementation in flags:
        if how == "front end":
            took, output = flashinfer_sources.front_end(csrc, flags[implementation], file, limit)
            row[implementation] = None if output and has_error(output) else round(took, 2)
        else:
            compiled = made_of(csrc, flags[implementation], file, how, limit)
            row[implementation] = compiled and round(compiled[0], 2)
        if row[implementation] is None:
            return row
        if how != "front end":
            row.setdefault("bytes", {})[implementation], row["kernels"] = compiled[1:3]
            codes.append(compiled[2:])
        limit *= 4  # the second set of headers may take longer
    return row | ({"same": codes[0] == codes[1]} if codes else {})


def ratio(row):
    return row["ours"] / row["theirs"]


def measure(csrc, flags, file, how, limit):
    row = compare(csrc, flags, file, how, limit)
    for _ in range(3):
        if not row["ours"] or not row["theirs"] or ratio(row) <= SLOWER:
            break
        again = compare(csrc, flags, file, how, 2 * limit)
        row |= {implementation: min(row[implementation], again[implementation]) for implementation in flags}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--how", choices=HOW, default=HOW[0])
    parser.add_argument("--until", type=datetime.time.fromisoformat, default=datetime.time.max)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--files", nargs="+")
    options = parser.parse_args()
    csrc = options.wheel.resolve() / "flashinfer/data/csrc"
    record = [json.loads(line) for line in options.record.read_text().splitlines()] if options.record.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        rendered = flashinfer_sources.rendered(csrc, folder)
        tvm_ffi_include = pathlib.Path(tvm_ffi.__file__).parent / "include"
        (pathlib.Path(folder) / "dlpack").symlink_to(tvm_ffi_include / "dlpack")
        sdk = ROOT / "sdk"
        kernkit_flags = ["-DKERNKIT_COMPILED", "-I", sdk / "tvm_ffi_compat", "-I", sdk / "include", "-isystem", folder]

        def take(file, limit):
            """Measures a file and records the row. Returns the file if it was not measured, because --until has passed
            or a step took longer than `limit` [s]; otherwise None."""
            if datetime.datetime.now().time() > options.until:
                return file
            template = flashinfer_sources.TEMPLATE.search((csrc / file).read_text(errors="replace"))
            rendered_flags = ["-I", rendered[template[1]]] if template else []
            flags = {"ours": [*kernkit_flags, *rendered_flags], "theirs": ["-isystem", tvm_ffi_include, *rendered_flags]}
            try:
                row = measure(csrc, flags, file, options.how, limit)
            except TooLong:
                return file
            record.append(row)
            with options.record.open("a") as out:
                out.write(json.dumps(row) + "\n")

        recorded = {row["file"] for row in record if HOW.index(row["how"]) >= HOW.index(options.how)}
        remaining = [file for file in options.files or flashinfer_sources.on_tvm_ffi(csrc) if file not in recorded]
        remaining.sort(key=lambda file: size(csrc, file))
        for limit in LIMITS:
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
                remaining = [file for file in threads.map(lambda file: take(file, limit), remaining) if file]
    for how in HOW:
        rows = sorted((row for row in record if row["how"] == how and row.get("theirs")), key=ratio, reverse=True)
        print(f"{how}: {len(rows)} files; other kernels in {sum(not row.get('same', True) for row in rows)}")
        print(*(f"{row['file']}: {ratio(row):.3f}" for row in rows[:8]), sep="\n")


if __name__ == "__main__":
    main()
