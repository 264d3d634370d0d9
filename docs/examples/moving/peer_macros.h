// SPDX-License-Identifier: Apache-2.0
// Macros of the kind that libraries on tvm-ffi's headers have, under their usual names.
#pragma once

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>

#define CHECK_CPU(x) \
  TVM_FFI_CHECK((x).device().device_type == kDLCPU, ValueError) << #x " must be a CPU tensor"
#define CHECK_CONTIGUOUS(x) \
  TVM_FFI_CHECK((x).IsContiguous(), ValueError) << #x " must be contiguous"
#define CHECK_INPUT(x) \
  CHECK_CPU(x);        \
  CHECK_CONTIGUOUS(x)
#define CHECK_DIM(d, x) TVM_FFI_ICHECK_EQ((x).ndim(), d) << #x " must be a " #d "D tensor"
#define CHECK_SAME_DTYPE(a, b) \
  TVM_FFI_CHECK((a).dtype() == (b).dtype(), TypeError) << #a " and " #b " differ in dtype"

inline void check_shape(const tvm::ffi::TensorView& a, const tvm::ffi::TensorView& b,
                        const char* a_name, const char* b_name) {
  TVM_FFI_ICHECK_EQ(a.ndim(), b.ndim()) << a_name << " and " << b_name << " differ in rank";
  for (int i = 0; i < a.ndim(); ++i) {
    TVM_FFI_ICHECK_EQ(a.size(i), b.size(i)) << a_name << " and " << b_name << " differ in shape";
  }
}
#define CHECK_SHAPE(a, b) check_shape(a, b, #a, #b)

#define DISPATCH_DLPACK_DTYPE_TO_CTYPE(dlpack_dtype, c_type, ...)                             \
  [&]() -> bool {                                                                             \
    const DLDataType dtype = dlpack_dtype;                                                    \
    if (dtype.code == kDLFloat && dtype.bits == 32 && dtype.lanes == 1) {                     \
      using c_type = float;                                                                   \
      return __VA_ARGS__();                                                                   \
    }                                                                                         \
    if (dtype.code == kDLFloat && dtype.bits == 64 && dtype.lanes == 1) {                     \
      using c_type = double;                                                                  \
      return __VA_ARGS__();                                                                   \
    }                                                                                         \
    TVM_FFI_THROW(TypeError) << "Unsupported dtype: " << tvm::ffi::DLDataTypeToString(dtype); \
    return false;                                                                             \
  }()
