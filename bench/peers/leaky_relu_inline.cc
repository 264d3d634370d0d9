// SPDX-License-Identifier: Apache-2.0
// Source text for load_inline(), which prepends tvm-ffi's headers and appends the export.
void leaky_relu(tvm::ffi::TensorView y, tvm::ffi::TensorView x, double slope) {
  constexpr DLDataType kFloat32{kDLFloat, 32, 1};
  TVM_FFI_CHECK(x.dtype() == kFloat32, TypeError) << "x must be a float32 tensor";
  TVM_FFI_CHECK(y.dtype() == kFloat32, TypeError) << "y must be a float32 tensor";
  TVM_FFI_CHECK(x.device().device_type == kDLCPU, ValueError) << "x must be a CPU tensor";
  TVM_FFI_CHECK(y.device().device_type == kDLCPU, ValueError) << "y must be a CPU tensor";
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << "x must be contiguous";
  TVM_FFI_CHECK(y.IsContiguous(), ValueError) << "y must be contiguous";
  TVM_FFI_CHECK(x.ndim() == y.ndim(), ValueError) << "x and y must have the same rank";
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << "x and y must have the same size";
  const auto* in = static_cast<const float*>(x.data_ptr());
  auto* out = static_cast<float*>(y.data_ptr());
  const auto s = static_cast<float>(slope);
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : s * in[i];
}
