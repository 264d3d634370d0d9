// SPDX-License-Identifier: Apache-2.0
// ListItems: the elements of a ListView, which do not change during its lifetime.
#pragma once

#include <utility>

#include "kernkit/call/argument.h"

namespace kernkit::detail {

/// Returns the list that an argument refers to, an Array or a List. Throws TypeError, which names
/// `name`, for any other argument.
inline KernkitAny read_list(const KernkitAny& any, const char* name, const char* expected) {
  const KernkitAny list = referent(any);
  const bool is_list = list.type_index == kKernkitArray || list.type_index == kKernkitList;
  if (!is_list || !is_sound(list)) {
    throw_argument_type(name, expected, any);
  }
  return list;
}

/// The elements of a list argument, borrowed or owned. Copies share owned elements.
class ListItems {
 public:
  /// Borrows the elements.
  ListItems(const KernkitAny* data, size_t size) : data_(data), size_(size) {}
  /// Returns a list that owns copies of the elements, with references to their objects. Throws
  /// std::bad_alloc.
  static ListItems copy(const KernkitAny* data, size_t size);
  /// Returns the elements of `list`: borrowed from an Array, which never changes, or copied from a
  /// List, because a callback may change the List during the call and free its elements.
  static ListItems from(const KernkitAny& list) {
    const auto* cell = cell_of<KernkitSeqCell>(list);
    const auto* data = static_cast<const KernkitAny*>(cell->data);
    const auto size = static_cast<size_t>(cell->size);
    return list.type_index == kKernkitArray ? ListItems(data, size) : copy(data, size);
  }

  ListItems(const ListItems& other) noexcept
      : data_(other.data_), size_(other.size_), shared_(other.shared_) {
    if (shared_ != nullptr) __atomic_fetch_add(&shared_->owners, 1, __ATOMIC_RELAXED);
  }
  ListItems& operator=(const ListItems& other) noexcept {
    ListItems copied = other;
    swap(copied);
    return *this;
  }
  ~ListItems() {
    if (shared_ != nullptr) release();
  }

  const KernkitAny* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  struct SharedItems {
    int64_t owners;
    KernkitAny* items() { return reinterpret_cast<KernkitAny*>(this + 1); }
  };
  void swap(ListItems& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(shared_, other.shared_);
  }
  void release() noexcept;

  const KernkitAny* data_;
  size_t size_;
  SharedItems* shared_ = nullptr;
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/list_items.h"
#endif
