// SPDX-License-Identifier: Apache-2.0
// Tensor: an owning, reference-counted tensor of the host.
#pragma once

#include "kernkit/any.h"
#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {

// Counts as tvm-ffi does: strong in the low 32 bits, weak in the high 32, one weak for all strong.
inline void retain(KernkitObject* object) {
  __atomic_fetch_add(&object->ref_counts, uint64_t{1}, __ATOMIC_RELAXED);
}
inline void release(KernkitObject* object) noexcept {
  constexpr uint64_t kWeak = uint64_t{1} << 32;
  constexpr int kDestroy = 1, kFree = 2;
  const uint64_t before = __atomic_fetch_sub(&object->ref_counts, uint64_t{1}, __ATOMIC_RELEASE);
  if ((before & (kWeak - 1)) != 1) return;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (before == (kWeak | 1)) return object->deleter(object, kDestroy | kFree);
  object->deleter(object, kDestroy);
  if (__atomic_fetch_sub(&object->ref_counts, kWeak, __ATOMIC_RELEASE) == kWeak) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    object->deleter(object, kFree);
  }
}

}  // namespace detail

/// Shares ownership of a tensor object that the host made. As a parameter of an exported function
/// it is what a kernel takes when it keeps the tensor beyond the call; otherwise take a TensorView.
class Tensor {
 public:
  /// Refers to no tensor.
  Tensor() = default;
  Tensor(const Tensor& other) : object_(other.object_), name_(other.name_) {
    if (object_ != nullptr) detail::retain(object_);
  }
  Tensor(Tensor&& other) noexcept : object_(other.object_), name_(other.name_) {
    other.object_ = nullptr;
  }
  Tensor& operator=(Tensor other) noexcept {
    KernkitObject* mine = object_;
    object_ = other.object_;
    other.object_ = mine;
    name_ = other.name_;
    return *this;
  }
  ~Tensor() {
    if (object_ != nullptr) detail::release(object_);
  }

  /// A new reference to an object of type index 70. `name` as in TensorView.
  static Tensor share(KernkitObject* object, const char* name = nullptr) {
    detail::retain(object);
    return Tensor(object, name);
  }
  /// Takes over a reference which the caller owns.
  static Tensor adopt(KernkitObject* object) { return Tensor(object, nullptr); }
  /// Gives the reference away.
  KernkitObject* detach() {
    KernkitObject* object = object_;
    object_ = nullptr;
    return object;
  }

  bool defined() const { return object_ != nullptr; }
  /// Number of owners, this one included.
  uint32_t use_count() const {
    return static_cast<uint32_t>(__atomic_load_n(&object_->ref_counts, __ATOMIC_RELAXED));
  }
  /// A view, valid while an owner lives. The tensor must be defined().
  TensorView view() const {
    return TensorView(reinterpret_cast<const DLTensor*>(object_ + 1), name_);
  }
  operator TensorView() const { return view(); }  // NOLINT(runtime/explicit)

 private:
  Tensor(KernkitObject* object, const char* name) : object_(object), name_(name) {}

  KernkitObject* object_ = nullptr;
  const char* name_ = nullptr;
};

}  // namespace kernkit
