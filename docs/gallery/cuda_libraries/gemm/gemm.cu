// SPDX-License-Identifier: Apache-2.0
#include <cutlass/gemm/device/gemm.h>

#include "gemm/gemm.h"
#include "kernkit/cuda/launch.h"

// [cutlass]
void gemm_cuda(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b) {
  using Half = cutlass::half_t;
  using Rows = cutlass::layout::RowMajor;
  using Columns = cutlass::layout::ColumnMajor;
  using Gemm = cutlass::gemm::device::Gemm<Half, Rows, Half, Columns, Half, Rows, float,
                                           cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80>;
  kernkit::cuda::Launch launch(c, a, b);  // makes the device current
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(0));
  const int k = static_cast<int>(a.size(1));
  auto* out = static_cast<Half*>(c.data_ptr());
  const auto* left = static_cast<const Half*>(a.data_ptr());
  const auto* right = static_cast<const Half*>(b.data_ptr());
  const cutlass::Status status =
      Gemm()({{m, n, k}, {left, k}, {right, k}, {out, n}, {out, n}, {1.0f, 0.0f}}, nullptr,
             launch.stream());
  KERNKIT_CHECK(status == cutlass::Status::kSuccess, RuntimeError)
      << "CUTLASS: " << cutlassGetStatusString(status);
}
// [/cutlass]
