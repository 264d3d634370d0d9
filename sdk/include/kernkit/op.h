// SPDX-License-Identifier: Apache-2.0
// Op: what the schema line says of one op, ready for use at run time.
#pragma once

#include "kernkit/error.h"
#include "kernkit/schema_parser.h"

namespace kernkit::detail {

/// The schema's text with a NUL behind each name and each default text, to make them C strings.
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

/// Line is the struct that KERNKIT_EXPORT makes: kName, kSchema, kWhere.
template <class Line>
struct Op {
  static constexpr schema::Schema kSchema = schema::parse(Line::kSchema);
  static constexpr auto kNames = terminate_names(Line::kSchema, kSchema);

  static constexpr const char* name(size_t i) { return kNames.text + kSchema.params[i].name.begin; }

  /// Argument i: what the caller passed, or the default for what was left out at the end.
  template <size_t I>
  static const KernkitAny& argument(const KernkitAny* args, int32_t num_args) {
    if constexpr (static_cast<int>(I) >= kSchema.num_required) {
      if (static_cast<int32_t>(I) >= num_args) {
        static const KernkitAny value = default_value(kSchema.params[I]);
        return value;
      }
    }
    return args[I];
  }

  static KernkitAny default_value(const schema::Param& param) {
    KernkitAny any{};
    const char* text = kNames.text + param.default_text.begin;
    switch (param.default_kind) {
      case schema::DefaultKind::kAbsent:
      case schema::DefaultKind::kNone: any.type_index = kKernkitNone; break;
      case schema::DefaultKind::kBool:
      case schema::DefaultKind::kInt:
        any.type_index =
            param.default_kind == schema::DefaultKind::kInt ? kKernkitInt : kKernkitBool;
        any.v.i64 = param.default_int;
        break;
      case schema::DefaultKind::kFloat:
        any.type_index = kKernkitFloat;
        any.v.f64 = param.default_float;
        break;
      case schema::DefaultKind::kStr:
        any.type_index = kKernkitRawStr;
        any.v.c_str = text;
        break;
      case schema::DefaultKind::kScalarType:
        any.type_index = kKernkitDataType;
        parse_dtype(text, static_cast<size_t>(param.default_text.size), &any.v.dtype);
        break;
    }
    return any;
  }

  static bool accepts_count(int32_t num_args) {
    if constexpr (kSchema.num_required == kSchema.num_params) {
      return num_args == kSchema.num_params;
    }
    return num_args >= kSchema.num_required && num_args <= kSchema.num_params;
  }
  [[noreturn, gnu::cold]] static void throw_count(int32_t got) {
    Message text;
    text << "takes ";
    if (kSchema.num_required != kSchema.num_params) text << kSchema.num_required << " to ";
    text << kSchema.num_params << (kSchema.num_params == 1 ? " argument" : " arguments");
    for (int i = 0; i < kSchema.num_params; ++i) {
      text << (i == 0 ? " (" : ", ") << name(static_cast<size_t>(i));
    }
    text << (kSchema.num_params == 0 ? ", got " : "), got ") << got;
    throw Error(kind::TypeError, text.c_str());
  }
};

}  // namespace kernkit::detail
