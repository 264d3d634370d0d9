// SPDX-License-Identifier: Apache-2.0
// make_function(): a function of the host that calls C++ code.
#pragma once

#include "kernkit/call/read_call.h"
#include "kernkit/function.h"
#include "kernkit/host_api/raise.h"
#include "kernkit/list.h"

namespace kernkit {

namespace detail {

template <class F, class Signature>
class Callback;

/// State of a function that make_function() has returned: the name and the C++ function object.
template <class F, class R, class... Params>
class Callback<F, R(Params...)> {
 public:
  Callback(const char* name, F&& function) : name_(name), function_(std::move(function)) {}

  static int call(void* self, const KernkitAny* args, int32_t num_args,
                  KernkitAny* result) noexcept {
    auto* callback = static_cast<Callback*>(self);
    try {
      constexpr auto kCount = static_cast<int32_t>(sizeof...(Params));
      KERNKIT_CHECK(num_args == kCount, TypeError)
          << "takes " << kCount << (kCount == 1 ? " argument" : " arguments") << ", got "
          << num_args;
      callback->apply(args, result, std::index_sequence_for<Params...>());
      return 0;
    } catch (...) {
      return raise_current_exception(callback->name_, {});
    }
  }
  static void destroy(void* self) noexcept { delete static_cast<Callback*>(self); }

 private:
  template <size_t... I>
  void apply([[maybe_unused]] const KernkitAny* args, KernkitAny* result,
             std::index_sequence<I...>) {
    ReadCall<R, Params...>{function_, result,
                           Argument<std::decay_t<Params>>::read(args[I], kArgumentName<I>.text)...};
  }

  const char* name_;
  F function_;
};

template <class Member>
struct Signature;
template <class C, class R, class... Params>
struct Signature<R (C::*)(Params...) const> {
  using Type = R(Params...);
};
template <class C, class R, class... Params>
struct Signature<R (C::*)(Params...)> {
  using Type = R(Params...);
};
template <class C, class R, class... Params>
struct Signature<R (C::*)(Params...) const noexcept> {
  using Type = R(Params...);
};
template <class C, class R, class... Params>
struct Signature<R (C::*)(Params...) noexcept> {
  using Type = R(Params...);
};

/// Creates a function object of the host that calls `call(self, ...)`, and destroy(self) when the
/// last owner releases it. Throws RuntimeError without a host.
Function create_function(void* self, KernkitFunction call, void (*destroy)(void*));

}  // namespace detail

/// Returns a function object of the host that calls `function`; other code, such as Python, can
/// call the function object. `function` is a lambda or another object with one operator(), whose
/// parameter and result types are supported by exported functions. The function object owns
/// `function` until the last owner of the function object releases it. Any thread may call the
/// function object, also concurrently: no lock is held. Objects that `function` captures by
/// reference must outlive the function object. `name` appears in error messages and must outlive
/// the function object. Throws RuntimeError without a host, the host's error, std::bad_alloc, and
/// the exceptions of the move constructor of `function`. A call raises TypeError for a wrong number
/// or type of arguments, ValueError for a number out of range, and, if `function` throws, the
/// errors that KERNKIT_EXPORT_TYPED documents.
///
///     make_function("square", [](double x) { return x * x; })
template <class F>
Function make_function(const char* name, F function) {
  using Callback = detail::Callback<F, typename detail::Signature<decltype(&F::operator())>::Type>;
  auto* callback = new Callback(name, std::move(function));
  try {
    return detail::create_function(callback, Callback::call, Callback::destroy);
  } catch (...) {
    delete callback;
    throw;
  }
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/make_function.h"
#endif
