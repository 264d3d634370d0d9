# SPDX-License-Identifier: Apache-2.0
"""What nvcc takes for each file of FlashInfer's that includes tvm-ffi's headers, with kernkit's headers
of those names and with tvm-ffi's own, one after the other:

    python bench/python/flashinfer_compile.py FOLDER_OF_THE_UNPACKED_WHEEL RECORD.jsonl [--until 05:15]

Seconds of the processor in user mode, for the host and as far as PTX: ptxas reads the same with both, so
a file that is not slower without it is not slower with it. Cheap files come first, what the record has is
not measured again, and a ratio above 1.05 is measured twice, the lesser times count. Files that either
set of headers refuses are left out."""

import argparse
import datetime
import functools
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import tvm_ffi
from rows import ROOT

sys.path.insert(0, str(ROOT / "tests/project"))
import flashinfer_sources  # noqa: E402
from published import flashinfer_command, flashinfer_folders  # noqa: E402

PTX = "arch=compute_90a,code=compute_90a"
LIMITS = (15, 60, 240, 1000)  # seconds of a round: a file with a step that takes longer waits for the next
SLOWER = 1.05


class TooLong(Exception):
    pass


def seconds(csrc, flags, file, output, limit):
    """Seconds of the processor, or None where nvcc refuses the file. A step of nvcc's may take `limit`."""

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    command = flashinfer_command(csrc, flags, file, output, PTX)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=csrc, capture_output=True, preexec_fn=limited)
    if done.returncode == 0:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if re.search(rb"\.\w+(:\d+:|\(\d+\):).* error", done.stderr):  # of a line; a step that was ended names none
        return None
    raise TooLong


@functools.cache
def included(path, folders):
    """What a file includes of the wheel."""
    names = re.findall(r'#include ["<]([^">]+)[">]', path.read_text(errors="replace"))
    found = (next((at / name for at in (path.parent, *folders) if (at / name).is_file()), None) for name in names)
    return {path.resolve() for path in found if path}


def size(csrc, file):
    """Bytes of a file and of what it includes of the wheel: about the order of what it costs."""
    folders, seen, left = tuple(flashinfer_folders(csrc)), set(), {csrc / file}
    while left:
        path = left.pop()
        seen.add(path)
        left |= included(path, folders) - seen
    return sum(path.stat().st_size for path in seen)


def measure(csrc, flags, file, output, limit):
    """{headers: seconds}, or {headers: None} for the headers with which it does not compile."""
    times = {}
    for whose in flags:
        times[whose] = seconds(csrc, flags[whose], file, output, limit)
        if times[whose] is None:
            return {whose: None}
        limit *= 4  # the other headers may take longer
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--until", type=datetime.time.fromisoformat, default=datetime.time.max)
    options = parser.parse_args()
    csrc = options.wheel.resolve() / "flashinfer/data/csrc"
    record = [json.loads(line) for line in options.record.read_text().splitlines()] if options.record.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        rendered = flashinfer_sources.rendered(csrc, folder)
        theirs = pathlib.Path(tvm_ffi.__file__).parent / "include"
        (pathlib.Path(folder) / "dlpack").symlink_to(theirs / "dlpack")
        sdk = ROOT / "sdk"
        ours = ["-DKERNKIT_COMPILED", "-I", sdk / "tvm_ffi_compat", "-I", sdk / "include", "-isystem", folder]
        done = {row["file"] for row in record}
        left = [file for file in flashinfer_sources.on_tvm_ffi(csrc) if file.endswith(".cu") and file not in done]
        left.sort(key=lambda file: size(csrc, file))
        for limit in LIMITS:
            later = []
            for file in left:
                if datetime.datetime.now().time() > options.until:
                    break
                template = flashinfer_sources.TEMPLATE.search((csrc / file).read_text(errors="replace"))
                made = ["-I", rendered[template[1]]] if template else []
                flags = {"ours": [*ours, *made], "theirs": ["-isystem", theirs, *made]}
                try:
                    times = measure(csrc, flags, file, f"{folder}/o", limit)
                    if None not in times.values() and times["ours"] > SLOWER * times["theirs"]:
                        again = measure(csrc, flags, file, f"{folder}/o", 2 * limit)
                        times = {whose: min(times[whose], again[whose]) for whose in flags}
                except TooLong:
                    later.append(file)
                    continue
                record.append({"file": file, **times})
                with options.record.open("a") as out:
                    print(json.dumps(record[-1]), file=out)
            left = later
    ratios = sorted((row["ours"] / row["theirs"], row["file"]) for row in record if row.get("theirs"))
    print(f"{len(ratios)} files measured, {len(record) - len(ratios)} refused; the largest ratios:")
    print(*(f"{file}: {ratio:.3f}" for ratio, file in ratios[:-9:-1]), sep="\n")


if __name__ == "__main__":
    main()
