// SPDX-License-Identifier: Apache-2.0
// HostTensor: a tensor in CPU memory that owns its data, for tests and benchmarks. error_of(): the
// message of what a call refuses.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/float.h"
#include "kernkit/tensor.h"
#include "kernkit/testing/closed_memory.h"

namespace kernkit::testing {

/// How a HostTensor lies in its memory.
struct Placement {
  int64_t first = 0;         // elements before the first one: 1 makes an unaligned view
  uint64_t byte_offset = 0;  // of it, as many bytes as go through DLTensor::byte_offset
  bool null_strides = false;
};

/// Where a HostTensor's memory comes from, which the host reads and writes.
struct TestMemory {
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory);
};
inline constexpr TestMemory kHostMemory{[](size_t bytes) { return std::aligned_alloc(64, bytes); },
                                        std::free};

/// A contiguous tensor of elements T, 64-byte aligned before its Placement, filled with `fill`.
/// Bytes in front of and behind the elements are closed (closed_memory.h), and hold a pattern;
/// intact() says whether it still stands.
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
    close_memory(memory_, static_cast<size_t>(first - memory_));
    close_memory(last, static_cast<size_t>(memory_ + bytes_ - last));
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
    open_memory(memory_, bytes_);
    of_.release(memory_);
  }

  T* begin() { return reinterpret_cast<T*>(memory_ + kGuard) + placement_.first; }
  T* end() { return begin() + size_; }
  T& operator[](int64_t i) { return begin()[i]; }
  int64_t size() const { return size_; }

  /// The DLTensor, to be changed at will by a test that wants a wrong one.
  DLTensor* dl() { return &dl_; }
  TensorView view(const char* name) const { return TensorView(&dl_, name); }

  /// False when something wrote in front of or behind the elements.
  KERNKIT_SEES_CLOSED_MEMORY bool intact() {
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

/// "ValueError: y: ..." of the kernkit::Error that `call()` throws; "nothing" when it throws none.
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
