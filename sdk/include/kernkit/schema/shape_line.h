// SPDX-License-Identifier: Apache-2.0
// ShapeLine: the shapes and dtypes of a schema line, as "(Tensor(out!) y[n, d], Tensor x[n, 2*d])".
//
// docs/shapes.md has the grammar. Values are numbered as in the line: parameters, then results.
#pragma once

#include "kernkit/schema/schema.h"

namespace kernkit::schema {

enum class ShapeError : uint8_t {
  kNone,
  kNoTensor,
  kAliasOfResult,
  kSize,
  kUnclosed,
  kTwoRuns,
  kNotAnInt,
  kCallerSized,
  kUnbound,
  kUnknownSize,
  kAnyOfOutput,
  kNoRun,
  kDtype,
  kNoDtypeSource,
  kReserved,
  kTooMany,
};

enum class NodeKind : uint8_t {
  kNumber,
  kName,
  kNumel,  // product of the sizes of "..."
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kCeilDiv,
  kRoundUp,
};

/// A node of an expression tree. Operands precede their operation.
struct Node {
  NodeKind kind = NodeKind::kNumber;
  int left = 0;  // kName: index of the name
  int right = 0;
  int64_t number = 0;
  int position = 0;
};

enum class SizeKind : uint8_t {
  kAny,     // _
  kRun,     // ...
  kScaled,  // n or 2*n
  kSum,     // any other expression
};

struct Size {
  SizeKind kind = SizeKind::kSum;
  bool is_caller_sized = false;  // k?: the caller of the functional form passes the size
  bool is_each = false;          // each...: the op computes each index of the run alone
  int node = 0;
  int name = 0;        // kScaled
  int64_t factor = 1;  // kScaled
  Span text;
};

/// The name of a size, and its source: an int parameter, or a size of a tensor.
struct Name {
  Span text;
  bool is_parameter = false;
  bool is_always_bound = false;  // bound in every call, so that an output may use the name
  int value = -1;                // index of the parameter or the tensor
  int place = 0;  // index of the size in the tensor; after "...", counted from the end: -1
  int64_t factor = 1;
};

/// A parameter or a result.
struct Value {
  bool has_shape = false;
  int first = 0;  // index of the first size
  int count = 0;
  int run = -1;  // index of "..." among the sizes, or -1
  Span dtype;    // "int8", "x", "out_type or bfloat16", "?"

  constexpr int rank() const { return run < 0 ? count : count - 1; }
  constexpr bool is_all_run() const { return count == 1 && run == 0; }
  /// Index of size i, counted as in Name::place.
  constexpr int place(int i) const { return run < 0 || i < run ? i : i - count; }
};

inline constexpr int kMaxNames = 32;
inline constexpr int kMaxSizes = 128;
inline constexpr int kMaxNodes = 256;
inline constexpr int kMaxValues = kMaxParams + kMaxReturns;

struct ShapeLine {
  ShapeError error = ShapeError::kNone;
  int position = 0;  // position of the error, counted from 0
  int num_names = 0;
  int num_sizes = 0;
  int num_nodes = 0;
  int run_of = -1;  // tensor that determines "...", or -1
  int like = -1;    // tensor whose dtype and device are the default of outputs, or -1
  Name names[kMaxNames];
  Size sizes[kMaxSizes];
  Node nodes[kMaxNodes];
  Value values[kMaxValues];

  /// Whether tensor v determines a name or "...".
  constexpr bool binds(int v) const {
    for (int i = 0; i < num_names; ++i) {
      if (!names[i].is_parameter && names[i].value == v) return true;
    }
    return run_of == v;
  }
  /// Whether the line promises that the op computes each index of "..." alone.
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
