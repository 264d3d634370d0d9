// SPDX-License-Identifier: Apache-2.0
// Turns fuzzer input into choices. After the end of the input, every choice is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint64_t number() {
    uint64_t value = 0;
    const size_t size = size_ < sizeof(value) ? size_ : sizeof(value);
    if (size != 0) memcpy(&value, data_, size);
    skip(size);
    return value;
  }
  /// Returns a number from 0 to n - 1; n is at most 256.
  uint32_t below(uint32_t n) {
    if (size_ == 0) return 0;
    const uint32_t value = *data_ % n;
    skip(1);
    return value;
  }
  /// Reads a number from 0 to n - 1, and returns whether the number is n - 1.
  bool once_in(uint32_t n) { return below(n) == n - 1; }

 private:
  void skip(size_t size) {
    data_ += size;
    size_ -= size;
  }

  const uint8_t* data_;
  size_t size_;
};

}  // namespace fuzz
