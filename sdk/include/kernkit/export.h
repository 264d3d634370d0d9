// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPORT: makes a C++ function callable through the ABI. For <op>_export.cc files.
#pragma once

#include "kernkit/call/hook.h"
#include "kernkit/call/metadata.h"
#include "kernkit/call/op.h"
#include "kernkit/call/schema_check.h"
#include "kernkit/call/slow_arguments.h"
#include "kernkit/host_api/raise.h"

namespace kernkit::detail {

/// Types of the parameters that read_and_call() has yet to read.
template <class... Params>
struct Unread {};

/// Reads the arguments from left to right, so that an error names the leftmost wrong argument, then
/// calls the function. `self` is the exported function.
template <class Line, class R, class... Params, class... Storage>
[[gnu::always_inline]] inline int read_and_call(Unread<>, R (*function)(Params...), KernkitFunction,
                                                const KernkitAny*, int32_t, KernkitAny* result,
                                                const Storage&... stored) {
  if constexpr (kHasShapes<Line>) LineShapes<Line>::check(stored...);
  if constexpr (std::is_void_v<R>) {
    function(static_cast<Params>(stored)...);
  } else if constexpr (kHasShapes<Line>) {
    std::decay_t<R> value = function(static_cast<Params>(stored)...);
    LineShapes<Line>::check_result(value, stored...);
    Result<std::decay_t<R>>::set(result, std::move(value));
  } else {
    Result<std::decay_t<R>>::set(result, function(static_cast<Params>(stored)...));
  }
  return 0;
}
template <class Line, class First, class... Rest, class R, class... Params, class... Storage>
[[gnu::always_inline]] inline int read_and_call(Unread<First, Rest...>, R (*function)(Params...),
                                                KernkitFunction self, const KernkitAny* args,
                                                int32_t num_args, KernkitAny* result,
                                                const Storage&... stored) {
  constexpr size_t kIndex = sizeof...(Storage);
  const char* name = Op<Line>::name(kIndex);
  const KernkitAny& any = Op<Line>::template argument<kIndex>(args, num_args);
  if (is_slow_argument<First>(any)) {
    return call_converted(self, Line::kName, name, args, num_args, kIndex, result, Line::kLocation);
  }
  return read_and_call<Line>(Unread<Rest...>(), function, self, args, num_args, result, stored...,
                             read_fast<First>(any, name));
}

/// True if the types of a function match the schema line. The caller's static_assert reports a
/// mismatch.
template <class Line, class R, class... Params>
inline constexpr bool kSuits =
    is_op_name<Line>() &&
    check_signature<Op<Line>, R, std::decay_t<Params>...>(std::index_sequence_for<Params...>()) &&
    shapes_suit<Line>();

template <class Line, class R, class... Params>
[[gnu::always_inline]] inline int call(R (*function)(Params...), KernkitFunction self,
                                       const KernkitAny* args, int32_t num_args,
                                       KernkitAny* result) noexcept {
  using ThisOp = Op<Line>;
  if constexpr (kSuits<Line, R, Params...>) {
    try {
      if (__builtin_expect(!ThisOp::accepts_count(num_args), 0)) {
        throw_count(ThisOp::signature(), ThisOp::kNames.text, num_args);
      }
      return read_and_call<Line>(Unread<std::decay_t<Params>...>(), function, self, args, num_args,
                                 result);
    } catch (const Error& error) {
      return raise_error(Line::kName, error, Line::kLocation);
    } catch (...) {
      return raise_current_exception(Line::kName, Line::kLocation);
    }
  }
  return -1;
}

}  // namespace kernkit::detail

// A library has one definition of each symbol in this block, even if several files of the library
// export functions: the symbols are weak, and are bound within the library.
extern "C" {
/// Handle of this library, which the host's loader writes.
__attribute__((weak, visibility("default"))) void* __tvm_ffi__library_ctx = nullptr;

/// Returns the last error that this thread raised in this library while no host was in the process,
/// such as "ValueError: scale(): y: ...", or "" if the thread raised none. For callers in C and by
/// ctypes. The text is borrowed and valid until the thread's next error in this library. Throws
/// nothing.
__attribute__((weak, used, visibility("default"))) const char* kernkit_last_error(void) {
  const ::kernkit::Error& error = ::kernkit::detail::last_error();
  return error.kind()[0] == '\0' ? "" : error.what();
}

/// Sets the kernkit runtime whose kernkit_host_find() this library uses while tvm_ffi is not in the
/// process. A later call changes nothing. Returns the runtime of the first call. Throws nothing.
/// Safe from any thread.
__attribute__((weak, used, visibility("default"))) ::kernkit::detail::FindHost kernkit_use_host(
    ::kernkit::detail::FindHost find) {
  return ::kernkit::detail::use_host(find);
}
}

/// KERNKIT_EXPORT(name, "schema", "doc", function): exports `function` as op `name`.
///
///     KERNKIT_EXPORT(scale, "(Tensor(a!) y, Tensor x, float factor=1.0) -> ()",
///                    "y = x * factor, elementwise.", kernkit::kernels::scale)
///
/// The schema is in PyTorch's notation; argument.h, list.h and result.h list the C++ type for every
/// schema type. Messages use the schema's argument names. A schema that does not parse or does not
/// match the function is a compile error. The function is the last argument, so that it may contain
/// commas: `mylib::copy<float, 4>`. A call returns 0, or -1 with an error: TypeError for a wrong
/// number or type of arguments, ValueError for a number out of range, and the errors of the
/// function (std::bad_alloc becomes MemoryError, any other std::exception RuntimeError, and an
/// exception of any other type InternalError). The function runs in the calling thread; an argument
/// is valid until the function returns. Symbols: `__tvm_ffi_<name>`, `__tvm_ffi__metadata_<name>`,
/// `__tvm_ffi__doc_<name>`. For tools that load no library, section "kernkit_schema" holds the line
/// as "name(schema)" and NUL, section "kernkit_doc" the documentation, a string literal, as "name:
/// doc" and NUL, and section "kernkit_parsed" the parsed line as "name: JSON" and NUL. The exported
/// functions refer to the sections, so --gc-sections keeps the sections.
#define KERNKIT_EXPORT(name, schema_line, doc, ...)                                               \
  namespace kernkit_export {                                                                      \
  struct KERNKIT_LOCAL name {                                                                     \
    static constexpr char kName[] = #name;                                                        \
    static constexpr char kSchema[] = schema_line;                                                \
    static constexpr ::kernkit::SourceLocation kLocation = KERNKIT_HERE;                          \
  };                                                                                              \
  __attribute__((used, section("kernkit_schema"))) static const char name##_schema[] =            \
      #name schema_line;                                                                          \
  __attribute__((used, section("kernkit_doc"))) static const char name##_doc[] = #name ": " doc;  \
  __attribute__((used, section("kernkit_parsed"))) static constexpr auto name##_parsed =          \
      ::kernkit::detail::parsed_form<::kernkit::detail::Op<name>>(#name);                         \
  }                                                                                               \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi_##name, args, num_args, result) {                             \
    KERNKIT_HOOK_CALL(#name, kernkit_export::name##_schema + sizeof(#name) - 1,                   \
                      ::kernkit::detail::Op<kernkit_export::name>::signature(), __tvm_ffi_##name, \
                      args, num_args, result)                                                     \
    return ::kernkit::detail::call<kernkit_export::name>(__VA_ARGS__, __tvm_ffi_##name, args,     \
                                                         num_args, result);                       \
  }                                                                                               \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__metadata_##name, , , result) {                               \
    return ::kernkit::detail::return_metadata<kernkit_export::name>(                              \
        kernkit_export::name##_schema + sizeof(#name) - 1,                                        \
        kernkit_export::name##_parsed.text + sizeof(#name ": ") - 1, result);                     \
  }                                                                                               \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__doc_##name, , , result) {                                    \
    return ::kernkit::detail::return_doc<kernkit_export::name>(                                   \
        kernkit_export::name##_doc + sizeof(#name ": ") - 1, result);                             \
  }                                                                                               \
  KERNKIT_EXPORT_FOR_FRAMEWORKS(name, __VA_ARGS__)
/// Expands to nothing. kernkit/shapes/export.h redefines the macro to export the handlers that
/// frameworks call for op `name`. The variable arguments are the exported function.
#define KERNKIT_EXPORT_FOR_FRAMEWORKS(name, ...)  // replaced by kernkit/shapes/export.h

/// Begins the definition of an exported C function `symbol` of type KernkitFunction. `args`,
/// `num_args` and `result` are the names of its parameters; an empty argument leaves the parameter
/// unnamed. The body returns 0, or -1 with an error, and must not throw.
#define KERNKIT_EXPORT_FUNCTION(symbol, args, num_args, result)                      \
  extern "C" __attribute__((visibility("default"))) int symbol(                      \
      [[maybe_unused]] void* kernkit_self, const KernkitAny* args, int32_t num_args, \
      KernkitAny* result)
