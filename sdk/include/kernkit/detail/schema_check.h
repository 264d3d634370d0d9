// SPDX-License-Identifier: Apache-2.0
// The compile errors of a schema line: one static_assert for each thing that can be wrong.
#pragma once

#include <utility>

#include "kernkit/argument.h"
#include "kernkit/schema.h"

namespace kernkit::detail {

/// Position counts characters of the schema line from 0; compilers print it with the message.
template <schema::ParseError Error, int Position>
struct SchemaLine {
  using E = schema::ParseError;
  static_assert(Error != E::kOpenParenthesis, "kernkit schema: must start with '('");
  static_assert(Error != E::kType,
                "kernkit schema: unknown type; use Tensor, int, float, bool, str, ScalarType or "
                "Device, then (a!) [] ? as needed");
  static_assert(Error != E::kAlias,
                "kernkit schema: an annotation is written Tensor(a!), with a letter, and only for "
                "tensors");
  static_assert(Error != E::kList, "kernkit schema: a list is written int[], without a length");
  static_assert(Error != E::kName, "kernkit schema: a parameter needs a name behind its type");
  static_assert(Error != E::kDuplicateName, "kernkit schema: two parameters have this name");
  static_assert(Error != E::kDefault, "kernkit schema: a value is missing behind '='");
  static_assert(Error != E::kDefaultOrder,
                "kernkit schema: a parameter without a default follows one that has a default");
  static_assert(Error != E::kSeparator, "kernkit schema: expected ',' or ')' behind a parameter");
  static_assert(Error != E::kArrow, "kernkit schema: expected '->' behind the parameters");
  static_assert(Error != E::kReturns, "kernkit schema: expected ',' or ')' in the results");
  static_assert(Error != E::kTrailing, "kernkit schema: text behind the results");
  static_assert(Error != E::kTooMany, "kernkit schema: more than 64 parameters or 8 results");
  static constexpr bool kOk = Error == E::kNone;
};

template <int InSchema, int InFunction>
struct ParameterCount {
  static_assert(InSchema == InFunction,
                "kernkit schema: the schema line and the C++ function differ in their number of "
                "parameters (template arguments: in the schema, in the function)");
  static constexpr bool kOk = InSchema == InFunction;
};

template <int Index, schema::Type InSchema, bool IsPlain, class InFunction>
struct Parameter {
  static_assert(Argument<InFunction>::kKnown,
                "kernkit schema: an exported function cannot take this C++ type");
  static constexpr bool fits() {
    if constexpr (Argument<InFunction>::kKnown) {
      return IsPlain && Argument<InFunction>::kType == InSchema;
    }
    return true;
  }
  static_assert(fits(),
                "kernkit schema: the type in the schema line and the C++ parameter's type do "
                "not fit (template arguments: index from 0, type in the schema, C++ type)");
  static constexpr bool kOk = fits();
};

/// Instantiates the checks above for an op and the parameter types of its function.
template <class Op, class... Params, size_t... I>
constexpr bool check_signature(std::index_sequence<I...>) {
  constexpr const schema::Schema& line = Op::kSchema;
  if constexpr (SchemaLine<line.error, line.position>::kOk) {
    if constexpr (ParameterCount<line.num_params, static_cast<int>(sizeof...(Params))>::kOk) {
      return (Parameter < static_cast<int>(I), line.params[I].type,
              !line.params[I].is_list && !line.params[I].is_optional,
              Params > ::kOk && ... && true);
    }
  }
  return false;
}

}  // namespace kernkit::detail
