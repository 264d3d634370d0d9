// SPDX-License-Identifier: Apache-2.0
// Array: a list that owns its elements. Copies share the elements until one copy is changed.
#pragma once

#include "kernkit/call/array.h"
#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
/// A list that owns its elements, tvm-ffi's Array, implemented by kernkit::Array. Copies share the
/// elements until one copy is changed. A parameter of this type is a copy of the caller's list. A
/// result of this type reaches the caller as a list.
template <class T>
class Array : public kernkit::Array<T> {
 public:
  using kernkit::Array<T>::Array;
  /// An empty list.
  Array() = default;
  /// Makes a list of n copies of `value`.
  Array(size_t n, const T& value) : Array(std::vector<T>(n, value)) {}

  /// Returns a copy of element i. Throws IndexError for an index outside [0, size()).
  T operator[](int64_t i) const {
    const auto n = static_cast<int64_t>(this->size());
    if (i < 0 || i >= n) TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds " << n;
    return kernkit::Array<T>::operator[](static_cast<size_t>(i));
  }
  /// Returns a copy of element i. Throws IndexError for an index outside [0, size()).
  T at(int64_t i) const { return (*this)[i]; }
  /// Returns a copy of the first element. Throws IndexError for an empty list.
  T front() const {
    if (this->empty()) TVM_FFI_THROW(IndexError) << "front() on empty sequence";
    return (*this)[0];
  }
  /// Returns a copy of the last element. Throws IndexError for an empty list.
  T back() const {
    if (this->empty()) TVM_FFI_THROW(IndexError) << "back() on empty sequence";
    return (*this)[static_cast<int64_t>(this->size()) - 1];
  }
  /// Replaces element i of this list, not of copies. Throws IndexError for an index outside [0,
  /// size()).
  void Set(int64_t i, T value) {
    (void)(*this)[i];
    this->own()[static_cast<size_t>(i)] = std::move(value);
  }
  /// Appends an element made from the arguments.
  template <class... Args>
  void emplace_back(Args&&... args) {
    this->own().emplace_back(std::forward<Args>(args)...);
  }
  /// Reserves memory for n elements; does nothing if n <= 0.
  void reserve(int64_t n) {
    if (n > 0) this->own().reserve(static_cast<size_t>(n));
  }
  /// Changes the number of elements to n; new elements are value-initialised. Throws ValueError if
  /// n is negative.
  void resize(int64_t n) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "cannot resize an Array to negative size";
    this->own().resize(static_cast<size_t>(n));
  }
  /// Removes all elements.
  void clear() { this->own().clear(); }
};
/// Deduces the type of the elements from a vector.
template <class T>
Array(std::vector<T>) -> Array<T>;
/// Deduces the type of the elements from a braced list.
template <class T>
Array(std::initializer_list<T>) -> Array<T>;
KERNKIT_TVM_FFI_END

namespace kernkit::detail {
template <class T>
struct Argument<tvm::ffi::Array<T>> : ArrayArgument<tvm::ffi::Array<T>, T> {};
template <class T>
struct Result<tvm::ffi::Array<T>> : ArrayResult<tvm::ffi::Array<T>, T> {};
}  // namespace kernkit::detail
