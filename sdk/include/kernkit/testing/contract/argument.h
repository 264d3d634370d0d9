// SPDX-License-Identifier: Apache-2.0
// Argument: one of a call, and how it lies in memory when it is a tensor.
#pragma once

#include <optional>
#include <vector>

#include "kernkit/owning_any.h"
#include "kernkit/testing/contract/elements.h"

namespace kernkit::testing::contract {

/// An argument as the example has it, to be changed before the call. Strides, `first` and `shift`
/// count elements.
struct Argument {
  Any value;  // of what is neither tensor nor list
  bool is_tensor = false;
  bool is_list = false;
  size_t size = 0;  // of a list: how many of its elements are passed, the first ones
  bool is_written = false;
  bool stays_on_cpu = false;
  DLDataType dtype{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // none: row-major
  bool as_pointer = false;       // a DLTensor*, as C callers pass it; otherwise a tensor object
  bool null_strides = false;     // with as_pointer: says none to the op
  int64_t first = 0;             // behind a multiple of 256 bytes
  int64_t byte_offset = 0;       // as many bytes of the address go through DLTensor::byte_offset
  int shares = -1;               // it lies in the memory of that argument, `shift` behind its first
  int64_t shift = 0;
  std::vector<double> values;
  std::optional<Elements> contents;  // instead of values
  // What the DLTensor says, when that is not true.
  std::optional<DLDevice> says_device;
  std::optional<std::vector<int64_t>> says_shape;
  bool says_null = false;

  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    return n;
  }
  std::vector<int64_t> row_major() const {
    std::vector<int64_t> dense(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) dense[d - 1] = dense[d] * shape[d];
    return dense;
  }
  /// What is moved as one: an element, or a byte where elements are smaller.
  int64_t unit() const { return is_whole_bytes(dtype) ? dtype_bits(dtype) / 8 : 1; }
  /// Where each unit lies, in bytes from the first one, in row-major order.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> all;
    const auto n = static_cast<int64_t>(bytes_of(dtype, numel())) / unit();
    const std::vector<int64_t> steps = strides.empty() ? row_major() : strides;
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0, rest = i;
      if (!is_whole_bytes(dtype)) {
        offset = i;
      } else {
        for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
          offset += rest % shape[d] * steps[d];
        }
      }
      all.push_back(offset * unit());
    }
    return all;
  }
};

}  // namespace kernkit::testing::contract
