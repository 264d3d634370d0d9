// SPDX-License-Identifier: Apache-2.0
// Any: an owned value of any type, such as the result of a host function.
#pragma once

#include "kernkit/any_view.h"
#include "kernkit/host_api/object_ref.h"

namespace kernkit {

namespace detail {
/// Returns an owned copy of a borrowed value: adds a reference to an object, or takes the object
/// over if the caller permits it; copies text and bytes through the host. Throws TypeError, which
/// names `name`, for a DLTensor*, because the caller owns the tensor.
KernkitAny own(const KernkitAny& any, const char* name);
}  // namespace detail

class Any;

// Declared before class Any, because Any's constructor queries which types have a Result.
template <>
struct detail::Result<Any> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kAny);
  }
  static void set(KernkitAny* result, Any&& value);
};

/// An owned value of any type; if the value is an object, Any owns a reference to the object.
/// Converts implicitly from every result type of an exported function. As a parameter type (for a
/// value that the kernel keeps) and as a result type, Any matches the schema type `Any`.
///
/// type_index() and is_none() describe the value. cast<T>(name) returns the value as a T, which may
/// be any parameter type of an exported function, or throws TypeError for another type and
/// ValueError for a number out of range, both with `name`; is<T>() returns whether cast<T>()
/// succeeds, try_cast<T>() an Optional<T>, which is empty if cast<T>() would throw an Error. A view
/// that cast() returns is valid as long as the object that was read. get() returns the KernkitAny,
/// valid as long as this object. is() and try_cast() pass on exceptions other than Error, such as
/// std::bad_alloc.
class Any : public detail::AnyValue {
 public:
  /// The value None. Throws nothing.
  Any() = default;
  /// Copies the value; if the value is an object, adds an owner to the object. Throws nothing.
  Any(const Any& other) : AnyValue(other.any_) {
    if (is_object()) KernkitObjectIncRef(any_.v.object);
  }
  /// Takes over the value of `other`, which is None afterwards.
  Any(Any&& other) noexcept : AnyValue(other.detach()) {}
  /// Replaces the value, and releases the object of the previous value. Throws nothing.
  Any& operator=(Any other) noexcept {
    const KernkitAny previous = any_;
    any_ = other.any_;
    other.any_ = previous;
    return *this;
  }
  /// Releases the reference if the value is an object. Throws nothing.
  ~Any() {
    if (is_object()) KernkitObjectDecRef(any_.v.object);
  }

  /// Converts a value of a result type of an exported function. Text, bytes, lists and tuples
  /// become objects of the host. Throws RuntimeError if an object is needed and there is no host,
  /// ValueError for an unsigned integer above 2^63 - 1, InternalError for an undefined Tensor or
  /// Function, the host's error, and std::bad_alloc.
  template <class T, std::enable_if_t<detail::kIsResult<T> && !std::is_void_v<T> &&
                                          !std::is_base_of_v<AnyValue, T>,
                                      int> = 0>
  Any(T value) {  // NOLINT(runtime/explicit)
    detail::Result<T>::set(&any_, std::move(value));
  }
  /// Copies a text with a terminating NUL, which must not be null. Throws RuntimeError without a
  /// host, and the host's error.
  Any(const char* text) {
    detail::set_string(&any_, text, strlen(text));
  }  // NOLINT(runtime/explicit)
  /// Makes an owned copy of a view's value: adds an owner to an object, and copies text and bytes
  /// through the host. Throws TypeError, which names `name`, for a DLTensor*, because a borrowed
  /// tensor cannot be owned, and for a null or malformed value; RuntimeError if text or bytes need
  /// a host and there is none; and the host's error.
  explicit Any(AnyView view, const char* name = "value")
      : AnyValue(detail::own(view.get(), name)) {}
  Any(TensorView) = delete;

  /// Takes over a value whose reference the caller owns. The value is not checked. Throws nothing.
  static Any adopt(const KernkitAny& any) {
    Any owned;
    owned.any_ = any;
    return owned;
  }
  /// Returns the value with its reference, which the caller then owns and must release. This Any is
  /// None afterwards.
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
  using Storage = Any;
  static constexpr bool fits(const schema::Param& param) { return Argument<AnyView>::fits(param); }
  static Storage read(const KernkitAny& any, const char* name) { return Any(AnyView(any), name); }
};

inline void detail::Result<Any>::set(KernkitAny* result, Any&& value) { *result = value.detach(); }

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/owning_any.h"
#endif
