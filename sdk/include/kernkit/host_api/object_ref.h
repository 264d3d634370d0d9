// SPDX-License-Identifier: Apache-2.0
// ObjectRef: an owning reference to an object of the host of any type.
#pragma once

#include "kernkit/abi/object.h"

namespace kernkit::detail {

/// Owns one reference to an object of the host. Used by Function, Tensor and HostError.
class ObjectRef {
 public:
  ObjectRef() = default;
  ObjectRef(const ObjectRef& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) KernkitObjectIncRef(object_);
  }
  ObjectRef(ObjectRef&& other) noexcept : object_(other.detach()) {}
  ObjectRef& operator=(ObjectRef other) noexcept {
    KernkitObject* previous = object_;
    object_ = other.object_;
    other.object_ = previous;
    return *this;
  }
  ~ObjectRef() {
    if (object_ != nullptr) KernkitObjectDecRef(object_);
  }

  /// Adds a reference to `object`, which may be null. The result owns the reference.
  static ObjectRef share(KernkitObject* object) {
    if (object != nullptr) KernkitObjectIncRef(object);
    return adopt(object);
  }
  /// Takes over a reference to `object` that the caller owns. `object` may be null.
  static ObjectRef adopt(KernkitObject* object) {
    ObjectRef ref;
    ref.object_ = object;
    return ref;
  }
  /// Returns the reference, which the caller then owns and must release; this ObjectRef is null
  /// afterwards.
  KernkitObject* detach() noexcept {
    KernkitObject* object = object_;
    object_ = nullptr;
    return object;
  }
  KernkitObject* get() const { return object_; }

 private:
  KernkitObject* object_ = nullptr;
};

}  // namespace kernkit::detail
