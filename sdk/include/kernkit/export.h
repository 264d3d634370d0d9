// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPORT: makes a C++ function callable through the ABI. For <op>_export.cc files.
#pragma once

#include <utility>

#include "kernkit/argument.h"
#include "kernkit/detail/schema_check.h"
#include "kernkit/metadata.h"
#include "kernkit/raise.h"
#include "kernkit/schema_parser.h"

namespace kernkit::detail {

/// The schema's text with a NUL behind each parameter's name, so that names are C strings.
template <size_t N>
constexpr FixedText<N> terminate_names(const char (&text)[N], const schema::Schema& schema) {
  FixedText<N> result{};
  for (size_t i = 0; i < N; ++i) result.text[i] = text[i];
  for (int i = 0; i < schema.num_params; ++i) {
    result.text[schema.params[i].name.begin + schema.params[i].name.size] = '\0';
  }
  return result;
}

/// What is known of an op at compile time. Line is the struct that KERNKIT_EXPORT makes.
template <class Line>
struct Op {
  static constexpr schema::Schema kSchema = schema::parse(Line::kSchema);
  static constexpr auto kNames = terminate_names(Line::kSchema, kSchema);
  static constexpr const char* name(size_t i) { return kNames.text + kSchema.params[i].name.begin; }

  [[noreturn, gnu::cold]] static void throw_count(int32_t got) {
    Message names;
    for (int i = 0; i < kSchema.num_params; ++i) {
      names << (i == 0 ? "" : ", ") << name(static_cast<size_t>(i));
    }
    Message text;
    text << "takes " << kSchema.num_params << (kSchema.num_params == 1 ? " argument" : " arguments")
         << " (" << names.c_str() << "), got " << got;
    throw Error(kind::TypeError, text.c_str());
  }
};

/// A constructor call in braces: the one form in which C++ evaluates arguments left to right, so
/// that of two wrong arguments the first is reported.
template <class Result, class... Params>
struct Apply {
  Apply(Result (*function)(Params...), KernkitAny*, std::decay_t<Params>... arguments) {
    static_assert(std::is_void_v<Result>, "kernkit: an exported function returns void");
    function(static_cast<Params>(arguments)...);
  }
};

template <class Line, class Result, class... Params, size_t... I>
int call(Result (*function)(Params...), const KernkitAny* args, int32_t num_args,
         KernkitAny* result, std::index_sequence<I...> indices) noexcept {
  using ThisOp = Op<Line>;
  if constexpr (check_signature<ThisOp, std::decay_t<Params>...>(indices)) {
    try {
      if (__builtin_expect(num_args != static_cast<int32_t>(sizeof...(Params)), 0)) {
        ThisOp::throw_count(num_args);
      }
      Apply<Result, Params...>{function, result,
                               Argument<std::decay_t<Params>>::read(args[I], ThisOp::name(I))...};
      return 0;
    } catch (...) {
      return raise_current_exception(Line::kName, Line::kWhere);
    }
  }
  return -1;
}

template <class Line, class Result, class... Params>
int call(Result (*function)(Params...), const KernkitAny* args, int32_t num_args,
         KernkitAny* result) noexcept {
  return call<Line>(function, args, num_args, result, std::index_sequence_for<Params...>());
}

}  // namespace kernkit::detail

// One of each per library, whatever the number of export files: weak, and bound within the library.
extern "C" {
/// The host's loader writes its handle of this library here.
__attribute__((weak, visibility("default"))) void* __tvm_ffi__library_ctx = nullptr;

/// The last error that this thread raised in this library while no host was in the process, as
/// "ValueError: scale(): y: ...". For callers in C and ctypes; valid until the next error.
__attribute__((weak, used, visibility("default"))) const char* kernkit_last_error(void) {
  return ::kernkit::detail::last_error().what();
}
}

/// KERNKIT_EXPORT(name, "schema", "doc", function): exports `function` as op `name`.
///
///     KERNKIT_EXPORT(scale, "(Tensor(a!) y, Tensor x, float factor) -> ()",
///                    "y = x * factor, elementwise.", kernkit::kernels::scale)
///
/// The schema is in PyTorch's notation (schema.h); argument names in messages are the schema's. A
/// schema that does not parse or does not fit the function is a compile error. The function comes
/// last, so that it may contain commas: `mylib::copy<float, 4>`. Symbols: __tvm_ffi_<name>,
/// __tvm_ffi__metadata_<name>, __tvm_ffi__doc_<name>.
#define KERNKIT_EXPORT(name, schema_line, doc, ...)                                            \
  namespace kernkit_export {                                                                   \
  struct name {                                                                                \
    static constexpr char kName[] = #name;                                                     \
    static constexpr char kSchema[] = schema_line;                                             \
    static constexpr ::kernkit::Where kWhere = KERNKIT_HERE;                                   \
  };                                                                                           \
  }                                                                                            \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi_##name, args, num_args, result) {                          \
    return ::kernkit::detail::call<kernkit_export::name>(__VA_ARGS__, args, num_args, result); \
  }                                                                                            \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__metadata_##name, , , result) {                            \
    return ::kernkit::detail::return_string(                                                   \
        ::kernkit::detail::metadata_json(::kernkit::detail::Op<kernkit_export::name>::kSchema, \
                                         kernkit_export::name::kSchema),                       \
        result);                                                                               \
  }                                                                                            \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__doc_##name, , , result) {                                 \
    return ::kernkit::detail::return_string(::std::move(::kernkit::Message().stream() << doc), \
                                            result);                                           \
  }

#define KERNKIT_EXPORT_FUNCTION(symbol, args, num_args, result) \
  extern "C" __attribute__((visibility("default"))) int symbol( \
      void*, const KernkitAny* args, int32_t num_args, KernkitAny* result)
