// SPDX-License-Identifier: Apache-2.0
// The ops of ops.cc, written for tvm-ffi: built on tvm-ffi's own headers, and on kernkit's headers
// of the same names.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>
#if defined(KERNKIT_TVM_FFI_BEGIN)
#include "kernkit/function.h"
#endif

namespace ffi = tvm::ffi;

namespace {

int64_t deleted = 0;

struct Ones {
  void AllocData(DLTensor* tensor) {
    auto* data = new float[static_cast<size_t>(tensor->shape[0])];
    for (int64_t i = 0; i < tensor->shape[0]; ++i) data[i] = 1;
    tensor->data = data;
  }
  void FreeData(DLTensor* tensor) {
    ++deleted;
    delete[] static_cast<float*>(tensor->data);
  }
};

double sum(ffi::TensorView x) {
  double total = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    total += static_cast<double>(static_cast<float*>(x.data_ptr())[i]);
  }
  return total;
}
void reject(int64_t how) {
  if (how == 0) TVM_FFI_THROW(TypeError) << "a TypeError";
  if (how == 1) TVM_FFI_THROW(ValueError) << "a ValueError";
  TVM_FFI_THROW(RuntimeError) << "a RuntimeError";
}
ffi::Tensor same(ffi::Tensor x) { return x; }
ffi::Tuple<int64_t, ffi::Tensor> pair(ffi::Tensor x) {
  return ffi::Tuple<int64_t, ffi::Tensor>(int64_t{7}, x);
}
ffi::String words() { return "a text longer than seven"; }
#if defined(KERNKIT_TVM_FFI_BEGIN)  // kernkit's headers lack ffi::Function
kernkit::Any apply(const kernkit::Function& f, double x) { return f(x); }
#else
ffi::Any apply(const ffi::Function& f, double x) { return f(x); }
#endif
int64_t stream_of(DLDevice device) {
  return reinterpret_cast<int64_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
}
ffi::Tensor own_memory(int64_t n) {
  return ffi::Tensor::FromNDAlloc(Ones(), {n}, {kDLFloat, 32, 1}, {kDLCPU, 0});
}
int64_t count_deleted() { return deleted; }
ffi::Tensor allocate(int64_t n) {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {n}, {kDLFloat, 32, 1}, {kDLCPU, 0});
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum, sum);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(sum, "The sum of x.");
TVM_FFI_DLL_EXPORT_TYPED_FUNC(reject, reject);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(same, same);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(pair, pair);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(words, words);
#if defined(KERNKIT_TVM_FFI_BEGIN)
KERNKIT_EXPORT(apply, "(Callable f, float x) -> Any", "f(x).", apply)
#else
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply, apply);
#endif
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stream_of, stream_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(own_memory, own_memory);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(count_deleted, count_deleted);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocate, allocate);
