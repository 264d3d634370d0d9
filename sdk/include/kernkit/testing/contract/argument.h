// SPDX-License-Identifier: Apache-2.0
// Argument: one argument of a call, and a tensor's layout in memory.
#pragma once

#include <optional>
#include <vector>

#include "kernkit/owning_any.h"
#include "kernkit/testing/contract/elements.h"

namespace kernkit::testing::contract {

/// An argument of the example, which a rule may change before the call. Strides, `first` and
/// `shift` count elements. Functions that return a vector throw only std::bad_alloc; other
/// functions throw nothing. Functions read `dtype`, `shape` and `strides`, and require a dtype of
/// at least one bit.
struct Argument {
  Any value;                ///< value, unless the argument is a tensor or a list
  bool is_tensor = false;   ///< whether the argument is a tensor, described by the members below
  bool is_list = false;     ///< whether the argument is a list, whose elements follow as arguments
  size_t size = 0;          ///< number of leading elements of a list that are passed
  bool is_written = false;  ///< whether the schema marks the argument (a!) or (out!)
  bool stays_on_cpu = false;     ///< whether the tensor is in CPU memory on every target
  DLDataType dtype{};            ///< dtype of the tensor
  std::vector<int64_t> shape;    ///< sizes of the tensor
  std::vector<int64_t> strides;  ///< strides [elements]; empty: row-major
  bool as_pointer = false;       ///< whether the tensor is passed as a DLTensor*, not as an object
  bool null_strides = false;     ///< whether DLTensor::strides is NULL
  int64_t first = 0;             ///< elements between a multiple of 256 bytes and the first element
  int64_t byte_offset = 0;       ///< part of the address in DLTensor::byte_offset [bytes]
  /// Index of the argument whose memory this tensor uses; -1 for memory of its own.
  int shares = -1;
  int64_t shift = 0;           ///< distance from the first element of argument `shares` [elements]
  std::vector<double> values;  ///< values of the elements, repeated to the tensor's size
  std::optional<Elements> contents;  ///< contents, if given instead of `values`
  /// Device in the DLTensor, if it differs from the device of the memory.
  std::optional<DLDevice> claimed_device;
  /// Sizes in the DLTensor, if they differ from `shape`.
  std::optional<std::vector<int64_t>> claimed_shape;
  bool claims_null = false;  ///< whether DLTensor::data is NULL

  /// Returns the number of elements: the product of the sizes, 1 for rank 0. Requires, without a
  /// check, that no size is negative and that the product fits int64_t.
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    return n;
  }
  /// Returns the strides of a dense row-major tensor of this shape [elements], one for each
  /// dimension. Overflow is not checked.
  std::vector<int64_t> row_major() const {
    std::vector<int64_t> dense(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) dense[d - 1] = dense[d] * shape[d];
    return dense;
  }
  /// Returns the size of the unit in which contents are copied [bytes]: an element with all lanes,
  /// or a byte if an element does not take whole bytes.
  int64_t unit() const { return is_multiple_of_byte(dtype) ? dtype_bits(dtype) / 8 : 1; }
  /// Returns the offset of each unit (see unit()) from the first unit [bytes], in row-major order
  /// of the elements, by `strides` or, if these are empty, row_major(). Requires that `strides`,
  /// unless empty, has one entry for each dimension. The result is empty for an empty tensor.
  /// Elements that do not take whole bytes are packed, and `strides` is ignored.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> all;
    const auto n = static_cast<int64_t>(bytes_of(dtype, numel())) / unit();
    const std::vector<int64_t> steps = strides.empty() ? row_major() : strides;
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0, remaining = i;
      if (!is_multiple_of_byte(dtype)) {
        offset = i;
      } else {
        for (size_t d = shape.size(); d-- > 0; remaining /= shape[d]) {
          offset += remaining % shape[d] * steps[d];
        }
      }
      all.push_back(offset * unit());
    }
    return all;
  }
};

}  // namespace kernkit::testing::contract
