// SPDX-License-Identifier: Apache-2.0
// KERNKIT_EXPORT_TYPED: an export without a schema line, for code that moves here step by step.
#pragma once

#include "kernkit/call/argument_name.h"
#include "kernkit/call/typed_line.h"
#include "kernkit/export.h"

namespace kernkit::detail {

/// What stands for the schema line when a function of these parameters is called. Export is the
/// struct that KERNKIT_EXPORT_TYPED makes: kName, kWhere.
template <class Export, size_t kParams>
struct UnnamedLine : Export {};

template <class Export, size_t kParams>
struct Op<UnnamedLine<Export, kParams>> {
  static constexpr struct { const char* text = nullptr; } kNames{};
  static constexpr ArgumentNames<kParams> kArguments{};

  static constexpr const char* name(size_t i) { return kArguments.at[i].text; }
  static schema::Signature signature() {
    constexpr auto kCount = static_cast<int>(kParams);
    return {kCount, kCount, 0, nullptr, nullptr};
  }
  template <size_t I>
  static const KernkitAny& argument(const KernkitAny* args, int32_t) {
    return args[I];
  }
  static bool accepts_count(int32_t num_args) { return num_args == static_cast<int32_t>(kParams); }
};

// Its types are its line.
template <class Export, size_t kParams, class R, class... Params>
inline constexpr bool kSuits<UnnamedLine<Export, kParams>, R, Params...> = true;
template <class Export, size_t kParams>
inline constexpr bool kHasShapes<UnnamedLine<Export, kParams>> = false;

template <class Export, class R, class... Params>
[[gnu::always_inline]] inline int call_typed(R (*function)(Params...), KernkitFunction self,
                                             const KernkitAny* args, int32_t num_args,
                                             KernkitAny* result) noexcept {
  static_assert((kIsArgument<std::decay_t<Params>> && ...),
                "kernkit: an exported function cannot take one of these C++ types (argument.h and "
                "list.h say which it can)");
  static_assert(kIsResult<std::decay_t<R>>,
                "kernkit: an exported function cannot return this C++ type (result.h says which it "
                "can)");
  if constexpr ((kIsArgument<std::decay_t<Params>> && ... && kIsResult<std::decay_t<R>>)) {
    return call<UnnamedLine<Export, sizeof...(Params)>>(function, self, args, num_args, result);
  }
  return -1;
}

/// "name(Tensor argument_1) -> ()", at compile time.
template <size_t N, class R, class... Params>
constexpr auto typed_line(const char (&name)[N], R (*)(Params...)) {
  if constexpr ((kIsArgument<std::decay_t<Params>> && ... && kIsResult<std::decay_t<R>>)) {
    return TypedLine<std::decay_t<R>, std::decay_t<Params>...>::behind(name);
  } else {
    return FixedText<N>{};
  }
}

}  // namespace kernkit::detail

/// KERNKIT_EXPORT_TYPED(name, function): exports `function`, or a lambda that captures nothing, as
/// op `name`. What an argument may be follows from its C++ type; nothing has a default; messages
/// say "argument 1". Symbols: __tvm_ffi_<name>, and __tvm_ffi__metadata_<name> with the types. Give
/// it a schema line by KERNKIT_EXPORT (export.h): names, defaults, what is written, documentation.
#define KERNKIT_EXPORT_TYPED(name, ...)                                                          \
  namespace kernkit_export {                                                                     \
  struct KERNKIT_LOCAL name {                                                                    \
    static constexpr char kName[] = #name;                                                       \
    static constexpr ::kernkit::Where kWhere = KERNKIT_HERE;                                     \
  };                                                                                             \
  }                                                                                              \
  __attribute__((                                                                                \
      used, section("kernkit_schema"))) static constexpr auto kernkit_export_##name##_schema =   \
      ::kernkit::detail::typed_line(#name, +(__VA_ARGS__));                                      \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi_##name, args, num_args, result) {                            \
    return ::kernkit::detail::call_typed<kernkit_export::name>(+(__VA_ARGS__), __tvm_ffi_##name, \
                                                               args, num_args, result);          \
  }                                                                                              \
  KERNKIT_EXPORT_FUNCTION(__tvm_ffi__metadata_##name, , , result) {                              \
    return ::kernkit::detail::return_metadata_of(                                                \
        kernkit_export_##name##_schema.text + sizeof(#name) - 1, #name, KERNKIT_HERE, result);   \
  }
