// SPDX-License-Identifier: Apache-2.0
// An op that checks more than its tensors. Built and called by tests/project/test_examples.py.
#include <string_view>

#include "kernkit/expect.h"
#include "kernkit/export.h"

using kernkit::TensorView;

// [check]
double reduce(TensorView x, int64_t window, std::string_view mode) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().rank(1).contiguous();
  KERNKIT_CHECK(window > 0 && window <= x.size(0), ValueError)
      << "window: must be in [1, " << x.size(0) << "], got " << window;

  double total = 0;
  for (int64_t i = 0; i < window; ++i) total += static_cast<double>(x.data<const float>()[i]);
  if (mode == "sum") return total;
  if (mode == "mean") return total / static_cast<double>(window);
  KERNKIT_THROW(ValueError) << "mode: expected sum or mean, got \"" << mode << "\"";
}
// [/check]

void unfinished() { KERNKIT_THROW(NotImplementedError) << "not yet"; }
void bug() { KERNKIT_ICHECK_EQ(3, 4); }

KERNKIT_EXPORT(reduce, "(Tensor x, int window, str mode='sum') -> float",
               "Returns the sum or the mean of the first `window` elements of x.", reduce)
KERNKIT_EXPORT(unfinished, "() -> ()", "Raises a NotImplementedError.", unfinished)
KERNKIT_EXPORT(bug, "() -> ()", "Raises an InternalError.", bug)
