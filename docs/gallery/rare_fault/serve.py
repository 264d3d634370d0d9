# SPDX-License-Identifier: Apache-2.0
import torch
import tvm_ffi

ops = tvm_ffi.load_module("build/libserve_ops.so")
samples = torch.arange(2000.0, device="cuda")
for request in range(1, 1200):
    part = samples[request % 7 :][:request]  # requests differ in the length and in the first element of x
    y = torch.empty(request, device="cuda")
    try:
        ops.gain(y, part, 0.5)
    except RuntimeError as error:
        raise SystemExit(f"request {request}: {error}")
print(f"{request} requests served, the last element is {y[-1]}")
