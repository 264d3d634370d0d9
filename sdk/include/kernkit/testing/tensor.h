// SPDX-License-Identifier: Apache-2.0
// HostTensor: a tensor in CPU memory that owns its data, for tests and benchmarks. error_of(): the
// error that a call throws.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/float.h"
#include "kernkit/tensor.h"
#include "kernkit/testing/poisoned_memory.h"

namespace kernkit::testing {

/// Placement of a HostTensor in its memory.
struct Placement {
  int64_t first = 0;         // elements before the first one: 1 makes an unaligned view
  uint64_t byte_offset = 0;  // part of the address that goes through DLTensor::byte_offset [bytes]
  bool null_strides = false;
};

/// The source of a HostTensor's memory, which the host reads and writes.
struct TestMemory {
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory);
};
inline constexpr TestMemory kHostMemory{[](size_t bytes) { return std::aligned_alloc(64, bytes); },
                                        std::free};

/// A contiguous tensor of elements T, 64-byte aligned before its Placement, filled with `fill`.
/// Bytes before and after the elements are poisoned (poisoned_memory.h) and hold a pattern;
/// intact() reports whether the pattern is unchanged.
template <class T>
class HostTensor {
 public:
  explicit HostTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T(),
                      const TestMemory& of = kHostMemory)
      : shape_(std::move(shape)), placement_(placement), of_(of) {
    strides_.resize(shape_.size());
    for (size_t i = shape_.size(); i-- > 0;) {
      strides_[i] = size_;
      size_ *= shape_[i];
    }
    bytes_ = kGuard + (static_cast<size_t>(placement_.first + size_)) * sizeof(T) + kGuard;
    bytes_ = (bytes_ + 63) / 64 * 64;
    memory_ = static_cast<unsigned char*>(of_.allocate(bytes_));
    if (memory_ == nullptr) throw std::bad_alloc();
    memset(memory_, kPattern, bytes_);
    for (T& x : *this) x = fill;
    const auto* first = reinterpret_cast<unsigned char*>(begin());
    const auto* last = reinterpret_cast<unsigned char*>(end());
    poison_memory(memory_, static_cast<size_t>(first - memory_));
    poison_memory(last, static_cast<size_t>(memory_ + bytes_ - last));
    dl_.data = begin();
    dl_.data = static_cast<char*>(dl_.data) - placement_.byte_offset;
    dl_.device = {kDLCPU, 0};
    dl_.ndim = static_cast<int32_t>(shape_.size());
    dl_.dtype = dtype_of<T>;
    dl_.shape = shape_.data();
    dl_.strides = placement_.null_strides ? nullptr : strides_.data();
    dl_.byte_offset = placement_.byte_offset;
  }
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;
  ~HostTensor() {
    unpoison_memory(memory_, bytes_);
    of_.release(memory_);
  }

  T* begin() { return reinterpret_cast<T*>(memory_ + kGuard) + placement_.first; }
  T* end() { return begin() + size_; }
  T& operator[](int64_t i) { return begin()[i]; }
  int64_t size() const { return size_; }

  /// The DLTensor. A test may change it to an invalid tensor.
  DLTensor* dl() { return &dl_; }
  TensorView view(const char* name) const { return TensorView(&dl_, name); }

  /// False if bytes before or after the elements were written.
  KERNKIT_READS_POISONED_MEMORY bool intact() {
    const auto* first = reinterpret_cast<unsigned char*>(begin());
    const auto* last = reinterpret_cast<unsigned char*>(end());
    for (const unsigned char* p = memory_; p < memory_ + bytes_; ++p) {
      if ((p < first || p >= last) && *p != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0xa5;

  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  Placement placement_;
  TestMemory of_;
  int64_t size_ = 1;
  size_t bytes_ = 0;
  unsigned char* memory_ = nullptr;
  DLTensor dl_{};
};

/// "ValueError: y: ..." for the kernkit::Error that `call()` throws; "nothing" if it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace kernkit::testing
