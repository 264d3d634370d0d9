// SPDX-License-Identifier: Apache-2.0
// Argument checks of the implementations on tvm-ffi's own headers, as in tvm-ffi's kernel library
// guide (CHECK_* macros over TVM_FFI_CHECK), and scale's dtypes.
#pragma once

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>

#define PEER_CHECK_ON(type, x) \
  TVM_FFI_CHECK(x.device().device_type == type, ValueError) << #x " must be a " #type " tensor"
#define PEER_CHECK_CONTIGUOUS(x) \
  TVM_FFI_CHECK(x.IsContiguous(), ValueError) << #x " must be contiguous"
#define PEER_CHECK_INPUT(type, x) \
  PEER_CHECK_ON(type, x);         \
  PEER_CHECK_CONTIGUOUS(x)
#define PEER_CHECK_DEVICE(a, b)                                               \
  TVM_FFI_CHECK(a.device().device_type == b.device().device_type, ValueError) \
      << #a " and " #b " must be on the same device type";                    \
  TVM_FFI_CHECK(a.device().device_id == b.device().device_id, ValueError)     \
      << #a " and " #b " must be on the same device"
#define PEER_CHECK_SCALE(type, y, x)                                                      \
  PEER_CHECK_INPUT(type, x);                                                              \
  PEER_CHECK_INPUT(type, y);                                                              \
  PEER_CHECK_DEVICE(x, y);                                                                \
  TVM_FFI_CHECK(x.dtype() == y.dtype(), TypeError) << "x and y must have the same dtype"; \
  TVM_FFI_CHECK(x.ndim() == y.ndim(), ValueError) << "x and y must have the same rank";   \
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << "x and y must have the same size"
#define PEER_CHECK_SAME(x, y) \
  PEER_CHECK_DEVICE(x, y);    \
  TVM_FFI_CHECK(x.dtype() == y.dtype(), TypeError) << #x " and " #y " must have the same dtype"
#define PEER_END(x)                   \
  (static_cast<char*>(x.data_ptr()) + \
   tvm::ffi::GetDataSize(static_cast<size_t>(x.numel()), x.dtype()))
#define PEER_CHECK_APART(x, y)                                                          \
  TVM_FFI_CHECK(PEER_END(x) <= y.data_ptr() || PEER_END(y) <= x.data_ptr(), ValueError) \
      << #x " and " #y " must not overlap"
#define PEER_CHECK_RMS_NORM(type, y, x, weight)                                                \
  PEER_CHECK_ON(type, x);                                                                      \
  TVM_FFI_CHECK(x.ndim() == 2, ValueError) << "x must have two dimensions";                    \
  TVM_FFI_CHECK(x.size(1) <= 1 || x.stride(1) == 1, ValueError) << "rows must be contiguous";  \
  PEER_CHECK_CONTIGUOUS(y);                                                                    \
  PEER_CHECK_SAME(y, x);                                                                       \
  TVM_FFI_CHECK(y.ndim() == 2 && y.size(0) == x.size(0) && y.size(1) == x.size(1), ValueError) \
      << "x and y must have the same shape";                                                   \
  if (x.data_ptr() != y.data_ptr()) {                                                          \
    PEER_CHECK_APART(y, x);                                                                    \
  }                                                                                            \
  if (weight) {                                                                                \
    PEER_CHECK_CONTIGUOUS((*weight));                                                          \
    PEER_CHECK_SAME((*weight), x);                                                             \
    TVM_FFI_CHECK((*weight).ndim() == 1 && (*weight).size(0) == x.size(1), ValueError)         \
        << "weight must have a number for each column";                                        \
    PEER_CHECK_APART(y, (*weight));                                                            \
  }

constexpr DLDataType kFloat64{kDLFloat, 64, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr DLDataType kFloat16{kDLFloat, 16, 1};
constexpr DLDataType kBfloat16{kDLBfloat, 16, 1};
