// SPDX-License-Identifier: Apache-2.0
// ShapeLine: the shapes and dtypes of a schema line, as "(Tensor(out!) y[n, d], Tensor x[n, 2*d])".
//
// docs/shapes.md has the grammar. Values are numbered as in the line: parameters, then results.
#pragma once

#include "kernkit/schema/schema.h"

namespace kernkit::schema {

/// The error in the shapes and dtypes of a schema line. ShapeDiagnostics has the texts of the
/// compile errors.
enum class ShapeError : uint8_t {
  kNone,           ///< the shapes are valid
  kNoTensor,       ///< a shape or dtype of a value that is not a tensor
  kAliasOfResult,  ///< a shape of a result that shares memory with an argument
  kSize,           ///< text that is not a size
  kUnclosed,       ///< no ',' or ']' after a size
  kTwoRuns,        ///< "..." more than once in a shape
  kNotAnInt,       ///< a size with the name of a parameter whose type is not int
  kCallerSized,    ///< '?' that does not follow a name in the shape of a Tensor(out!)
  kUnbound,        ///< a name that no required input binds
  kUnknownSize,    ///< a name of an output's size that no input determines
  kAnyOfOutput,    ///< '_' as a size of an output
  kNoRun,          ///< "..." that no required input determines
  kDtype,          ///< text after ':' that is neither a dtype nor a source of a dtype
  kNoDtypeSource,  ///< an output whose dtype no tensor determines
  kReserved,       ///< a name of a size that begins with two underscores
  kTooMany,        ///< more than kMaxNames names, kMaxSizes sizes or kMaxNodes nodes
};

/// The kind of a node: a number, a name, or an operation of two nodes.
enum class NodeKind : uint8_t {
  kNumber,    ///< an integer constant
  kName,      ///< the name with index Node::left
  kNumel,     ///< numel(...): product of the sizes of "..."
  kAdd,       ///< left + right
  kSubtract,  ///< left - right
  kMultiply,  ///< left * right
  kDivide,    ///< left / right, without a remainder
  kCeilDiv,   ///< ceil_div(left, right): left / right rounded up
  kRoundUp,   ///< round_up(left, right): left rounded up to a multiple of right
};

/// A node of an expression tree. Operands have lower indices than the operation that uses them.
struct Node {
  NodeKind kind = NodeKind::kNumber;  ///< determines which members are in use
  int left = 0;                       ///< index of the left operand; kName: index of the name
  int right = 0;                      ///< index of the right operand
  int64_t number = 0;                 ///< value of kNumber
  int position = 0;                   ///< position in the schema line, counted from 0
  uint8_t parentheses = 0;            ///< pairs of parentheses around the node, at most 255
};

/// The form of a size in a shape.
enum class SizeKind : uint8_t {
  kAny,     ///< _: matches every size
  kRun,     ///< ...: any number of dimensions
  kScaled,  ///< a name or a multiple of a name: n or 2*n
  kSum,     ///< any other expression
};

/// A size in a shape of a schema line.
struct Size {
  SizeKind kind = SizeKind::kSum;  ///< form of the size
  bool is_caller_sized = false;    ///< k?: the caller of the functional form passes the size
  bool is_each = false;            ///< each...: the indices of "..." are independent
  int node = 0;                    ///< index of the expression's last node, for kScaled and kSum
  int name = 0;                    ///< kScaled: index of the name
  int64_t factor = 1;              ///< kScaled: positive multiplier of the name
  Span text;                       ///< the size as written in the schema line
};

/// The name of a size, and its source: an int parameter, or a size of a tensor.
struct Name {
  Span text;                     ///< the name as written in the schema line
  bool is_parameter = false;     ///< the source is an int parameter with this name
  bool is_always_bound = false;  ///< bound in every call, so that outputs may use the name
  uint8_t order = 0;             ///< index in the order in which tensors bind names
  int value = -1;                ///< index of the parameter or of the tensor
  int axis = 0;        ///< index of the size in the tensor; after "...", counted from the end: -1
  int64_t factor = 1;  ///< the size that binds the name is `factor` * name
};

/// The shape and dtype of a parameter or a result.
struct Value {
  bool has_shape = false;  ///< the schema line has brackets after the name, possibly empty
  int first = 0;           ///< index of the first size in ShapeLine::sizes
  int count = 0;           ///< number of sizes, "..." included
  int run = -1;            ///< index of "..." among the sizes, or -1
  Span dtype;              ///< "int8", "x", "out_type or bfloat16", "?"; size 0 if absent

  /// Number of sizes in the shape, not counting "...". Throws nothing.
  constexpr int rank() const { return run < 0 ? count : count - 1; }
  /// True for the shape "[...]", which consists of "..." only. Throws nothing.
  constexpr bool is_all_run() const { return count == 1 && run == 0; }
  /// Returns the dimension of the tensor for size i of the shape, counted as in Name::axis: from 0
  /// before "...", from the end after it, where -1 is the last dimension. Throws nothing.
  constexpr int axis(int i) const { return run < 0 || i < run ? i : i - count; }
};

/// Largest number of names in the shapes of a schema line.
inline constexpr int kMaxNames = 32;
/// Largest number of sizes in the shapes of a schema line.
inline constexpr int kMaxSizes = 128;
/// Largest number of nodes in the expressions of a schema line.
inline constexpr int kMaxNodes = 256;
/// Largest total number of parameters and results.
inline constexpr int kMaxValues = kMaxParams + kMaxReturns;

/// The shapes and dtypes of a parsed schema line. The arrays have room for the longest schema line.
/// If `error` is not kNone, the schema line was parsed up to `position`.
struct ShapeLine {
  ShapeError error = ShapeError::kNone;  ///< the first error
  int position = 0;                      ///< position of the error, counted from 0
  int num_names = 0;                     ///< number of names
  int num_bound = 0;                     ///< number of names that tensors bind
  int num_sizes = 0;                     ///< number of sizes
  int num_nodes = 0;                     ///< number of nodes
  int run_of = -1;                       ///< tensor that determines "...", or -1
  int like = -1;             ///< tensor whose dtype and device are the default of outputs, or -1
  Name names[kMaxNames];     ///< in the order of first use
  Size sizes[kMaxSizes];     ///< in the order of the schema line
  Node nodes[kMaxNodes];     ///< operands precede the operation that uses them
  Value values[kMaxValues];  ///< parameters, then results

  /// Returns whether tensor v, an index of `values`, determines a name or "...". Throws nothing.
  constexpr bool binds(int v) const {
    for (int i = 0; i < num_names; ++i) {
      if (!names[i].is_parameter && names[i].value == v) return true;
    }
    return run_of == v;
  }
  /// Returns whether the schema line declares that the op computes the indices of "..."
  /// independently of each other: the line contains "each...", and no "..." without "each". Throws
  /// nothing.
  constexpr bool is_each() const {
    bool any = false;
    for (int i = 0; i < num_sizes; ++i) {
      if (sizes[i].kind != SizeKind::kRun) continue;
      if (!sizes[i].is_each) return false;
      any = true;
    }
    return any;
  }
};

}  // namespace kernkit::schema
