// SPDX-License-Identifier: Apache-2.0
// A library whose op returns a tensor that the library's own code frees. Used by
// tensor_real_host_test.cc.
#include "kernkit/cpu/allocator.h"
#include "kernkit/export.h"

namespace {

int freed;

struct Counted : kernkit::CPUNDAlloc {
  void FreeData(DLTensor* tensor) const noexcept {
    CPUNDAlloc::FreeData(tensor);
    ++freed;
  }
};

kernkit::Tensor make(int64_t n) {
  return kernkit::Tensor::FromNDAlloc(Counted(), {n}, kernkit::dl_float32, {kDLCPU, 0});
}
int64_t count_freed() { return freed; }

}  // namespace

KERNKIT_EXPORT(make, "(int n) -> Tensor", "Returns n floats.", make)
KERNKIT_EXPORT(count_freed, "() -> int", "Returns the number of freed tensors.", count_freed)
