// SPDX-License-Identifier: Apache-2.0
// LineSizes: evaluates the sizes in a schema line for one call, at run time, for messages.
#pragma once

#include "kernkit/error.h"
#include "kernkit/shapes/arithmetic.h"
#include "kernkit/shapes/call_values.h"
#include "kernkit/shapes/line_view.h"

namespace kernkit::shapes::detail {

using schema::Span;

class KERNKIT_LOCAL LineSizes {
 public:
  LineSizes(const LineView& line, const CallValue* values) : line_(line), values_(values) {}

 protected:
  Message& write(Message& out, Span span) const {
    return out.append(line_.text + span.begin, static_cast<size_t>(span.size));
  }
  static int64_t at(const DLTensor* x, int axis) {
    return x->shape[axis >= 0 ? axis : x->ndim + axis];
  }
  bool has_rank(int v, const DLTensor* x) const {
    const Value& value = line_.values[v];
    return value.run < 0 ? x->ndim == value.count : x->ndim >= value.rank();
  }
  /// Returns whether the name is bound in this call: the argument that binds the name is an int, or
  /// a tensor of the rank in the schema line. Does not check that the name's factor divides the
  /// tensor's size.
  [[gnu::cold]] bool is_bound(const Name& name) const {
    if (name.is_parameter) return true;
    const DLTensor* x = name.value < 0 ? nullptr : values_[name.value].tensor;
    return x != nullptr && has_rank(name.value, x);
  }
  /// Returns whether "..." is bound in this call: the argument that determines "..." is a tensor
  /// whose rank matches its shape in the schema line.
  [[gnu::cold]] bool has_run_tensor() const {
    const DLTensor* x = line_.run_of < 0 ? nullptr : values_[line_.run_of].tensor;
    return x != nullptr && has_rank(line_.run_of, x);
  }
  /// Returns whether all names and "..." of an expression are bound.
  [[gnu::cold]] bool is_known(int n) const {
    const Node& node = line_.nodes[n];
    if (node.kind == NodeKind::kNumber) return true;
    if (node.kind == NodeKind::kName) return is_bound(line_.names[node.left]);
    if (node.kind == NodeKind::kNumel) return has_run_tensor();
    return is_known(node.left) && is_known(node.right);
  }
  [[gnu::cold]] bool value_of(const Name& name, int64_t* out) const {
    if (!is_bound(name)) return false;
    *out =
        name.is_parameter ? values_[name.value].number : at(values_[name.value].tensor, name.axis);
    const bool divides = *out % name.factor == 0;
    *out /= name.factor;
    return divides;
  }
  [[gnu::cold]] bool evaluate(int n, int64_t* out) const {
    const Node& node = line_.nodes[n];
    *out = node.number;
    if (node.kind == NodeKind::kNumber) return true;
    if (node.kind == NodeKind::kName) return value_of(line_.names[node.left], out);
    if (node.kind == NodeKind::kNumel) {
      return checked_product(run_of(values_[line_.run_of].tensor, line_.values[line_.run_of]), out);
    }
    int64_t left = 0;
    int64_t right = 0;
    return evaluate(node.left, &left) && evaluate(node.right, &right) &&
           apply(node.kind, left, right, out);
  }

  const LineView& line_;
  const CallValue* values_;
};

}  // namespace kernkit::shapes::detail
