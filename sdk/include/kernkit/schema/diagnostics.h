// SPDX-License-Identifier: Apache-2.0
// Compile errors for the shapes in a schema line: one static_assert per ShapeError.
#pragma once

#include "kernkit/schema/shape_line.h"

namespace kernkit::schema {

/// Reports an error in the shapes of a line by a static_assert. Position counts characters of the
/// schema line from 0; compilers print it with the message.
template <ShapeError Error, int Position>
struct ShapeDiagnostics {
  using E = ShapeError;  ///< short name for the conditions
  static_assert(Error != E::kNoTensor, "kernkit schema: only a Tensor has a shape or a dtype");
  static_assert(Error != E::kAliasOfResult,
                "kernkit schema: a result with a shape is new memory, and an alias is an "
                "argument's: leave out the shape or the alias");
  static_assert(
      Error != E::kSize,
      "kernkit schema: expected a size: a number, a name, _, ..., or an expression of them with "
      "+ - * / ( ) ceil_div(a, b) round_up(a, b) numel(...)");
  static_assert(Error != E::kUnclosed, "kernkit schema: expected ',' or ']' after a size");
  static_assert(Error != E::kTwoRuns, "kernkit schema: a shape has '...' once");
  static_assert(Error != E::kNotAnInt,
                "kernkit schema: a size has the name of a parameter that is not an int");
  static_assert(Error != E::kCallerSized,
                "kernkit schema: '?' may only follow a name, in the shape of a Tensor(out!)");
  static_assert(Error != E::kUnbound,
                "kernkit schema: no required input binds this name: write it alone (n) or times a "
                "number (2*n) once");
  static_assert(Error != E::kUnknownSize,
                "kernkit schema: no input determines this name of an output's size");
  static_assert(Error != E::kAnyOfOutput,
                "kernkit schema: _ is for inputs; an output's size must follow from them");
  static_assert(Error != E::kNoRun, "kernkit schema: no required input determines '...'");
  static_assert(
      Error != E::kDtype,
      "kernkit schema: expected after ':' a dtype, or the name of a tensor that is read or of a "
      "ScalarType parameter; after a parameter that may be None, 'or' and a second name; for an "
      "output, ? is allowed as well");
  static_assert(Error != E::kNoDtypeSource,
                "kernkit schema: no tensor determines the dtype of this output: write a dtype "
                "after ':'");
  static_assert(Error != E::kReserved,
                "kernkit schema: a name of a size that begins with two underscores is reserved");
  static_assert(Error != E::kTooMany,
                "kernkit schema: more than 32 names, 128 sizes or 256 parts of expressions");
  static constexpr bool kOk = Error == E::kNone;  ///< true for shapes without an error
};

}  // namespace kernkit::schema
