// SPDX-License-Identifier: Apache-2.0
// The peer of scale as a PyTorch extension in C++, with the checks, dtypes and plain loop of
// scale_tvm_ffi.cc.
#include <ATen/OpMathType.h>
#include <torch/extension.h>

namespace {

void scale(const at::Tensor& y, const at::Tensor& x, double factor) {
  TORCH_CHECK_VALUE(x.is_cpu(), "x must be a CPU tensor");
  TORCH_CHECK_VALUE(x.is_contiguous(), "x must be contiguous");
  TORCH_CHECK_VALUE(y.is_cpu(), "y must be a CPU tensor");
  TORCH_CHECK_VALUE(y.is_contiguous(), "y must be contiguous");
  TORCH_CHECK_TYPE(x.scalar_type() == y.scalar_type(), "x and y must have the same dtype");
  TORCH_CHECK_VALUE(x.dim() == y.dim(), "x and y must have the same rank");
  TORCH_CHECK_VALUE(x.numel() == y.numel(), "x and y must have the same size");
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "scale", [&] {
    using Compute = at::opmath_type<scalar_t>;
    const auto f = static_cast<Compute>(factor);
    const int64_t n = x.numel();
    scalar_t* const out = y.mutable_data_ptr<scalar_t>();
    const scalar_t* const in = x.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; ++i) out[i] = scalar_t(static_cast<Compute>(in[i]) * f);
  });
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("scale", &scale); }
