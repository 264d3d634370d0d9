// SPDX-License-Identifier: Apache-2.0
// An op of PyTorch. Built and called by tests/project/test_examples.py, where torch is installed.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/library.h>

#include "rms_norm.h"

// [before]
at::Tensor rms_norm(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  TORCH_CHECK(x.dim() == 2, "x must be 2D");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  if (weight.has_value()) {
    TORCH_CHECK(weight->dim() == 1 && weight->size(0) == x.size(1), "weight has a wrong shape");
    TORCH_CHECK(weight->scalar_type() == x.scalar_type(), "weight has a wrong dtype");
    TORCH_CHECK(weight->is_contiguous(), "weight must be contiguous");
  }
  at::Tensor out = at::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
    const auto* w = weight.has_value() ? weight->const_data_ptr<scalar_t>() : nullptr;
    rms_norm_rows(x.size(0), x.size(1), out.mutable_data_ptr<scalar_t>(),
                  x.const_data_ptr<scalar_t>(), w, eps);
  });
  return out;
}

TORCH_LIBRARY(moving, m) {
  m.def("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-6) -> Tensor");
}
TORCH_LIBRARY_IMPL(moving, CPU, m) { m.impl("rms_norm", &rms_norm); }
// [/before]
