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

/// Placement of a HostTensor in its memory. The default is the first element at a multiple of 64
/// bytes, without offset.
struct Placement {
  int64_t first = 0;         ///< number of elements that are skipped: 1 makes an unaligned view
  uint64_t byte_offset = 0;  ///< part of the address in DLTensor::byte_offset [bytes]
  /// Whether DLTensor::strides is null, which DLPack defines as row-major.
  bool null_strides = false;
};

/// The source of a HostTensor's memory, which the host reads and writes.
struct TestMemory {
  void* (*allocate)(size_t bytes);  ///< allocates memory at a multiple of 64 bytes; null on failure
  void (*release)(void* memory);    ///< frees memory of allocate()
};
/// CPU memory of std::aligned_alloc().
inline constexpr TestMemory kHostMemory{[](size_t bytes) { return std::aligned_alloc(64, bytes); },
                                        std::free};

/// A contiguous tensor on the CPU that owns its elements. T must be trivially copyable. The first
/// element is Placement::first elements after a multiple of 64 bytes. At least 64 bytes before and
/// 64 bytes after the elements are poisoned (poisoned_memory.h) and hold a pattern; intact()
/// returns whether the pattern is unchanged. Use an object in one thread at a time.
template <class T>
class HostTensor {
 public:
  /// Allocates a tensor of this shape [elements] from `allocator`, of which a copy is kept, and
  /// sets each element to `fill`. An empty shape has one element, and a size of 0 none. Requires,
  /// without a check, that the sizes and `placement.first` are not negative and that the memory has
  /// at most 2^63 - 1 bytes. T must have a dtype. Throws std::bad_alloc if no memory is left, and
  /// the exceptions of `allocator.allocate`.
  explicit HostTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T(),
                      const TestMemory& allocator = kHostMemory)
      : shape_(std::move(shape)), placement_(placement), allocator_(allocator) {
    strides_.resize(shape_.size());
    for (size_t i = shape_.size(); i-- > 0;) {
      strides_[i] = size_;
      size_ *= shape_[i];
    }
    bytes_ = kGuard + (static_cast<size_t>(placement_.first + size_)) * sizeof(T) + kGuard;
    bytes_ = (bytes_ + 63) / 64 * 64;
    memory_ = static_cast<unsigned char*>(allocator_.allocate(bytes_));
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
  /// Unpoisons and frees the memory, without waiting for work of a device. Views must not be used
  /// afterwards. Throws nothing.
  ~HostTensor() {
    unpoison_memory(memory_, bytes_);
    allocator_.release(memory_);
  }

  /// Returns the address of the first element, valid during the lifetime of the tensor. Throws
  /// nothing.
  T* begin() { return reinterpret_cast<T*>(memory_ + kGuard) + placement_.first; }
  /// Returns the address past the last element, valid during the lifetime of the tensor. Throws
  /// nothing.
  T* end() { return begin() + size_; }
  /// Returns element i in row-major order, counted from 0, valid during the lifetime of the tensor.
  /// The index is not checked. Throws nothing.
  T& operator[](int64_t i) { return begin()[i]; }
  /// Returns the number of elements; 1 for an empty shape. Throws nothing.
  int64_t size() const { return size_; }

  /// Returns the DLTensor, valid during the lifetime of the tensor. A test may change its members
  /// to make an invalid tensor: this class does not read them. Throws nothing.
  DLTensor* dl() { return &dl_; }
  /// Returns a view whose messages name the argument `name`, which must outlive the view. The view
  /// is valid during the lifetime of the tensor. Throws nothing.
  TensorView view(const char* name) const { return TensorView(&dl_, name); }

  /// Returns whether all bytes of the memory before and after the elements have the pattern of the
  /// constructor. Wait for the device before the call if a kernel used the memory. Throws nothing.
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
  TestMemory allocator_;
  int64_t size_ = 1;
  size_t bytes_ = 0;
  unsigned char* memory_ = nullptr;
  DLTensor dl_{};
};

/// Calls `call()` once and returns Error::what() of the kernkit::Error that the call throws, such
/// as "ValueError: y: ...", or "nothing" if the call returns. Throws std::bad_alloc and the other
/// exceptions of `call`.
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
