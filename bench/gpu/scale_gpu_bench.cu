// SPDX-License-Identifier: Apache-2.0
#include "rows.cuh"
#include "scale/scale.h"

namespace kernkit::bench {
namespace {

template <class T>
void add_scale() {
  const kernels::Scale<T> op{compute_t<T>(2)};
  add_op<T, 1>("scale", op, [](cudaStream_t stream, int64_t n, T* y, const T* x) {
    const StreamGuard guard({kDLCUDA, 0}, stream);
    const Borrowed<T> out(y, n), in(const_cast<T*>(x), n);
    kernels::scale(out.view("y"), in.view("x"), 2.0);
  });
}

[[maybe_unused]] const bool registered = [] {
  add_scale<float>();
  add_scale<double>();
  add_scale<float16>();
  add_scale<bfloat16>();
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
