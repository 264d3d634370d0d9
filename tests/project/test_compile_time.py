# SPDX-License-Identifier: Apache-2.0
"""The host files of a row kernel compile faster than the host files of the same op on tvm-ffi's headers."""

import pytest
from commands import timed

SOURCES = ("kernels/rms_norm/rms_norm.cc", "kernels/rms_norm/rms_norm_export.cc")
PEERS = ("bench/peers/rms_norm_tvm_ffi.cc",)
OPTIONS = ["-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden",
           "-fvisibility-inlines-hidden", "-ffp-contract=off"]  # fmt: skip
OF_A_LIBRARY = ["-DKERNKIT_COMPILED", "-fno-trapping-math", "-fno-math-errno",
                "-ffunction-sections", "-fdata-sections"]  # fmt: skip


@pytest.mark.slow
def test_a_row_kernel_compiles_in_less_time_than_on_tvm_ffis_headers(root, dlpack_include, tmp_path):
    """Compares the processor time of g++, as the minimum of three runs. The op on tvm-ffi's headers has plain loops;
    kernkit's op has loops for three instruction sets."""

    def seconds(files, *more):
        total = 0.0
        for file in files:
            folders = ["-I", root / "sdk/include", "-I", root / "kernels"]
            folders += ["-isystem", dlpack_include]
            command = ["g++", *OPTIONS, *more, *folders, "-c", root / file]
            command += ["-o", tmp_path / "out.o"]
            used, code, printed = timed([str(argument) for argument in command])
            assert code == 0, printed
            total += used
        return total

    rounds = [(seconds(SOURCES, *OF_A_LIBRARY), seconds(PEERS)) for _ in range(3)]
    kernkit_time, peer_time = (min(side) for side in zip(*rounds))
    print(f"rms_norm takes {kernkit_time:.2f} s, on tvm-ffi's headers {peer_time:.2f} s: {kernkit_time / peer_time:.2f}")
    assert kernkit_time / peer_time < 1.0
