// SPDX-License-Identifier: Apache-2.0
// Ops whose result for a batch differs from the results for the items of the batch, and ops whose
// result is not new memory.
#include <string.h>

#include <tuple>

#include "kernkit/env.h"
#include "kernkit/expect.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::Tensor;
using kernkit::TensorView;

void check(TensorView x) { KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous(); }
Tensor new_like(TensorView x) {
  check(x);
  return kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());
}
void multiply(TensorView y, TensorView x, double factor) {
  check(x);
  KERNKIT_EXPECT(y).like(x).contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    y.data<float>()[i] = x.data<const float>()[i] * static_cast<float>(factor);
  }
}

void of_sum(TensorView y, TensorView x) {
  check(x);
  float sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<const float>()[i];
  multiply(y, x, 1 / sum);
}
Tensor of_sum_made(TensorView x) {
  Tensor y = new_like(x);
  of_sum(y, x);
  return y;
}
void of_sum_in_place(TensorView x) { of_sum(x, x); }

// An allocator whose tensors share the memory of x.
struct MemoryOf {
  TensorView x;
  void AllocData(DLTensor* tensor) const { tensor->data = x.data_ptr(); }
  void FreeData(DLTensor*) const noexcept {}
};
// Returns x * factor, or for factor 1 a tensor that shares the memory of x.
Tensor scaled(TensorView x, double factor) {
  if (factor == 1) {
    return Tensor::FromNDAlloc(MemoryOf{x}, x.sizes(), x.dtype(), x.device());
  }
  Tensor y = new_like(x);
  multiply(y, x, factor);
  return y;
}
// Returns its argument, an owning tensor.
Tensor same(Tensor x) { return x; }
Tensor written(Tensor x) {
  multiply(x, x, 2);
  return x;
}
std::tuple<Tensor, Tensor> twice(TensorView x) {
  Tensor y = new_like(x);
  multiply(y, x, 1);
  return {y, y};
}
// Returns the same tensor in each call: the op keeps its result.
Tensor kept(TensorView x) {
  static auto* memory = new Tensor();  // never destroyed
  if (!memory->defined() || memory->sizes() != x.sizes()) *memory = new_like(x);
  multiply(*memory, x, 1);
  return *memory;
}

}  // namespace

KERNKIT_EXPORT(of_sum, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", of_sum)
KERNKIT_EXPORT(of_sum_made, "(Tensor x[...]) -> Tensor y[...]", "", of_sum_made)
KERNKIT_EXPORT(of_sum_in_place, "(Tensor(a!) x[...]) -> ()", "", of_sum_in_place)
KERNKIT_EXPORT(multiply, "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()", "",
               multiply)
KERNKIT_EXPORT(scaled, "(Tensor x[each...], float factor=1.0) -> Tensor y[each...]", "", scaled)
KERNKIT_EXPORT(same, "(Tensor x[...]) -> Tensor y[...]", "", same)
KERNKIT_EXPORT(written, "(Tensor(a!) x[...]) -> Tensor y[...]", "", written)
KERNKIT_EXPORT(twice, "(Tensor x[...]) -> (Tensor a[...], Tensor b[...])", "", twice)
KERNKIT_EXPORT(kept, "(Tensor x[...]) -> Tensor y[...]", "", kept)
KERNKIT_EXPORT(given_back, "(Tensor x) -> Tensor", "", same)
