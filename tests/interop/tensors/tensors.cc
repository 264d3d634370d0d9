// SPDX-License-Identifier: Apache-2.0
// Tensors allocated, imported and exported by a kernel library. Built by test_tensors.py.
#include <cstring>
#include <string>

#include "kernkit/cpu/allocator.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"

namespace {

using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

// [allocate]
Tensor zeros_like(TensorView x) {
  KERNKIT_EXPECT(x).cpu();  // memset() requires CPU memory
  Tensor y = kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());
  if (y.numel() != 0) memset(y.data_ptr(), 0, GetDataSize(y));
  return y;
}

Tensor cpu_zeros(ShapeView shape, DLDataType dtype) {
  Tensor y = Tensor::FromNDAlloc(kernkit::CPUNDAlloc(), shape, dtype, {kDLCPU, 0});
  if (y.numel() != 0) memset(y.data_ptr(), 0, GetDataSize(y));
  return y;
}
// [/allocate]

/// Returns the results of every accessor as text, in the format that the test expects.
template <class T>
std::string describe(const T& x) {
  kernkit::Message text;
  text << x.ndim() << " " << x.dtype() << " " << x.device() << " " << x.sizes() << " "
       << x.strides() << " " << x.numel() << " " << x.is_contiguous() << " "
       << kernkit::GetDataSize(x);
  return text.c_str();
}
std::string describe_view(TensorView x) { return describe(x); }
std::string describe_owned(const Tensor& x) { return describe(x); }
int64_t address(TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()); }

// The integers are addresses of DLPack structs, which the test reads from capsules.
Tensor import_versioned(int64_t managed, int64_t alignment, bool contiguous) {
  return Tensor::FromDLPackVersioned(reinterpret_cast<DLManagedTensorVersioned*>(managed),
                                     static_cast<size_t>(alignment), contiguous);
}
int64_t round_trip(int64_t managed) {
  const Tensor x =
      Tensor::FromDLPackVersioned(reinterpret_cast<DLManagedTensorVersioned*>(managed));
  return reinterpret_cast<int64_t>(x.ToDLPackVersioned());
}
int64_t round_trip_legacy(int64_t managed) {
  const Tensor x = Tensor::FromDLPack(reinterpret_cast<DLManagedTensor*>(managed));
  return reinterpret_cast<int64_t>(x.ToDLPack());
}
void write_first(int64_t managed) {
  const Tensor x =
      Tensor::FromDLPackVersioned(reinterpret_cast<DLManagedTensorVersioned*>(managed));
  *x.data<float>() = 7.0f;
}

}  // namespace

KERNKIT_EXPORT(zeros_like, "(Tensor x) -> Tensor",
               "Returns a tensor of zeros, which the caller's framework allocates.", zeros_like)
KERNKIT_EXPORT(cpu_zeros, "(int[] shape, ScalarType dtype) -> Tensor",
               "Returns a tensor of zeros in CPU memory of this library.", cpu_zeros)
KERNKIT_EXPORT(describe_view, "(Tensor x) -> str",
               "Returns the results of the accessors of a TensorView.", describe_view)
KERNKIT_EXPORT(describe_owned, "(Tensor x) -> str",
               "Returns the results of the accessors of a Tensor.", describe_owned)
KERNKIT_EXPORT(address, "(Tensor x) -> int", "Returns the address of the first element.", address)
KERNKIT_EXPORT(import_versioned, "(int managed, int alignment=0, bool contiguous=False) -> Tensor",
               "Imports a DLManagedTensorVersioned.", import_versioned)
KERNKIT_EXPORT(round_trip, "(int managed) -> int",
               "Imports a DLManagedTensorVersioned and exports the tensor again.", round_trip)
KERNKIT_EXPORT(round_trip_legacy, "(int managed) -> int",
               "Imports a DLManagedTensor and exports the tensor again.", round_trip_legacy)
KERNKIT_EXPORT(write_first, "(int managed) -> ()", "Imports a tensor and writes its first element.",
               write_first)
