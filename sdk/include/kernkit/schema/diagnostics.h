// SPDX-License-Identifier: Apache-2.0
// Errors of the shapes in a schema line: a text for each ShapeError, as a compile error and at run
// time.
#pragma once

#include "kernkit/schema/shape_line.h"

namespace kernkit::schema::detail {

// X-macro: calls error(enumerator, text) for each ShapeError.
#define KERNKIT_SHAPE_ERRORS(error)                                                               \
  error(kNoTensor, "only a Tensor has a shape or a dtype");                                       \
  error(kAliasOfResult,                                                                           \
        "a result with a shape is new memory, but an alias shares the memory of an "              \
        "argument: leave out the shape or the alias");                                            \
  error(kSize,                                                                                    \
        "expected a size: a number, a name, _, ..., or an expression of them with "               \
        "+ - * / ( ) ceil_div(a, b) round_up(a, b) numel(...)");                                  \
  error(kUnclosed, "expected ',' or ']' after a size");                                           \
  error(kTwoRuns, "a shape contains '...' more than once");                                       \
  error(kNotAnInt, "a size has the name of a parameter that is not an int");                      \
  error(kCallerSized, "'?' may only follow a name, in the shape of a Tensor(out!)");              \
  error(kUnbound,                                                                                 \
        "no required input binds this name: write n or a multiple such as 2*n "                   \
        "as a size of a required input");                                                         \
  error(kUnknownSize, "no input determines this name of an output's size");                       \
  error(kAnyOfOutput, "_ is for inputs only; an output's size must follow from the inputs");      \
  error(kNoRun, "no required input determines '...'");                                            \
  error(                                                                                          \
      kDtype,                                                                                     \
      "expected after ':' a dtype, or the name of a tensor that is read or of a "                 \
      "ScalarType parameter; after a parameter that may be None, 'or' and a second name; for an " \
      "output, ? is allowed as well");                                                            \
  error(kNoDtypeSource,                                                                           \
        "no tensor determines the dtype of this output: write a dtype "                           \
        "after ':'");                                                                             \
  error(kReserved, "a name of a size that begins with two underscores is reserved");              \
  error(kTooMany, "more than 32 names, 128 sizes or 256 parts of expressions");

#define KERNKIT_SHAPE_ASSERTION(name, text) \
  static_assert(Error != ShapeError::name, "kernkit schema: " text)
#define KERNKIT_SHAPE_TEXT(name, text) \
  if (error == ShapeError::name) return {#name, text};

}  // namespace kernkit::schema::detail

namespace kernkit::schema {

/// Reports an error in the shapes of a schema line with a static_assert, in whose message compilers
/// print Position, the index of a character in the schema line, counted from 0.
template <ShapeError Error, int Position>
struct ShapeDiagnostics {
  KERNKIT_SHAPE_ERRORS(KERNKIT_SHAPE_ASSERTION)
  static constexpr bool kOk = Error == ShapeError::kNone;  ///< true for shapes without an error
};

/// The text of a ShapeError, for a program that prints the error instead of a compiler.
struct ShapeErrorText {
  const char* name;  ///< enumerator, as in "kSize"
  const char* text;  ///< text of the compile error, without "kernkit schema: "
};

/// Returns the texts of an error as string literals, which are never released; returns "kNone" and
/// "" for ShapeError::kNone. Throws nothing.
constexpr ShapeErrorText shape_error_text(ShapeError error) {
  KERNKIT_SHAPE_ERRORS(KERNKIT_SHAPE_TEXT)
  return {"kNone", ""};
}

}  // namespace kernkit::schema

#undef KERNKIT_SHAPE_ERRORS
#undef KERNKIT_SHAPE_ASSERTION
#undef KERNKIT_SHAPE_TEXT
