// SPDX-License-Identifier: Apache-2.0
// Array: a list owned by a kernel, to return or to keep after the call.
#pragma once

#include <vector>

#include "kernkit/call/result.h"
#include "kernkit/list.h"

namespace kernkit {

/// A list that owns its elements; copies share the elements until one copy is changed. As a
/// parameter it is a copy of the caller's list (`Tensor[]`, `float[]`, and `int[]` as
/// Array<int64_t>); a ListView avoids the copy if the op does not keep the list after the call. A
/// result becomes a list of the host. Lists of lists, which a schema line cannot express, require
/// KERNKIT_EXPORT_TYPED. Threads may use copies of an array at the same time, but not one object
/// while a thread changes it. A member throws nothing unless the member's comment names an error;
/// copying an element throws what T's copy throws.
template <class T>
class Array {
 public:
  using value_type = T;                                            ///< type of an element
  using const_iterator = typename std::vector<T>::const_iterator;  ///< reads elements in order

  /// Creates an empty array, without an allocation.
  Array() = default;
  /// Copies a literal, as in `Array<double>{1, 2}`. Throws std::bad_alloc if memory is exhausted.
  Array(std::initializer_list<T> values) : Array(std::vector<T>(values)) {}
  /// Takes over a vector. Throws std::bad_alloc if memory is exhausted.
  Array(std::vector<T> values)
      : block_(new Block{1, std::move(values)}) {}  // NOLINT(runtime/explicit)
  /// Copies the elements [first, last). Throws std::bad_alloc if memory is exhausted.
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  Array(It first, It last) : Array(std::vector<T>(first, last)) {}
  /// Shares the elements of the other array until one of the arrays is changed.
  Array(const Array& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) __atomic_fetch_add(&block_->owners, 1, __ATOMIC_RELAXED);
  }
  /// Takes over the elements; the other array is empty afterwards. Throws nothing.
  Array(Array&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  /// Takes over or shares the other array's elements, and releases the previous elements.
  Array& operator=(Array other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Array() {
    if (block_ != nullptr && __atomic_sub_fetch(&block_->owners, 1, __ATOMIC_ACQ_REL) == 0) {
      delete block_;
    }
  }

  /// Number of elements.
  size_t size() const { return block_ == nullptr ? 0 : block_->values.size(); }
  /// True for an array without elements.
  bool empty() const { return size() == 0; }
  /// Returns a copy of element i, counted from 0; a copy of a Tensor shares the memory. The index
  /// is not checked.
  T operator[](size_t i) const { return block_->values[i]; }
  /// A copy of element i, counted from 0. Throws IndexError for i >= size().
  T at(size_t i) const {
    KERNKIT_CHECK(i < size(), IndexError)
        << "index " << i << " is out of range for an array of size " << size();
    return (*this)[i];
  }
  /// Iterator at the first element, valid until the array is changed or destroyed.
  const_iterator begin() const {
    return block_ == nullptr ? const_iterator() : block_->values.cbegin();
  }
  /// Iterator past the last element, valid until the array is changed or destroyed.
  const_iterator end() const {
    return block_ == nullptr ? const_iterator() : block_->values.cend();
  }

  /// Makes this array the only owner of its elements, by a copy if another array shares them, and
  /// returns them for changes. The reference is valid until this array is copied, assigned, moved
  /// or destroyed. Throws std::bad_alloc if memory is exhausted.
  std::vector<T>& own() {
    if (block_ == nullptr || __atomic_load_n(&block_->owners, __ATOMIC_ACQUIRE) != 1) {
      *this = Array(std::vector<T>(begin(), end()));
    }
    return block_->values;
  }
  /// Appends an element, after a copy of the elements if another array shares them. Throws
  /// std::bad_alloc if memory is exhausted.
  void push_back(T value) { own().push_back(std::move(value)); }

 private:
  struct Block {
    int64_t owners;
    std::vector<T> values;
  };
  Block* block_ = nullptr;
};

namespace detail {

/// Base of Argument<Array>, where Array is a list class with elements of type T. Argument<Read>
/// reads each element.
template <class Array, class T, class Read = T>
struct ArrayArgument {
  using Storage = Array;
  static constexpr bool fits(const schema::Param& param) {
    schema::Param element = param;
    element.is_list = false;
    return param.is_list && !param.is_optional && Argument<T>::fits(element);
  }
  static Storage read(const KernkitAny& any, const char* name) {
    const ListItems items = ListItems::from(read_list(any, name, "a list"));
    std::vector<T> values;
    values.reserve(items.size());
    for (size_t i = 0; i < items.size(); ++i)
      values.push_back(read_element<Read>(items.data(), i, name));
    return Storage(std::move(values));
  }
};
template <class Array, class T>
struct ArrayResult {
  static constexpr bool fits(const schema::Param* returns, int n) {
    schema::Param element = n == 1 ? returns[0] : schema::Param();
    element.is_list = false;
    return n == 1 && returns[0].is_list && !returns[0].is_optional && Result<T>::fits(&element, 1);
  }
  static void set(KernkitAny* result, const Array& array) {
    struct Values : std::vector<KernkitAny> {
      using std::vector<KernkitAny>::vector;
      ~Values() { release_items(this->data(), static_cast<int32_t>(this->size())); }
    };
    KERNKIT_CHECK(array.size() <= INT32_MAX, ValueError)
        << "returns " << array.size() << " elements; a list has at most " << INT32_MAX;
    Values values(array.size());
    size_t i = 0;
    for (T value : array) Result<T>::set(&values[i++], std::move(value));
    set_array(result, values.data(), static_cast<int32_t>(i), "a list");
  }
};

template <class T>
struct Argument<Array<T>> : ArrayArgument<Array<T>, T> {};
template <class T>
struct Result<Array<T>> : ArrayResult<Array<T>, T> {};

}  // namespace detail
}  // namespace kernkit
