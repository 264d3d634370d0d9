// SPDX-License-Identifier: Apache-2.0
// The ops that the GPU tests call, with their dtypes and expected results: out = op(x, y).
#pragma once

#include "add/add.h"
#include "kernkit/testing/reference.h"
#include "scale/scale.h"

namespace kernkit::gpu {

/// scale() with the interface of an op with two inputs; y is ignored.
template <class T>
struct ScaleOp {
  using Element = T;
  static constexpr bool kBinary = false;

  static void call(TensorView out, TensorView x, TensorView, double factor = -0.7) {
    kernels::scale(out, x, factor);
  }
  static T expected(T x, T, double factor = -0.7) {
    using testing::decode, testing::round_to;
    const double product = decode(x) * decode(round_to<compute_t<T>>(factor));
    return round_to<T>(decode(round_to<compute_t<T>>(product)));
  }
};

template <class T>
struct AddOp {
  using Element = T;
  static constexpr bool kBinary = true;

  static void call(TensorView out, TensorView x, TensorView y) { kernels::add(out, x, y); }
  static T expected(T x, T y) {
    using testing::decode, testing::round_to;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
    } else {
      return round_to<T>(decode(round_to<compute_t<T>>(decode(x) + decode(y))));
    }
  }
};

using EveryOp =
    ::testing::Types<ScaleOp<float16>, ScaleOp<bfloat16>, ScaleOp<float>, ScaleOp<double>,
                     AddOp<float16>, AddOp<bfloat16>, AddOp<float>, AddOp<double>, AddOp<int8_t>,
                     AddOp<int16_t>, AddOp<int32_t>, AddOp<int64_t>, AddOp<uint8_t>>;

/// Names typed tests by op and dtype.
struct OpName {
  template <class Op>
  static std::string GetName(int) {
    Message text;
    text << (Op::kBinary ? "add_" : "scale_") << dtype_of<typename Op::Element>;
    return text.c_str();
  }
};

}  // namespace kernkit::gpu
