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

/// The type of a parameter or of a result in a schema line.
enum class Type : uint8_t {
  kNone,        ///< no type was parsed
  kTensor,      ///< Tensor: TensorView or Tensor
  kInt,         ///< int: an integer type; int[] is a ShapeView
  kFloat,       ///< float: float or double
  kBool,        ///< bool: truth value
  kStr,         ///< str: std::string_view, std::string or a similar class
  kScalarType,  ///< ScalarType: DLDataType
  kDevice,      ///< Device: DLDevice
  kBytes,       ///< bytes: BytesView
  kCallable,    ///< Callable: Function, a callback
  kAny,         ///< Any: AnyView, or Any for a value that the kernel keeps
};

/// The name of a type in a schema line.
struct TypeName {
  const char* name;  ///< as written, without [] and ?
  Type type;         ///< the named type
};
/// All types that a schema line may name.
inline constexpr TypeName kTypeNames[] = {
    {"Tensor", Type::kTensor}, {"int", Type::kInt},     {"float", Type::kFloat},
    {"bool", Type::kBool},     {"str", Type::kStr},     {"ScalarType", Type::kScalarType},
    {"Device", Type::kDevice}, {"bytes", Type::kBytes}, {"Callable", Type::kCallable},
    {"Any", Type::kAny},
};

/// A range of characters in the schema's text.
struct Span {
  /// Position of the first character, counted from 0.
  int begin = 0;
  /// Number of characters; 0 if the schema line does not contain the part.
  int size = 0;
};

/// Kind of the default value after '='; kAbsent if there is no default.
enum class DefaultKind : uint8_t { kAbsent, kNone, kBool, kInt, kFloat, kStr, kScalarType };

/// A parameter or a result of a schema line.
struct Param {
  Type type = Type::kNone;   ///< type without [] and ?
  bool is_list = false;      ///< a list of the type, as in int[]
  bool is_optional = false;  ///< may be None, as in int?
  bool is_written = false;   ///< the op writes the tensor, as in Tensor(a!)
  bool is_alias = false;     ///< has an annotation, as in Tensor(a) or Tensor(a!)
  Span name;                 ///< name in the text; empty for a result without a name
  DefaultKind default_kind = DefaultKind::kAbsent;  ///< kind of the default; selects its field
  bool is_only_written = false;                     ///< Tensor(out!): old contents are never read
  int64_t default_int = 0;                          ///< value of a kBool (0 or 1) or kInt default
  double default_float = 0;                         ///< value of a kFloat default
  Span default_text;    ///< value of a kStr (without quotes) or kScalarType default
  Span default_source;  ///< the default as written in the schema line; size 0 without a default
};

/// The error in a schema line. kernkit::detail::SchemaLine has the texts of the compile errors.
enum class ParseError : uint8_t {
  kNone,             ///< the schema line is valid
  kOpenParenthesis,  ///< the schema line does not begin with '('
  kType,             ///< unknown name of a type
  kAlias,            ///< an invalid annotation, or an annotation of a type other than Tensor
  kList,             ///< a list with a length
  kName,             ///< a missing name, or a name that begins with a digit
  kReservedName,     ///< a name that begins with two underscores
  kDuplicateName,    ///< two parameters or two results with the same name
  kDefault,          ///< a default that does not match the type
  kDefaultOrder,     ///< a parameter without a default after a parameter with a default
  kSeparator,        ///< no ',' or ')' after a parameter
  kArrow,            ///< no "->" after the parameters
  kReturns,          ///< no ',' or ')' after a result
  kTrailing,         ///< text after the results
  kTooMany,          ///< more than kMaxParams parameters or kMaxReturns results
};

/// Largest number of parameters of an op.
inline constexpr int kMaxParams = 64;
/// Largest number of results of an op.
inline constexpr int kMaxReturns = 8;

/// A parsed schema line without its shapes. The arrays have room for the longest schema line. If
/// `error` is not kNone, the schema line was parsed up to `position`.
struct Schema {
  ParseError error = ParseError::kNone;  ///< the first error
  int position = 0;                      ///< position of the error, counted from 0
  bool has_shapes = false;               ///< has shapes or dtypes, as in y[n, d] or y: int8
  int num_params = 0;                    ///< number of parameters
  int num_required = 0;                  ///< number of parameters before the first default
  int num_returns = 0;                   ///< number of results
  Param params[kMaxParams];              ///< in the order of the schema line
  Param returns[kMaxReturns];            ///< in the order of the schema line
};

/// Non-owning view of the parameters and results of a Schema, without unused elements of its
/// arrays.
struct Signature {
  int num_params;        ///< number of parameters
  int num_required;      ///< number of parameters before the first default
  int num_returns;       ///< number of results
  const Param* params;   ///< num_params parameters, in the order of the schema line
  const Param* returns;  ///< num_returns results, in the order of the schema line
};

}  // namespace kernkit::schema
