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

/// An argument of a call that an op accepts: a tensor made by example(), a list made by list(), or
/// a value from which Any is made, such as a number, a bool, a text, a dtype, a device, or nullptr
/// for None. Functions throw only std::bad_alloc unless stated; those that return a bool, a dtype
/// or a reference throw nothing.
class Example {
 public:
  /// Makes the argument None, for an optional parameter. Throws nothing.
  Example(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  /// Stores a value, converted by a constructor of Any. Throws RuntimeError for a text, bytes, a
  /// list or a tuple without a host, the host's error, ValueError for an unsigned integer above
  /// 2^63 - 1, and InternalError for an undefined Tensor or Function.
  template <class T, std::enable_if_t<!std::is_same_v<std::decay_t<T>, Example> &&
                                          std::is_constructible_v<Any, T>,
                                      int> = 0>
  Example(T&& value) : value_(std::forward<T>(value)) {}  // NOLINT(runtime/explicit)
  /// Describes a tensor of this dtype and shape [elements]. The dtype is not checked, nor that the
  /// sizes are at least 0. Call allocates the memory.
  Example(DLDataType dtype, std::vector<int64_t> shape)
      : is_tensor_(true), dtype_(dtype), shape_(std::move(shape)) {}
  /// Makes a list of these elements, in order. An element must not be a list; this is not checked.
  explicit Example(std::vector<Example> elements)
      : is_list_(true), elements_(std::move(elements)) {}

  /// Returns a copy of the tensor with these values of the elements in row-major order, repeated to
  /// the tensor's size, for indices or offsets; an empty list restores the default, integers from 1
  /// to 13. Rules also convert the values to other dtypes: use integers from 0 to 127.
  Example values(std::initializer_list<double> values) const {
    Example copy = *this;
    copy.values_ = values;
    return copy;
  }
  /// Returns a copy of the tensor that is in CPU memory on every target.
  Example on_cpu() const {
    Example copy = *this;
    copy.stays_on_cpu_ = true;
    return copy;
  }
  /// Returns a copy of the tensor that is scratch: the contents after a call are not compared, and
  /// the op need not write the tensor.
  Example scratch() const {
    Example copy = *this;
    copy.is_scratch_ = true;
    return copy;
  }

  /// Returns whether the argument is scratch, see scratch().
  bool is_scratch() const { return is_scratch_; }
  /// Returns whether the argument is a tensor.
  bool is_tensor() const { return is_tensor_; }
  /// Returns whether the argument is a list.
  bool is_list() const { return is_list_; }
  /// Returns the elements of a list, valid as long as this object; empty for other arguments.
  const std::vector<Example>& elements() const { return elements_; }
  /// Returns whether the tensor is in CPU memory on every target, see on_cpu().
  bool stays_on_cpu() const { return stays_on_cpu_; }
  /// Returns the dtype of a tensor; {} for other arguments.
  DLDataType dtype() const { return dtype_; }
  /// Returns the sizes of a tensor [elements], valid as long as this object; empty for other
  /// arguments.
  const std::vector<int64_t>& shape() const { return shape_; }
  /// Returns the values set by values(list), valid as long as this object; empty if no values were
  /// set.
  const std::vector<double>& values() const { return values_; }
  /// Returns the value of an argument; None for a tensor or a list; valid as long as this object.
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

/// Returns a tensor argument of this shape [elements]: `example<float>(4, 33)`,
/// `example<kernkit::bfloat16>(n, 2 * d)`; without sizes, a tensor of rank 0. T must have a dtype.
/// Requires, without a check, that the sizes are integers of at least 0. Throws only
/// std::bad_alloc.
template <class T, class... Sizes>
Example example(Sizes... sizes) {
  return Example(dtype_of<T>, {static_cast<int64_t>(sizes)...});
}

/// Returns a list argument: `list(example<float>(4, 33), example<float>(4, 33))`, `list(1.5, 2.5)`;
/// without elements, an empty list. Each element is converted to an Example. Throws the errors of
/// Example's constructors.
template <class... Elements>
Example list(const Elements&... elements) {
  return Example(std::vector<Example>{Example(elements)...});
}

/// An exemption or a property of an op, made by without(), cpu_only(), cuda_only(), by_row() or
/// with_schema().
struct Exemption {
  /// Kinds of exemptions and properties.
  enum Kind {
    kWithout,          ///< the op breaks a rule on purpose
    kCpuOnly,          ///< the op has no CUDA implementation
    kCudaOnly,         ///< the op has no CPU implementation
    kByRow,            ///< each row's results depend only on that row
    kWithSchema        ///< the op was exported without a schema line; the test declares the line
  } kind;              ///< kind of the exemption or property
  std::string rule;    ///< name of the rule of kWithout; otherwise ""
  std::string reason;  ///< reason of kWithout, line of kWithSchema; otherwise ""
};

}  // namespace kernkit::testing
