// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPORT_TYPED: an export without a schema line, for code that is moved to kernkit in
// steps.
#pragma once

#include "kernkit/call/parsed_form.h"
#include "kernkit/call/read_call.h"
#include "kernkit/call/typed_line.h"
#include "kernkit/export.h"

namespace kernkit::detail {

// False in nvcc's device pass. That pass must instantiate the kernels that an exported function
// launches; the code that reads the arguments and stores the result would only add compile time.
#if defined(__CUDA_ARCH__)
inline constexpr bool kMakesCalls = false;
#else
inline constexpr bool kMakesCalls = true;
#endif
template <class R, class... Params>
constexpr bool is_callable() {
  return kMakesCalls && kIsResult<std::decay_t<R>> && (kIsArgument<std::decay_t<Params>> && ...);
}

/// The reading class of KERNKIT_EXPORT_TYPED: Argument<T> reads a parameter of type T. Another
/// reading class may map T to a different type As<T>; Argument<As<T>> then reads the parameter as a
/// value that converts to T.
struct ReadAsIs {
  template <class T>
  using As = T;
};
template <class Export, class T>
using ReadAs = typename Export::Reading::template As<std::decay_t<T>>;

/// Reads the arguments, calls `function` and stores its result. Export is the struct defined by
/// KERNKIT_EXPORT_TYPED, with the members kName, kLocation and Reading.
template <class Export, class R, class... Params, size_t... I>
[[gnu::always_inline]] inline int call_typed(std::index_sequence<I...>, R (*function)(Params...),
                                             KernkitFunction self, const KernkitAny* args,
                                             int32_t num_args, KernkitAny* result) noexcept {
  try {
    constexpr int32_t kCount = sizeof...(Params);
    if (__builtin_expect(num_args != kCount, 0)) {
      throw_count({kCount, kCount, 0, nullptr, nullptr}, nullptr, num_args);
    }
    size_t slow = 0;
    if (((is_slow_argument<ReadAs<Export, Params>>(args[I]) && ((slow = I), true)) || ...)) {
      return call_converted(self, Export::kName, argument_name(slow).text, args, num_args, slow,
                            result, Export::kLocation);
    }
    ReadCall<R, Params...>{function, result,
                           read_fast<ReadAs<Export, Params>>(args[I], kArgumentName<I>.text)...};
    return 0;
  } catch (const Error& error) {
    return raise_error(Export::kName, error, Export::kLocation);
  } catch (...) {
    return raise_current_exception(Export::kName, Export::kLocation);
  }
}

template <class Export, class R, class... Params>
[[gnu::always_inline]] inline int call_typed(R (*function)(Params...), KernkitFunction self,
                                             const KernkitAny* args, int32_t num_args,
                                             KernkitAny* result) noexcept {
  static_assert((kIsArgument<std::decay_t<Params>> && ...),
                "kernkit: an exported function cannot take one of these C++ types (argument.h and "
                "list.h list the supported types)");
  static_assert(kIsResult<std::decay_t<R>>,
                "kernkit: an exported function cannot return this C++ type (result.h lists the "
                "supported types)");
  if constexpr (is_callable<R, Params...>()) {
    return call_typed<Export>(std::index_sequence_for<Params...>(), function, self, args, num_args,
                              result);
  }
  return -1;
}

/// Returns the op's name followed by its schema line, such as "name(Tensor argument_1) -> ()".
template <size_t N, class R, class... Params>
constexpr auto typed_line(const char (&name)[N], R (*)(Params...)) {
  if constexpr (is_callable<R, Params...>()) {
    return TypedLine<std::decay_t<R>, std::decay_t<Params>...>::after(name);
  } else {
    return FixedText<N>{};
  }
}
/// Returns the op's name and the parsed form of typed_line(), as "name: {...}".
template <size_t N, class R, class... Params>
constexpr auto typed_form(const char (&name)[N], R (*)(Params...)) {
  if constexpr (is_callable<R, Params...>()) {
    return parsed_form<TypedLine<std::decay_t<R>, std::decay_t<Params>...>>(name);
  } else {
    return FixedText<N + 2>{};
  }
}

/// Returns the parsed signature of typed_line(), which the call hook prints and records.
template <class R, class... Params>
constexpr schema::Signature typed_signature(R (*)(Params...)) {
  if constexpr (is_callable<R, Params...>()) {
    return TypedLine<std::decay_t<R>, std::decay_t<Params>...>::signature();
  } else {
    return {};
  }
}

}  // namespace kernkit::detail

/// KERNKIT_EXPORT_TYPED(name, function): exports `function`, or a lambda without captures, as op
/// `name`. The C++ types determine the accepted arguments; there are no defaults; messages call an
/// argument "argument 1". Symbols: `__tvm_ffi_<name>`, and `__tvm_ffi__metadata_<name>` with the
/// types. KERNKIT_EXPORT (export.h) adds a schema line: names, defaults, outputs, documentation. A
/// call returns 0, or -1 with an error: TypeError for a wrong number or type of arguments,
/// ValueError for a number out of range, and the errors of the function (std::bad_alloc becomes
/// MemoryError, any other std::exception RuntimeError, and an exception of any other type
/// InternalError). A parameter or result of an unsupported C++ type is a compile error.
#define KERNKIT_EXPORT_TYPED(name, ...) \
  KERNKIT_EXPORT_READ(::kernkit::detail::ReadAsIs, name, __VA_ARGS__)

/// KERNKIT_EXPORT_TYPED with another class for reading: a parameter of type T is read as a
/// `reading::As<T>`, whose value converts to T. `reading` is a class with a member template As,
/// such as kernkit::detail::ReadAsIs. Calls and errors are the same as for KERNKIT_EXPORT_TYPED.
#define KERNKIT_EXPORT_READ(reading, name, ...)                                                   \
  namespace kernkit_export {                                                                      \
  struct KERNKIT_LOCAL name {                                                                     \
    using Reading = reading;                                                                      \
    static constexpr char kName[] = #name;                                                        \
    static constexpr ::kernkit::SourceLocation kLocation = KERNKIT_HERE;                          \
  };                                                                                              \
  }                                                                                               \
  __attribute__((                                                                                 \
      used, section("kernkit_schema"))) static constexpr auto kernkit_export_##name##_schema =    \
      ::kernkit::detail::typed_line(#name, +(__VA_ARGS__));                                       \
  __attribute__((                                                                                 \
      used, section("kernkit_parsed"))) static constexpr auto kernkit_export_##name##_parsed =    \
      ::kernkit::detail::typed_form(#name, +(__VA_ARGS__));                                       \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi_##name, args, num_args, result) {                             \
    KERNKIT_HOOK_CALL(#name, kernkit_export_##name##_schema.text + sizeof(#name) - 1,             \
                      ::kernkit::detail::typed_signature(+(__VA_ARGS__)), __tvm_ffi_##name, args, \
                      num_args, result)                                                           \
    return ::kernkit::detail::call_typed<kernkit_export::name>(+(__VA_ARGS__), __tvm_ffi_##name,  \
                                                               args, num_args, result);           \
  }                                                                                               \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__metadata_##name, , , result) {                               \
    return ::kernkit::detail::return_metadata_of(                                                 \
        kernkit_export_##name##_schema.text + sizeof(#name) - 1,                                  \
        kernkit_export_##name##_parsed.text + sizeof(#name ": ") - 1, #name, KERNKIT_HERE,        \
        result);                                                                                  \
  }
