// SPDX-License-Identifier: Apache-2.0
// Array: a list that owns its elements. Copies share the elements until one copy is changed.
#pragma once

#include "kernkit/call/array.h"
#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
template <class T>
class Array : public kernkit::Array<T> {
 public:
  using kernkit::Array<T>::Array;
  Array() = default;
  Array(size_t n, const T& value) : Array(std::vector<T>(n, value)) {}

  T operator[](int64_t i) const {
    const auto n = static_cast<int64_t>(this->size());
    if (i < 0 || i >= n) TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds " << n;
    return kernkit::Array<T>::operator[](static_cast<size_t>(i));
  }
  T at(int64_t i) const { return (*this)[i]; }
  T front() const {
    if (this->empty()) TVM_FFI_THROW(IndexError) << "front() on empty sequence";
    return (*this)[0];
  }
  T back() const {
    if (this->empty()) TVM_FFI_THROW(IndexError) << "back() on empty sequence";
    return (*this)[static_cast<int64_t>(this->size()) - 1];
  }
  void Set(int64_t i, T value) {
    (void)(*this)[i];
    this->own()[static_cast<size_t>(i)] = std::move(value);
  }
  template <class... Args>
  void emplace_back(Args&&... args) {
    this->own().emplace_back(std::forward<Args>(args)...);
  }
  void reserve(int64_t n) {
    if (n > 0) this->own().reserve(static_cast<size_t>(n));
  }
  void resize(int64_t n) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "cannot resize an Array to negative size";
    this->own().resize(static_cast<size_t>(n));
  }
  void clear() { this->own().clear(); }
};
template <class T>
Array(std::vector<T>) -> Array<T>;
template <class T>
Array(std::initializer_list<T>) -> Array<T>;
KERNKIT_TVM_FFI_END

namespace kernkit::detail {
template <class T>
struct Argument<tvm::ffi::Array<T>> : ArrayArgument<tvm::ffi::Array<T>, T> {};
template <class T>
struct Result<tvm::ffi::Array<T>> : ArrayResult<tvm::ffi::Array<T>, T> {};
}  // namespace kernkit::detail
