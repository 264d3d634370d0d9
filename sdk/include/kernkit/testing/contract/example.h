// SPDX-License-Identifier: Apache-2.0
// Example: an argument of a call that an op accepts.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/float.h"
#include "kernkit/owning_any.h"
#include "kernkit/types/small_float.h"

namespace kernkit::testing {

/// A tensor made by example(), a list(), or any value that Any accepts: a number, a bool, a text, a
/// dtype, a device, nullptr for None.
class Example {
 public:
  Example(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  template <class T, std::enable_if_t<!std::is_same_v<std::decay_t<T>, Example> &&
                                          std::is_constructible_v<Any, T>,
                                      int> = 0>
  Example(T&& value) : value_(std::forward<T>(value)) {}  // NOLINT(runtime/explicit)
  Example(DLDataType dtype, std::vector<int64_t> shape)
      : is_tensor_(true), dtype_(dtype), shape_(std::move(shape)) {}
  explicit Example(std::vector<Example> elements)
      : is_list_(true), elements_(std::move(elements)) {}

  /// The elements, repeated to the tensor's size, for indices or offsets. The numbers must be
  /// integers that every dtype holds. The default is integers from 1 to 13.
  Example values(std::initializer_list<double> values) const {
    Example copy = *this;
    copy.values_ = values;
    return copy;
  }
  /// Keeps the tensor in CPU memory, wherever the other tensors are.
  Example on_cpu() const {
    Example copy = *this;
    copy.stays_on_cpu_ = true;
    return copy;
  }
  /// Scratch: the contents after the call are ignored, whether the op wrote them or not.
  Example scratch() const {
    Example copy = *this;
    copy.is_scratch_ = true;
    return copy;
  }

  bool is_scratch() const { return is_scratch_; }
  bool is_tensor() const { return is_tensor_; }
  bool is_list() const { return is_list_; }
  const std::vector<Example>& elements() const { return elements_; }
  bool stays_on_cpu() const { return stays_on_cpu_; }
  DLDataType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<double>& values() const { return values_; }
  /// The value if it is neither a tensor nor a list.
  const Any& value() const { return value_; }

 private:
  bool is_tensor_ = false;
  bool is_list_ = false;
  bool stays_on_cpu_ = false;
  bool is_scratch_ = false;
  DLDataType dtype_{};
  std::vector<int64_t> shape_;
  std::vector<double> values_;
  std::vector<Example> elements_;
  Any value_;
};

/// A tensor of this shape: `example<float>(4, 33)`, `example<kernkit::bfloat16>(n, 2 * d)`.
template <class T, class... Sizes>
Example example(Sizes... sizes) {
  return Example(dtype_of<T>, {static_cast<int64_t>(sizes)...});
}

/// A list: `list(example<float>(4, 33), example<float>(4, 33))`, `list(1.5, 2.5)`.
template <class... Elements>
Example list(const Elements&... elements) {
  return Example(std::vector<Example>{Example(elements)...});
}

/// An exemption or a property of an op: see KERNKIT_TEST_CONTRACT.
struct Exemption {
  enum Kind { kWithout, kCpuOnly, kCudaOnly, kByRow, kWithSchema } kind;
  std::string rule;
  std::string reason;
};

}  // namespace kernkit::testing
