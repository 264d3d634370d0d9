// SPDX-License-Identifier: Apache-2.0
// Defaults, and errors about the number of arguments.
#pragma once

#include "kernkit/call/op.h"

namespace kernkit::detail {

KERNKIT_COLD KernkitAny default_value(const schema::Param& param, const char* names) {
  KernkitAny any{};
  const char* text = names + param.default_text.begin;
  switch (param.default_kind) {
    case schema::DefaultKind::kAbsent:
    case schema::DefaultKind::kNone: any.type_index = kKernkitNone; break;
    case schema::DefaultKind::kBool:
      any.type_index = kKernkitBool;
      any.v.i64 = param.default_int;
      break;
    case schema::DefaultKind::kInt:
      any.type_index = kKernkitInt;
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

KERNKIT_COLD void throw_count(const schema::Signature& schema, const char* names, int32_t got) {
  Message& text = *new Message << "takes ";
  if (schema.num_required != schema.num_params) text << schema.num_required << " to ";
  text << schema.num_params << (schema.num_params == 1 ? " argument" : " arguments");
  const int named = names == nullptr ? 0 : schema.num_params;
  for (int i = 0; i < named; ++i) {
    text << (i == 0 ? " (" : ", ") << names + schema.params[i].name.begin;
  }
  text << (named == 0 ? ", got " : "), got ") << got;
  throw Error(kind::TypeError, &text);
}

}  // namespace kernkit::detail
