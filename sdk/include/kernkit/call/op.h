// SPDX-License-Identifier: Apache-2.0
// Op: the schema line of one op, parsed at compile time for use at run time.
#pragma once

#include "kernkit/error.h"
#include "kernkit/schema/parser.h"
#include "kernkit/types/dtype.h"

namespace kernkit::detail {

/// Returns the schema's text with a NUL after every parameter name and every default of type str,
/// so that these parts of the text are C strings.
template <size_t N>
constexpr FixedText<N> terminate_names(const char (&text)[N], const schema::Schema& schema) {
  FixedText<N> result{};
  for (size_t i = 0; i < N; ++i) result.text[i] = text[i];
  for (int i = 0; i < schema.num_params; ++i) {
    const schema::Param& param = schema.params[i];
    result.text[param.name.begin + param.name.size] = '\0';
    if (param.default_kind == schema::DefaultKind::kStr) {
      result.text[param.default_text.begin + param.default_text.size] = '\0';
    }
  }
  return result;
}

/// Returns the default of a parameter as an argument. `names` is the text of terminate_names().
[[gnu::cold]] KernkitAny default_value(const schema::Param& param, const char* names);

/// Throws TypeError for a call with `got` arguments, a number that the schema does not accept.
/// `names` is null if the parameters have no names.
[[noreturn, gnu::cold]] void throw_count(const schema::Signature& schema, const char* names,
                                         int32_t got);

/// A copy of the first N elements of an array.
template <class T, size_t N>
struct First {
  T at[N + 1] = {};  // + 1: C++ has no arrays of size 0
  constexpr explicit First(const T* all) {
    for (size_t i = 0; i != N; ++i) at[i] = all[i];
  }
};

/// The parsed schema line of one op. Line is the struct defined by KERNKIT_EXPORT, with the members
/// kName, kSchema and kLocation.
template <class Line>
struct Op {
  // The parsed schema line: an object of 20 KB, which is used at compile time only.
  static constexpr schema::ParsedLine kParsed = schema::parse_line(Line::kSchema);
  static constexpr schema::Schema kSchema = kParsed.schema;
  static constexpr First<schema::Param, kSchema.num_params> kParams{kSchema.params};
  static constexpr First<schema::Param, kSchema.num_returns> kReturns{kSchema.returns};
  static constexpr auto kNames = terminate_names(Line::kSchema, kSchema);

  static constexpr const char* name(size_t i) { return kNames.text + kSchema.params[i].name.begin; }

  static constexpr const char* text() { return Line::kSchema; }
  static constexpr schema::Signature signature() {
    return {kSchema.num_params, kSchema.num_required, kSchema.num_returns, kParams.at, kReturns.at};
  }

  static constexpr const schema::ShapeLine* shapes() {
    return kSchema.has_shapes ? &kParsed.shapes : nullptr;
  }

  /// Returns argument I as passed by the caller, or the default if the caller left out arguments at
  /// the end.
  template <size_t I>
  KERNKIT_LOCAL static const KernkitAny& argument(const KernkitAny* args, int32_t num_args) {
    if constexpr (static_cast<int>(I) >= kSchema.num_required) {
      if (static_cast<int32_t>(I) >= num_args) {
        static const KernkitAny value = default_value(kParams.at[I], kNames.text);
        return value;
      }
    }
    return args[I];
  }

  static bool accepts_count(int32_t num_args) {
    return num_args >= kSchema.num_required && num_args <= kSchema.num_params;
  }
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/op.h"
#endif
