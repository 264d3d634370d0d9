// SPDX-License-Identifier: Apache-2.0
// Compile errors for a schema line: one static_assert for each error.
#pragma once

#include <utility>

#include "kernkit/call/op.h"
#include "kernkit/call/optional_argument.h"
#include "kernkit/call/result.h"
#include "kernkit/list.h"

namespace kernkit::detail {

/// Reports the parser's error. Position is the index of a character in the schema line, from 0;
/// compilers print it with the message.
template <schema::ParseError Error, int Position>
struct SchemaLine {
  using E = schema::ParseError;
  static_assert(
      Error != E::kOpenParenthesis,
      "kernkit schema: must start with '(': PyTorch's notation, but without the op's name");
  static_assert(
      Error != E::kType,
      "kernkit schema: unknown type at the character that SchemaLine<..., N> counts, from "
      "0; use Tensor, int, float (for double too), bool, str, bytes, ScalarType, Device, "
      "Callable or Any, then (a!) [] ? as needed");
  static_assert(Error != E::kAlias,
                "kernkit schema: an annotation is written Tensor(a!), with a letter, and only for "
                "tensors");
  static_assert(Error != E::kList, "kernkit schema: a list is written int[], without a length");
  static_assert(Error != E::kName,
                "kernkit schema: a parameter needs a name after its type, and so does a result "
                "with a shape or dtype; no name begins with a digit");
  static_assert(Error != E::kReservedName,
                "kernkit schema: a name that begins with two underscores is reserved for the code "
                "that kernkit bindings writes");
  static_assert(Error != E::kDuplicateName,
                "kernkit schema: two parameters have this name, or two results");
  static_assert(Error != E::kDefault,
                "kernkit schema: the default after '=' does not match the parameter's type");
  static_assert(Error != E::kDefaultOrder,
                "kernkit schema: a parameter without a default follows one that has a default");
  static_assert(Error != E::kSeparator, "kernkit schema: expected ',' or ')' after a parameter");
  static_assert(Error != E::kArrow, "kernkit schema: expected '->' after the parameters");
  static_assert(Error != E::kReturns, "kernkit schema: expected ',' or ')' in the results");
  static_assert(Error != E::kTrailing, "kernkit schema: text after the results");
  static_assert(Error != E::kTooMany, "kernkit schema: more than 64 parameters or 8 results");
  static constexpr bool kOk = Error == E::kNone;
};

template <bool IsReserved>
struct OpName {
  static_assert(!IsReserved,
                "kernkit schema: an op's name that begins with two underscores is reserved for the "
                "code that kernkit bindings writes");
  static constexpr bool kOk = !IsReserved;
};
/// True if the name is valid for an op. An export without a schema line may have any name.
template <class Line>
constexpr bool is_op_name() {
  return OpName < Line::kName[0] == '_' && Line::kName[1] == '_' > ::kOk;
}

template <int InSchema, int InFunction>
struct ParameterCount {
  static_assert(InSchema == InFunction,
                "kernkit schema: the schema line and the C++ function differ in their number of "
                "parameters (template arguments: in the schema, in the function)");
  static constexpr bool kOk = InSchema == InFunction;
};

template <class Op, int Index, class InFunction>
struct Parameter {
  static_assert(kIsArgument<InFunction>,
                "kernkit schema: an exported function cannot take this C++ type (argument.h and "
                "list.h list the supported types)");
  static constexpr bool fits() {
    if constexpr (kIsArgument<InFunction>) {
      return Argument<InFunction>::fits(Op::kSchema.params[Index]);
    }
    return false;
  }
  static_assert(!kIsArgument<InFunction> || fits(),
                "kernkit schema: the type in the schema line and the C++ parameter's type do not "
                "fit (template arguments: the op, index from 0, C++ type)");
  static constexpr bool kOk = fits();
};

template <class Op, class InFunction>
struct Results {
  static_assert(kIsResult<InFunction>,
                "kernkit schema: an exported function cannot return this C++ type (result.h lists "
                "the supported types)");
  static constexpr bool fits() {
    if constexpr (kIsResult<InFunction>) {
      return Result<InFunction>::fits(Op::kSchema.returns, Op::kSchema.num_returns);
    }
    return false;
  }
  static_assert(!kIsResult<InFunction> || fits(),
                "kernkit schema: the results in the schema line do not match the C++ function's "
                "result type");
  static constexpr bool kOk = fits();
};

template <class Line>
inline constexpr bool kHasShapes = Op<Line>::kSchema.has_shapes;

/// Checks of the shapes in a schema line. kernkit/shapes/export.h specialises the class for every
/// schema line; without that header, a schema line with shapes is a compile error.
template <class Line, class = void>
struct LineShapes {
  static_assert(sizeof(Line) == 0,
                "kernkit schema: include kernkit/shapes/export.h for shapes and dtypes");
  static constexpr bool kOk = false;
};

template <class Line>
constexpr bool shapes_suit() {
  if constexpr (kHasShapes<Line>) return LineShapes<Line>::kOk;
  return true;
}

/// Instantiates the checks above for an op and the types of its function.
template <class Op, class R, class... Params, size_t... I>
constexpr bool check_signature(std::index_sequence<I...>) {
  constexpr const schema::Schema& line = Op::kSchema;
  if constexpr (SchemaLine<line.error, line.position>::kOk) {
    if constexpr (ParameterCount<line.num_params, static_cast<int>(sizeof...(Params))>::kOk) {
      return (Parameter<Op, static_cast<int>(I), Params>::kOk && ... &&
              Results<Op, std::decay_t<R>>::kOk);
    }
  }
  return false;
}

}  // namespace kernkit::detail
