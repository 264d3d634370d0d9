// SPDX-License-Identifier: Apache-2.0
// Ops for which earlier versions of the generated modules allocated too little: built by
// test_written_modules.py.
#include "kernkit/expect.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::Optional;
using kernkit::Tensor;
using kernkit::TensorView;

void copied(TensorView y, TensorView x, int64_t) {
  KERNKIT_EXPECT(x).cpu().contiguous();
  KERNKIT_EXPECT(y).cpu().contiguous();
  for (int64_t i = 0; i < y.numel(); ++i) {
    y.data<float>()[i] = i < x.numel() ? x.data<const float>()[i] : 0.F;
  }
}
Tensor made(TensorView x, int64_t k) {
  const int64_t n[] = {x.size(0) / k};
  Tensor y = kernkit::alloc_tensor(kernkit::ShapeView(n, 1), x.dtype(), x.device());
  copied(TensorView(y.get()), x, k);
  return y;
}
void add_into(TensorView x, TensorView w) {
  KERNKIT_EXPECT(x).cpu().contiguous();
  KERNKIT_EXPECT(w).like(x).contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] += w.data<const float>()[i];
}
void doubled(TensorView x, Optional<TensorView> also) {
  add_into(x, x);
  if (also) add_into(*also, *also);
}
void fill(TensorView y, TensorView x) {
  for (int64_t i = 0; i < y.numel(); ++i) y.data<float>()[i] = x.data<const float>()[0];
}
void limited(TensorView y, TensorView x, double limit) {
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double value = x.data<const float>()[i];
    y.data<float>()[i] = static_cast<float>(value < limit ? value : limit);
  }
}
bool takes_bool(bool n) { return n; }
bool takes_optional(Optional<bool> n) { return n && *n; }
int64_t takes_list(kernkit::ListView<bool> all) {
  int64_t count = 0;
  for (const bool one : all) count += one ? 1 : 0;
  return count;
}
double takes_scalars(int64_t k, double f) { return static_cast<double>(k) * f; }
Tensor owned(Tensor x) {
  const TensorView view(x.get());
  Tensor y = kernkit::alloc_tensor(view.sizes(), view.dtype(), view.device());
  copied(TensorView(y.get()), view, 1);
  return y;
}

}  // namespace

KERNKIT_EXPORT(quotient, "(Tensor(out!) y[n/k], Tensor x[n], int k) -> ()", "", copied)
KERNKIT_EXPORT(rounded, "(Tensor(out!) y[ceil_div(n, k)], Tensor x[n], int k) -> ()", "", copied)
KERNKIT_EXPORT(difference, "(Tensor(out!) y[n-k], Tensor x[n], int k) -> ()", "", copied)
KERNKIT_EXPORT(multiple, "(Tensor(out!) y[n*k], Tensor x[n], int k) -> ()", "", copied)
KERNKIT_EXPORT(made, "(Tensor x[n], int k) -> Tensor y[n/k]", "", made)
KERNKIT_EXPORT(add_into, "(Tensor(a!) x[...], Tensor w[...]) -> ()", "", add_into)
KERNKIT_EXPORT(doubled, "(Tensor(a!) x[n], Tensor(b!)? also[n]=None) -> ()", "", doubled)
KERNKIT_EXPORT(each_added, "(Tensor(a!) x[each...], Tensor w[each...]) -> ()", "", add_into)
KERNKIT_EXPORT(fill, "(Tensor(out!) y[n, k?], Tensor x[n]) -> ()", "", fill)
KERNKIT_EXPORT(limited, "(Tensor(out!) y[...], Tensor x[...], float limit=inf) -> ()", "", limited)
KERNKIT_EXPORT(takes_bool, "(bool n) -> bool", "", takes_bool)
KERNKIT_EXPORT(takes_optional, "(bool? n=None) -> bool", "", takes_optional)
KERNKIT_EXPORT(takes_list, "(bool[] all) -> int", "", takes_list)
KERNKIT_EXPORT(takes_scalars, "(int k, float f) -> float", "", takes_scalars)
KERNKIT_EXPORT(owned, "(Tensor x[...]) -> Tensor y[...]", "", owned)
