// SPDX-License-Identifier: Apache-2.0
// The ops to call: two kernels, and ops for every kind of argument and result.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "add/add.cc"         // the fuzzer compiles all ops in one file
#include "add/add_export.cc"  // NOLINT(bugprone-suspicious-include)
#include "kernkit/bytes.h"
#include "kernkit/export.h"
#include "kernkit/function.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "scale/scale.cc"         // NOLINT(bugprone-suspicious-include)
#include "scale/scale_export.cc"  // NOLINT(bugprone-suspicious-include)

namespace fuzz {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::Tensor;
using kernkit::TensorView;

/// Returns the sum of n, the sizes, the factors, the elements of bias, the lengths of the texts and
/// the numbers of elements of `more`.
inline double weigh(kernkit::ShapeView sizes, ListView<double> factors, ListView<TensorView> more,
                    ListView<std::string_view> texts, Optional<TensorView> bias, uint64_t n) {
  double sum = static_cast<double>(n);
  for (const int64_t size : sizes) sum += static_cast<double>(size);
  for (size_t i = 0; i < factors.size(); ++i) sum += factors[i];
  for (size_t i = 0; i < texts.size(); ++i) sum += static_cast<double>(texts[i].size());
  for (size_t i = 0; i < more.size(); ++i) sum += static_cast<double>(more[i].numel());
  if (bias.has_value()) {
    KERNKIT_EXPECT(*bias).dtype(kernkit::dl_float32).cpu().contiguous();
    const int64_t elements = bias->numel();
    const float* data = bias->data<const float>();
    for (int64_t i = 0; i < elements; ++i) sum += static_cast<double>(data[i]);
  }
  return sum;
}

/// Returns several values, which requires a host.
inline std::tuple<int64_t, std::string> facts(std::string_view text, kernkit::BytesView raw,
                                              const kernkit::Any& any, DLDataType dtype,
                                              DLDevice device, bool flag) {
  kernkit::Message formatted;
  formatted << any << " " << dtype << " " << device << " " << flag;
  int64_t sum = 0;
  for (const char c : text) sum += c;
  for (const unsigned char byte : raw) sum += byte;
  return {sum, formatted.c_str()};
}

inline Tensor keep(Tensor x) { return x; }

inline int64_t twice(const kernkit::Function& f, int32_t n) {
  return f(n).cast<int64_t>() + f(n).cast<int64_t>();
}

}  // namespace fuzz

KERNKIT_EXPORT(weigh,
               "(int[] sizes, float[] factors, Tensor[] more, str[] words, Tensor? bias=None, "
               "int n=1) -> float",
               "", fuzz::weigh)
KERNKIT_EXPORT(facts,
               "(str text, bytes raw, Any any, ScalarType dtype, Device device, bool flag=True) "
               "-> (int, str)",
               "", fuzz::facts)
KERNKIT_EXPORT(keep, "(Tensor x) -> Tensor", "", fuzz::keep)
KERNKIT_EXPORT(twice, "(Callable f, int n) -> int", "", fuzz::twice)
