// SPDX-License-Identifier: Apache-2.0
// Copies of the elements of a list that may change.
#pragma once

#include "kernkit/call/list_items.h"

namespace kernkit::detail {

/// Returns whether a list element is an object that is not null. Reading a null object throws.
inline bool is_object(const KernkitAny& any) {
  return any.type_index >= kKernkitObject && any.v.object != nullptr;
}

KERNKIT_COLD ListItems ListItems::copy(const KernkitAny* data, size_t size) {
  auto* shared = static_cast<SharedItems*>(malloc(sizeof(SharedItems) + size * sizeof(KernkitAny)));
  if (shared == nullptr) throw std::bad_alloc();
  shared->owners = 1;
  for (size_t i = 0; i < size; ++i) {
    shared->items()[i] = data[i];
    if (is_object(data[i])) KernkitObjectIncRef(data[i].v.object);
  }
  ListItems items(shared->items(), size);
  items.shared_ = shared;
  return items;
}

KERNKIT_COLD void ListItems::release() noexcept {
  if (__atomic_fetch_sub(&shared_->owners, 1, __ATOMIC_ACQ_REL) != 1) return;
  for (size_t i = 0; i < size_; ++i) {
    if (is_object(data_[i])) KernkitObjectDecRef(data_[i].v.object);
  }
  free(shared_);
}

}  // namespace kernkit::detail
