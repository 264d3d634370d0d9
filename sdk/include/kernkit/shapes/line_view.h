// SPDX-License-Identifier: Apache-2.0
// LineView: a type-erased view of a parsed schema line and its shapes, for messages about a call.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::shapes {

using schema::Name;
using schema::Node;
using schema::Size;
using schema::Value;

/// The parts of a schema::Schema and a ShapeLine that are in use.
struct LineView {
  const char* text;          ///< the schema line as written, with a terminating NUL
  schema::Signature schema;  ///< parameters and results
  const Name* names;         ///< names of sizes, num_names elements
  const Size* sizes;         ///< all sizes, which Value::first indexes
  const Node* nodes;         ///< all nodes, which Size::node indexes
  const Value* values;       ///< shapes and dtypes, one Value for each parameter
  int num_names;             ///< number of names
  int run_of;                ///< parameter that determines "...", or -1
  int like;                  ///< parameter whose dtype and device are the default of outputs, or -1
};

/// The LineView of an op's schema line, and the arrays to which the LineView refers. `Checks` is
/// the Checks<Line> of check.h. The code writes Checks::kLine in full, because nvcc rejects a
/// reference to kLine.
template <class Line, class Checks>
struct LineViewOf {
  /// The first N elements of an array of T.
  template <class T, size_t N>
  using First = kernkit::detail::First<T, N>;
  /// The names of sizes in the schema line.
  static constexpr First<Name, Checks::kLine.num_names> kNames{Checks::kLine.names};
  /// The sizes of all shapes. The sizes of parameters precede the sizes of results.
  static constexpr First<Size, Checks::kLine.num_sizes> kSizes{Checks::kLine.sizes};
  /// The nodes of all expressions.
  static constexpr First<Node, Checks::kLine.num_nodes> kNodes{Checks::kLine.nodes};
  /// The shapes and dtypes of the parameters.
  static constexpr First<Value, Checks::kSchema.num_params> kValues{Checks::kLine.values};

  /// A view of these arrays and of the op's signature, valid until the library is unloaded. Throws
  /// nothing.
  static LineView line() {
    constexpr int kNumNames = Checks::kLine.num_names;
    constexpr int kRunOf = Checks::kLine.run_of;
    constexpr int kLike = Checks::kLine.like;
    const schema::Signature schema = kernkit::detail::Op<Line>::signature();
    return {Line::kSchema, schema,    kNames.at, kSizes.at, kNodes.at,
            kValues.at,    kNumNames, kRunOf,    kLike};
  }
};

}  // namespace kernkit::shapes
