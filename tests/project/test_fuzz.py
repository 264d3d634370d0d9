# SPDX-License-Identifier: Apache-2.0
"""A million generated calls by the C ABI, valid and invalid, cause no crash, and the fuzzer finds the crash if a check
is removed."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from commands import ENVIRONMENT, run

FAULTS = sorted((pathlib.Path(__file__).parent.parent / "faults" / "calls").glob("*.patch"))
FLAGS = (
    "-std=c++17 -O1 -g1 -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=off "
    "-fno-sanitize-recover=all"
).split()


def compiled(root, dlpack_include, program, *options):
    if not shutil.which("clang++"):
        pytest.skip("clang++ is not installed (Debian: clang)")
    includes = [f"-I{root}/sdk/include", f"-I{root}/kernels", f"-isystem{dlpack_include}"]
    run("clang++", *FLAGS, *options, *includes, f"{root}/tests/fuzz/calls.cc", "-o", program, "-ldl",
        "-lpthread")  # fmt: skip
    return program


def call(*command, **environment):
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500,
        env=ENVIRONMENT | environment,
    )  # fmt: skip
    return result.returncode, result.stdout.decode(errors="replace")


@pytest.fixture(scope="module")
def fuzzer(root, dlpack_include, tmp_path_factory):
    program = tmp_path_factory.mktemp("fuzz") / "calls"
    return compiled(
        root, dlpack_include, program, "-fsanitize=fuzzer,address,undefined", "-DKERNKIT_LIBFUZZER"
    )


def real_host():
    spec = importlib.util.find_spec("tvm_ffi")
    return os.path.join(os.path.dirname(spec.origin), "lib", "libtvm_ffi.so")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["none", "tvm_ffi"])
def test_half_a_million_calls(fuzzer, tmp_path, host):
    """Half a million calls do not crash, with tvm_ffi as host and without a host. At least a fifth of the calls are
    accepted."""
    variables = {"KERNKIT_FUZZ_HOST": real_host() if host == "tvm_ffi" else ""}
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    code, output = call(fuzzer, "-runs=500000", "-seed=1", "-max_len=512", corpus, **variables)
    assert code == 0, output[-4000:]
    calls, accepted = map(int, re.findall(r"(\d+) calls, (\d+) accepted", output)[-1])
    assert calls >= 500_000 and accepted * 5 >= calls


@pytest.mark.slow
@pytest.mark.parametrize("patch", FAULTS, ids=lambda patch: patch.stem)
def test_crash_is_found_within_a_minute(root, dlpack_include, tmp_path, patch):
    for folder in ("sdk/include", "kernels", "tests/fuzz"):
        shutil.copytree(root / folder, tmp_path / folder)
    subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)
    program = compiled(tmp_path, dlpack_include, tmp_path / "calls", "-fsanitize=address,undefined")
    code, output = call(program, "--seconds", "60")
    description = patch.read_text(encoding="utf-8").split("diff --git")[0]
    assert code != 0, "no call finds: " + description
    assert "AddressSanitizer" in output or "runtime error" in output or "calls: " in output, output[-2000:]
