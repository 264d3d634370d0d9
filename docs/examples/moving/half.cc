// SPDX-License-Identifier: Apache-2.0
// CUDA's own 16-bit type. Compiled by tests/project/test_examples.py against the CUDA headers.
#include <cuda_fp16.h>

#include "kernkit/dispatch.h"
#include "kernkit/tensor.h"

// [half]
template <>
struct kernkit::DTypeOf<__half> {
  static constexpr DLDataType value = dl_float16;
};
// [/half]

static_assert(kernkit::contains(kernkit::types<__half, float>{}, kernkit::dl_float16));

__half* first(kernkit::TensorView x) { return x.data<__half>(); }
