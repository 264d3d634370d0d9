# SPDX-License-Identifier: Apache-2.0
"""Sets the current stream. Run by tests/project/test_examples.py with threads.cc as a library."""

import sys

import tvm_ffi

lib = tvm_ffi.load_module(sys.argv[1])
# [python]
gpu = tvm_ffi.device("cuda", 0)
with tvm_ffi.use_raw_stream(gpu, 0x1000):  # a cudaStream_t as a number
    print(lib.streams_of_a_thread(gpu))  # (0, 4096)
print(lib.streams_of_a_thread(gpu))  # (0, 0)
# [/python]
