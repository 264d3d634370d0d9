# SPDX-License-Identifier: Apache-2.0
"""A library written for tvm-ffi, FlashInfer, compiled unchanged against kernkit's headers of tvm-ffi's
names. Its sources come from its wheel; none is in this repository."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import pytest
import tvm_ffi
from published import flashinfer_command

BINDINGS = ("norm", "page", "quantization", "rope", "sampling", "topk")
# A file that FlashInfer makes of a template; a header that neither set of headers has.
TEMPLATE = re.compile(r'#include ["<](\w+\.inc)[">]')
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
    program = pathlib.Path(__file__).with_name("flashinfer_templates.py")
    workspace = str(tmp_path_factory.mktemp("rendered"))
    environment = {**os.environ, "FLASHINFER_CUDA_ARCH_LIST": "9.0a", "FLASHINFER_WORKSPACE_BASE": workspace}
    command = [sys.executable, program, csrc.parents[2]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def on_tvm_ffi(csrc):
    return sorted(
        path.name for path in csrc.iterdir()
        if path.is_file() and re.search(r"tvm/ffi/|tvm_ffi_utils\.h", path.read_text(errors="replace"))
    )  # fmt: skip


@pytest.mark.slow
def test_files_compile_unchanged(csrc, flags, rendered, tmp_path):
    files, unchanged, with_template, refused = on_tvm_ffi(csrc), [], [], {}
    for file in files:
        template = TEMPLATE.search((csrc / file).read_text(errors="replace"))
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


@pytest.mark.slow
def test_bindings_compile_faster(csrc, flags, tmp_path):
    """Seconds of the processor and bytes, with either set of headers, one after the other."""
    print("\nbinding, compiler: time and size of the object, of those with tvm-ffi's headers")
    for op in BINDINGS:
        for compiler in ("g++", "nvcc"):
            file, time, size = f"flashinfer_{op}_binding.cu", {}, {}
            for whose in flags:
                # As kernkit_add_library() compiles it.
                flags_of, output = [*flags[whose], *(["-DKERNKIT_COMPILED"] if whose == "ours" else [])], tmp_path / whose
                by_host = of_the_host(csrc, flags_of, file, "-O3", "-fPIC", "-c", "-o", output)
                command = by_host if compiler == "g++" else flashinfer_command(csrc, flags_of, file, output)
                time[whose] = min(seconds(command, cwd=csrc) for _ in range(2))
                size[whose] = os.path.getsize(output)
            ratios = time["ours"] / time["theirs"], size["ours"] / size["theirs"]
            print(f"{op}, {compiler}: {ratios[0]:.3f}, {ratios[1]:.3f} ({time['ours']:.2f} s of {time['theirs']:.2f} s)")
            assert ratios[0] < 0.4 and ratios[1] < 0.25
