// SPDX-License-Identifier: Apache-2.0
// tvm_ffi_before.cc, moved. Built and called by tests/project/test_examples.py.
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/optional.h"
#include "rms_norm.h"

using kernkit::Dim;
using kernkit::Optional;
using kernkit::TensorView;
using kernkit::type_of;

// [after]
using RmsNormTypes = kernkit::types<float, double>;

void rms_norm(TensorView out, TensorView x, Optional<TensorView> weight, double eps) {
  Dim n("n"), d("d");
  KERNKIT_EXPECT(x).dtype(RmsNormTypes{}).cpu().shape(n, d).contiguous();
  KERNKIT_EXPECT(out).like(x).contiguous().no_partial_overlap(x);
  if (weight) KERNKIT_EXPECT(*weight).same_dtype(x).same_device(x).shape(d).contiguous();

  if (x.numel() == 0) return;

  kernkit::dispatch(RmsNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    const T* w = weight ? weight->data<const T>() : nullptr;
    rms_norm_rows(n.value(), d.value(), out.data<T>(), x.data<const T>(), w, eps);
  });
}

KERNKIT_EXPORT(rms_norm, "(Tensor(a!) out, Tensor x, Tensor? weight, float eps) -> ()",
               "out = x / sqrt(mean(x * x) + eps) * weight, of each row.", rms_norm)
// [/after]
