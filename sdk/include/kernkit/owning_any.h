// SPDX-License-Identifier: Apache-2.0
// Any: an owned value of any type: what a function of the host returns.
#pragma once

#include "kernkit/any_view.h"
#include "kernkit/host_api/object_ref.h"

namespace kernkit {

namespace detail {
/// Makes an owned value of a borrowed one: counts an object, or takes over one that the caller lets
/// go; copies a text or bytes through the host. Throws TypeError, which names `name`, for a
/// DLTensor*, which belongs to the caller.
KernkitAny own(const KernkitAny& any, const char* name);
}  // namespace detail

class Any;

// Declared before the class: its constructor queries which types have a Result.
template <>
struct detail::Result<Any> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kAny);
  }
  static void set(KernkitAny* result, Any&& value);
};

/// Owns what it holds: releases its object, if it is one. Implicitly made from all that an exported
/// function can return; to be read with cast<T>(). As a parameter (a value that the kernel keeps)
/// and as a result it goes with the schema type `Any`.
class Any : public detail::AnyValue {
 public:
  /// None.
  Any() = default;
  Any(const Any& other) : AnyValue(other.any_) {
    if (is_object()) KernkitObjectIncRef(any_.v.object);
  }
  Any(Any&& other) noexcept : AnyValue(other.detach()) {}
  Any& operator=(Any other) noexcept {
    const KernkitAny mine = any_;
    any_ = other.any_;
    other.any_ = mine;
    return *this;
  }
  ~Any() {
    if (is_object()) KernkitObjectDecRef(any_.v.object);
  }

  template <class T, std::enable_if_t<detail::kIsResult<T> && !std::is_void_v<T> &&
                                          !std::is_base_of_v<AnyValue, T>,
                                      int> = 0>
  Any(T value) {  // NOLINT(runtime/explicit)
    detail::Result<T>::set(&any_, std::move(value));
  }
  Any(const char* text) {
    detail::set_string(&any_, text, strlen(text));
  }  // NOLINT(runtime/explicit)
  /// What a view views, owned. Throws TypeError for a DLTensor*: no view becomes an owned tensor.
  explicit Any(AnyView view, const char* name = "value")
      : AnyValue(detail::own(view.get(), name)) {}
  Any(TensorView) = delete;

  /// Takes over a value whose reference the caller owns.
  static Any adopt(const KernkitAny& any) {
    Any owned;
    owned.any_ = any;
    return owned;
  }
  /// Gives the value and its reference away; None stays.
  KernkitAny detach() noexcept {
    const KernkitAny any = any_;
    any_ = KernkitAny{};
    return any;
  }

 private:
  bool is_object() const { return any_.type_index >= kKernkitObject; }
};

template <>
struct detail::Argument<Any> {
  using Held = Any;
  static constexpr bool fits(const schema::Param& param) { return Argument<AnyView>::fits(param); }
  static Held read(const KernkitAny& any, const char* name) { return Any(AnyView(any), name); }
};

inline void detail::Result<Any>::set(KernkitAny* result, Any&& value) { *result = value.detach(); }

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/owning_any.h"
#endif
