// SPDX-License-Identifier: Apache-2.0
// LineView: a line and its shapes as the compiler has read them, for the sentences about a call.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::shapes {

using schema::Name;
using schema::Node;
using schema::Size;
using schema::Value;

/// As much of schema::Schema and ShapeLine as the line fills.
struct LineView {
  const char* text;
  schema::Signature schema;
  const Name* names;
  const Size* sizes;
  const Node* nodes;
  const Value* values;
  int num_names;
  int run_of;
  int like;
};

/// Checks is the Checks<Line> of check.h, by its name each time: nvcc takes no reference to its
/// line.
template <class Line, class Checks>
struct LineViewOf {
  template <class T, size_t N>
  using First = kernkit::detail::First<T, N>;
  static constexpr First<Name, Checks::kLine.num_names> kNames{Checks::kLine.names};
  static constexpr First<Size, Checks::kLine.num_sizes> kSizes{Checks::kLine.sizes};
  static constexpr First<Node, Checks::kLine.num_nodes> kNodes{Checks::kLine.nodes};
  static constexpr First<Value, Checks::kSchema.num_params> kValues{Checks::kLine.values};

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
