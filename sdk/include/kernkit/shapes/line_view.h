// SPDX-License-Identifier: Apache-2.0
// LineView: a parsed line and its shapes without their type, for messages about a call.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::shapes {

using schema::Name;
using schema::Node;
using schema::Size;
using schema::Value;

/// The parts of schema::Schema and ShapeLine that a line uses.
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

/// `Checks` is the Checks<Line> of check.h, spelled out each time: nvcc takes no reference to its
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
