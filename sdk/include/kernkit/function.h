// SPDX-License-Identifier: Apache-2.0
// Function: an owned function of the host, such as a callback argument.
#pragma once

#include <initializer_list>

#include "kernkit/host_api/host_error.h"
#include "kernkit/owning_any.h"

namespace kernkit {

namespace detail {
/// Converts an argument of a call: to an AnyView if AnyView has a constructor for type T, otherwise
/// (std::string_view, tuples, bytes) to an Any with an object of the host, which exists until the
/// call has ended.
template <class T>
auto pass(const T& value) {
  if constexpr (std::is_constructible_v<AnyView, const T&>) {
    return AnyView(value);
  } else {
    return Any(value);
  }
}
template <class T>
auto pass(const Optional<T>& value) {
  if constexpr (std::is_constructible_v<AnyView, const T&>) {
    return AnyView(value);
  } else {
    return value.has_value() ? Any(*value) : Any();
  }
}
}  // namespace detail

/// Shares ownership of a function object of the host, such as a Python callable. Copies share the
/// function. As a parameter type of an exported function, Function matches the schema type
/// `Callable` (`Callable?` with Optional<Function>). A member throws nothing unless the member's
/// comment names an error.
class Function {
 public:
  /// An undefined Function, which refers to no function object.
  Function() = default;
  /// Adds an owner to an object of type index 68 (kKernkitFunction), which is not checked; null
  /// refers to no function.
  static Function share(KernkitObject* object) {
    return Function(detail::ObjectRef::share(object));
  }
  /// Takes over a reference that the caller owns, to an object of type index 68 (kKernkitFunction),
  /// which is not checked; null refers to no function.
  static Function adopt(KernkitObject* object) {
    return Function(detail::ObjectRef::adopt(object));
  }
  /// Returns the reference, which the caller then owns, or null; this object then refers to no
  /// function.
  KernkitObject* detach() { return object_.detach(); }

  /// True if this object refers to a function.
  bool defined() const { return object_.get() != nullptr; }
  /// The host's object, borrowed: valid while an owner exists. Null if this Function is undefined.
  KernkitObject* get() const { return object_.get(); }

  /// Calls the function with C++ values that convert to AnyView or Any, in this thread, and returns
  /// the function's result, which the caller owns. Throws HostError, an Error with the kind and the
  /// message of the callee's error. If the HostError leaves the exported function, the caller of
  /// the exported function receives the callee's original error object. Also throws InternalError
  /// if this Function is undefined, TypeError for a result with null or malformed contents, and the
  /// errors of the conversions. A TensorView or a DLTensor* is a compile error; pass a tensor as a
  /// Tensor: a callback may keep it, and a Python callback crashes when it reads a borrowed
  /// DLTensor*.
  template <class... Args>
  Any operator()(const Args&... args) const {
    static_assert(
        !(std::is_same_v<Args, TensorView> || ...) &&
            !(std::is_same_v<std::remove_const_t<std::remove_pointer_t<Args>>, DLTensor> || ...),
        "kernkit: a callback may keep a tensor, so a borrowed tensor cannot be passed; take the "
        "parameter as a Tensor and pass the Tensor");
    return call({AnyView(detail::pass(args))...});
  }
  /// Calls the function with these arguments, borrowed during the call, in this thread, and returns
  /// the function's result, which the caller owns. Throws HostError as operator() does,
  /// InternalError if this Function is undefined, and TypeError for a result with null or malformed
  /// contents.
  Any call(std::initializer_list<AnyView> args) const {
    static_assert(sizeof(AnyView) == sizeof(KernkitAny),
                  "AnyView and KernkitAny must have the same size");
    KERNKIT_ICHECK(defined()) << "an undefined Function was called";
    const auto* cell = reinterpret_cast<const KernkitFunctionCell*>(get() + 1);
    KernkitAny result{};
    const auto* first = reinterpret_cast<const KernkitAny*>(args.begin());
    if (cell->call(get(), first, static_cast<int32_t>(args.size()), &result) != 0) {
      detail::throw_raised("a callback");
    }
    KERNKIT_CHECK(detail::is_sound(result), TypeError) << "a callback returned " << AnyView(result);
    return Any::adopt(result);
  }

  /// Converts to a borrowed view for passing the function as an argument, valid while an owner
  /// exists. The view is None if this Function is undefined.
  operator AnyView() const {  // NOLINT(runtime/explicit)
    KernkitAny any{};
    if (defined()) any.type_index = kKernkitFunction;
    any.v.object = get();
    return AnyView(any);
  }

 private:
  explicit Function(detail::ObjectRef object) : object_(std::move(object)) {}

  detail::ObjectRef object_;
};

template <>
struct detail::Argument<Function> : PlainArgument<schema::Type::kCallable, Function> {
  static Storage read(const KernkitAny& any, const char* name) {
    if (any.type_index == kKernkitFunction && is_sound(any)) return Function::share(any.v.object);
    KernkitObject* moved = take_object(any, kKernkitFunction);
    if (moved == nullptr) throw_argument_type(name, "a callable", any);
    return Function::adopt(moved);
  }
};

template <>
struct detail::Result<Function> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kCallable);
  }
  static void set(KernkitAny* result, Function&& value) {
    KERNKIT_ICHECK(value.defined()) << "an undefined Function was returned";
    result->type_index = kKernkitFunction;
    result->small_size = 0;
    result->v.object = value.detach();
  }
};

}  // namespace kernkit
