# SPDX-License-Identifier: Apache-2.0
"""A library written for tvm-ffi, FlashInfer, compiled unchanged against kernkit's headers of tvm-ffi's
names. Its sources come from its wheel; none is in this repository."""

import os
import pathlib
import re
import resource
import subprocess

import pytest
import tvm_ffi

FEATURES = ("F16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E8M0", "FP4_E2M1")
BINDINGS = ("flashinfer_norm_binding.cu", "flashinfer_sampling_binding.cu")
# Why a file is none that could compile: it needs a file that FlashInfer makes of a template, or
# something else that neither set of headers has.
NEEDS_TEMPLATE = re.compile(r"fatal error: \S+\.inc: No such file")
REFUSED = re.compile(r'error: #error "kernkit: tvm_ffi_compat does not serve')


@pytest.fixture(scope="module")
def flags(root, dlpack_include, tmp_path_factory):
    """Include paths for kernkit's headers and for tvm-ffi's own."""
    dlpack = tmp_path_factory.mktemp("dlpack")
    (dlpack / "dlpack").symlink_to(dlpack_include / "dlpack")
    ours = ["-I", root / "sdk/tvm_ffi_compat", "-I", root / "sdk/include", "-isystem", dlpack]
    theirs = ["-isystem", pathlib.Path(tvm_ffi.__file__).parent / "include"]
    return {"ours": ours, "theirs": theirs}


def nvcc(csrc, flags, file, output, architecture="arch=compute_90a,code=sm_90a"):
    data, internal = csrc.parent, csrc / "nv_internal"
    folders = [data / "include", csrc, data / "cutlass/include", data / "cutlass/tools/util/include"]
    folders += [data / "spdlog/include", internal, internal / "include"]
    folders += [data / "cccl" / name for name in ("libcudacxx/include", "cub", "thrust")]
    folders += [internal / "tensorrt_llm/cutlass_extensions/include"]
    command = ["nvcc", "-std=c++17", "-O3", f"-gencode={architecture}", "-DNDEBUG", "--expt-relaxed-constexpr"]
    command += [f"-DFLASHINFER_ENABLE_{feature}" for feature in FEATURES]
    command += [f"-DENABLE_{feature}" for feature in ("BF16", "FP8", "FP4")] + flags
    for folder in folders:
        command += ["-I", folder]
    return [*command, "-x", "cu", "-c", file, "-o", output]


def read(csrc, flags, file, output):
    """What nvcc's front end says of a file, for host and device: "" when it takes it. No code is made."""
    dry = subprocess.run([*nvcc(csrc, flags, file, output), "--dryrun"], cwd=csrc, capture_output=True, text=True)
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


@pytest.mark.slow
def test_files_compile_unchanged(csrc, flags, tmp_path):
    files = sorted(
        path.name for path in csrc.iterdir()
        if path.is_file() and re.search(r"tvm/ffi/|tvm_ffi_utils\.h", path.read_text(errors="replace"))
    )  # fmt: skip
    taken, of_templates, refused = [], [], []
    for file in files:
        said = read(csrc, flags["ours"], file, tmp_path / "o")
        if not said:
            taken.append(file)
        elif NEEDS_TEMPLATE.search(said):
            of_templates.append(file)
        elif REFUSED.search(said):
            refused.append(file)
        else:
            theirs = read(csrc, flags["theirs"], file, tmp_path / "o")
            assert theirs, f"{file} compiles with tvm-ffi's own headers:\n{said}"
            refused.append(file)
    print(f"{len(files)} files: {len(taken)} as they are, {len(of_templates)} of templates, others: {refused}")
    assert len(taken) >= 60


def seconds(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize("file", BINDINGS)
def test_bindings_compile_faster(csrc, flags, tmp_path, file):
    """Seconds of the processor and bytes, with either set of headers, in one run."""
    time, size = {}, {}
    for whose in flags:
        # As kernkit_add_library() compiles it.
        flags_of = [*flags[whose], *(["-DKERNKIT_COMPILED"] if whose == "ours" else [])]
        time[whose] = seconds(nvcc(csrc, flags_of, file, tmp_path / whose), cwd=csrc)
        size[whose] = os.path.getsize(tmp_path / whose)
    ratios = time["ours"] / time["theirs"], size["ours"] / size["theirs"]
    print(f"{file}: time {ratios[0]:.2f}, size {ratios[1]:.2f}")
    assert ratios[0] < 0.5 and ratios[1] < 0.25
