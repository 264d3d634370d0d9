# SPDX-License-Identifier: Apache-2.0
"""An extension in C++ and CUDA that torch.utils.cpp_extension compiles. The extension's operator calls functions of
at:: and launches a kernel. The program prints `right` if the operator's results equal the results of a formula."""

import pathlib
import sys

import torch
from torch.utils.cpp_extension import load

KERNEL = """
template <class T>
__global__ void scale(T* y, const T* x, T factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
void launch(float* y, const float* x, float factor, int n, cudaStream_t stream) {
  scale<<<(n + 255) / 256, 256, 0, stream>>>(y, x, factor, n);
}
"""
OPERATOR = """
#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

void launch(float* y, const float* x, float factor, int n, cudaStream_t stream);

at::Tensor scale_after_add(const at::Tensor& x, double factor) {
  const at::Tensor sum = at::add(x.contiguous(), 1), y = at::empty_like(sum);
  launch(y.data_ptr<float>(), sum.const_data_ptr<float>(), float(factor), int(y.numel()), c10::cuda::getCurrentCUDAStream());
  return y;
}
TORCH_LIBRARY(kernkit_extension, library) { library.def("scale_after_add", scale_after_add); }
"""

folder = pathlib.Path(sys.argv[1])
(folder / "kernel.cu").write_text(KERNEL)
(folder / "operator.cc").write_text(OPERATOR)
sources = [str(folder / "kernel.cu"), str(folder / "operator.cc")]
load("kernkit_extension", sources, build_directory=str(folder), with_cuda=True, is_python_module=False)
side = torch.cuda.Stream()
for stream in (torch.cuda.current_stream(), side):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        x = torch.randn(7, 50, device="cuda").t()
        torch.testing.assert_close(torch.ops.kernkit_extension.scale_after_add(x, 2.5), (x + 1) * 2.5)
print("right")
