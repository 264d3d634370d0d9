// SPDX-License-Identifier: Apache-2.0
// Schema: the parameters and results of a schema line, "(Tensor(a!) y, Tensor x, float factor=1.0)
// -> ()".
//
// The notation is PyTorch's, without the op's name. Source: the README of PyTorch's native
// functions, sections "func" and "Annotations". Three of the types do not exist in PyTorch:
//   bytes     BytesView (bytes.h)
//   Callable  Function (function.h), named as in a Python annotation: a callback
//   Any       AnyView (any_view.h): any value
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace kernkit::schema {

enum class Type : uint8_t {
  kNone,
  kTensor,
  kInt,
  kFloat,
  kBool,
  kStr,
  kScalarType,
  kDevice,
  kBytes,
  kCallable,
  kAny,
};

struct TypeName {
  const char* name;
  Type type;
};
inline constexpr TypeName kTypeNames[] = {
    {"Tensor", Type::kTensor}, {"int", Type::kInt},     {"float", Type::kFloat},
    {"bool", Type::kBool},     {"str", Type::kStr},     {"ScalarType", Type::kScalarType},
    {"Device", Type::kDevice}, {"bytes", Type::kBytes}, {"Callable", Type::kCallable},
    {"Any", Type::kAny},
};

/// A range of characters in the schema's text.
struct Span {
  int begin = 0;
  int size = 0;
};

/// Kind of the default after '='.
enum class DefaultKind : uint8_t { kAbsent, kNone, kBool, kInt, kFloat, kStr, kScalarType };

struct Param {
  Type type = Type::kNone;
  bool is_list = false;      // int[]
  bool is_optional = false;  // int?
  bool is_written = false;   // Tensor(a!)
  bool is_alias = false;     // Tensor(a) or Tensor(a!)
  Span name;
  DefaultKind default_kind = DefaultKind::kAbsent;
  bool is_only_written = false;  // Tensor(out!): old contents are never read
  int64_t default_int = 0;       // kBool, kInt
  double default_float = 0;      // kFloat
  Span default_text;             // kStr: without quotes; kScalarType
  Span default_source;           // as written; size 0: no default
};

enum class ParseError : uint8_t {
  kNone,
  kOpenParenthesis,
  kType,
  kAlias,
  kList,
  kName,
  kReservedName,
  kDuplicateName,
  kDefault,
  kDefaultOrder,
  kSeparator,
  kArrow,
  kReturns,
  kTrailing,
  kTooMany,
};

inline constexpr int kMaxParams = 64;
inline constexpr int kMaxReturns = 8;

struct Schema {
  ParseError error = ParseError::kNone;
  int position = 0;         // position of the error, counted from 0
  bool has_shapes = false;  // ParsedLine::shapes is in use: y[n, d], y: int8
  int num_params = 0;
  int num_required = 0;  // number of parameters before the first default
  int num_returns = 0;
  Param params[kMaxParams];
  Param returns[kMaxReturns];
};

/// Non-owning view of the parameters and results in use.
struct Signature {
  int num_params;
  int num_required;
  int num_returns;
  const Param* params;
  const Param* returns;
};

}  // namespace kernkit::schema
