# SPDX-License-Identifier: Apache-2.0
"""A library written for tvm-ffi, FlashInfer, compiled unchanged against kernkit's headers of tvm-ffi's
names. Its sources come from its wheel; none is in this repository."""

import os
import pathlib
import re
import resource
import shutil
import subprocess

import flashinfer_sources
import pytest
import tvm_ffi
from published import flashinfer_command

BINDINGS = ("norm", "page", "quantization", "rope", "sampling", "topk")
REFUSED = re.compile(r'error: #error "kernkit: tvm_ffi_compat does not serve')


@pytest.fixture(scope="module")
def flags(compat_includes):
    """Include paths for kernkit's headers and for tvm-ffi's own."""
    return {"ours": compat_includes, "theirs": ["-isystem", pathlib.Path(tvm_ffi.__file__).parent / "include"]}


def read(csrc, flags, file, output):
    """What nvcc's front end says of a file, for host and device: "" when it takes it. No code is made."""
    dry = subprocess.run([*flashinfer_command(csrc, flags, file, output), "--dryrun"], cwd=csrc, capture_output=True, text=True)
    steps = [line[3:] for line in dry.stderr.splitlines() if line.startswith("#$ ")]
    front_end = next(i for i, step in enumerate(steps) if step.startswith("cudafe++"))
    try:
        for step in steps[front_end - 1 : front_end + 1]:
            done = subprocess.run(step, shell=True, cwd=csrc, capture_output=True, text=True)
            if done.returncode != 0:
                return done.stdout + done.stderr
        return ""
    finally:
        for made in set(re.findall(r'/tmp/tmpxft[^" ]*', " ".join(steps))):
            pathlib.Path(made).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def rendered(csrc, tmp_path_factory):
    """{what FlashInfer makes of a template: the folder that has it}, one instance each."""
    pytest.importorskip("torch")
    return flashinfer_sources.rendered(csrc, tmp_path_factory.mktemp("rendered"))


@pytest.mark.slow
def test_files_compile_unchanged(csrc, flags, rendered, tmp_path):
    files, unchanged, with_template, refused = flashinfer_sources.on_tvm_ffi(csrc), [], [], {}
    for file in files:
        template = flashinfer_sources.TEMPLATE.search((csrc / file).read_text(errors="replace"))
        made = ["-I", rendered[template[1]]] if template else []
        said = read(csrc, [*flags["ours"], *made], file, tmp_path / "o")
        if not said:
            (with_template if template else unchanged).append(file)
            continue
        if not REFUSED.search(said):
            theirs = read(csrc, [*flags["theirs"], *made], file, tmp_path / "o")
            assert theirs, f"{file} compiles with tvm-ffi's own headers:\n{said}"
        refused[file] = re.search(r"error: .*", said)[0]
    print(f"\n{len(files)} files: {len(unchanged)} as they are, {len(with_template)} with a template of FlashInfer's rendered, refused:")
    print(*(f"{file}: {why}" for file, why in refused.items()), sep="\n")
    assert len(unchanged) >= 60 and len(unchanged) + len(with_template) >= 125


def of_the_host(csrc, flags, file, *words):
    """The command by which the host's compiler reads a binding, which has no device code."""
    toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parents[1] / "include"
    return ["c++", "-std=c++17", *words, *flags, "-I", csrc.parent / "include", "-I", csrc, "-isystem", toolkit,
            "-x", "c++", csrc / file]  # fmt: skip


@pytest.mark.all
@pytest.mark.parametrize("op", BINDINGS)
def test_bindings_compile_with_the_compiler_of_the_host(csrc, flags, op):
    command = of_the_host(csrc, flags["ours"], f"flashinfer_{op}_binding.cu", "-fsyntax-only")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def seconds(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# What a binding costs with no header of tvm-ffi's names: nothing at all, and what its own lines name.
FLOORS = {"nothing": "", "CUDA and <string>": "#include <cuda_runtime.h>\n#include <string>\n"}


@pytest.mark.slow
def test_bindings_compile_faster(csrc, flags, root, tmp_path):
    """Seconds of the processor and bytes, with either set of headers, one after the other."""

    def cost(compiler, flags_of, file, output):
        by_host = of_the_host(csrc, flags_of, file, "-O3", "-fPIC", "-c", "-o", output)
        command = by_host if compiler == "g++" else flashinfer_command(csrc, flags_of, file, output)
        return min(seconds(command, cwd=csrc) for _ in range(2))

    flags = {"ours": [*flags["ours"], "-DKERNKIT_COMPILED"], "theirs": flags["theirs"]}  # as kernkit_add_library() compiles it
    for compiler in ("g++", "nvcc"):
        print(f"\n{compiler}: time and size of the object, of those with tvm-ffi's headers")
        for op in BINDINGS:
            time, size = {}, {}
            for whose in flags:
                output = tmp_path / f"{whose}_{op}_{compiler}.o"
                time[whose] = cost(compiler, flags[whose], f"flashinfer_{op}_binding.cu", output)
                size[whose] = os.path.getsize(output)
            ratios = time["ours"] / time["theirs"], size["ours"] / size["theirs"]
            print(f"{op}: {ratios[0]:.3f}, {ratios[1]:.3f} ({time['ours']:.2f} s of {time['theirs']:.2f} s)")
            if op == "quantization":  # the shortest
                for what, text in FLOORS.items():
                    (tmp_path / "floor.cu").write_text(text)
                    floor = cost(compiler, flags["ours"], tmp_path / "floor.cu", tmp_path / "floor.o")
                    print(f"{op}'s floor, {what}: {floor / time['theirs']:.3f} ({floor:.2f} s)")
            assert ratios[0] < {"g++": 0.3, "nvcc": 0.5}[compiler] and ratios[1] < 0.25

    # A library of all of them, with what kernkit compiles once for a library.
    once = tmp_path / "kernkit.o"
    command = ["c++", "-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", *flags["ours"], "-c", root / "sdk/src/kernkit.cc"]
    subprocess.run([*command, "-o", once], check=True)
    size = {}
    for whose, others in (("ours", [once]), ("theirs", [pathlib.Path(tvm_ffi.__file__).parent / "lib/libtvm_ffi.so"])):
        objects = sorted(tmp_path.glob(f"{whose}_*_g++.o"))
        library = tmp_path / f"{whose}.so"
        subprocess.run(["c++", "-shared", "-s", "-o", library, *objects, *others], check=True)
        size[whose] = os.path.getsize(library)
    ratio = size["ours"] / size["theirs"]
    print(f"library of {len(objects)}, stripped: {ratio:.3f} ({size['ours']} bytes of {size['theirs']})")
    assert len(objects) == len(BINDINGS) and ratio < 0.5
