// SPDX-License-Identifier: Apache-2.0
// ShapeBinder: finds the source of each name in the shapes of a schema line, and reports names,
// sizes and dtypes that no call determines.
#pragma once

#include "kernkit/schema/dtype_names.h"
#include "kernkit/schema/lexer.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::schema::detail {

class ShapeBinder : private Lexer {
 public:
  constexpr ShapeBinder(const char* text, const Schema& schema, ShapeLine* line)
      : Lexer(text), schema_(schema), line_(*line) {}

  constexpr void bind_and_check() {
    for (int i = 0; i < line_.num_names; ++i) bind_parameter(&line_.names[i]);
    for (int group = kRequired; group <= kCallerSizedOptional; ++group) {
      for (int v = 0; v < schema_.num_params && ok(); ++v) bind(v, static_cast<Group>(group));
    }
    for (int v = 0; v < num_values() && ok(); ++v) {
      check_sizes(v);
      if (ok()) check_dtype(v);
    }
  }

 private:
  constexpr bool ok() const { return line_.error == ShapeError::kNone; }
  constexpr void fail(ShapeError error, int position) {
    if (!ok()) return;
    line_.error = error;
    line_.position = position;
  }

  // Groups of parameters, in the order in which they bind names.
  enum Group { kRequired, kLists, kOptional, kCallerSized, kCallerSizedOptional };

  constexpr int num_values() const { return schema_.num_params + schema_.num_returns; }
  constexpr const Param& param(int v) const {
    return v < schema_.num_params ? schema_.params[v] : schema_.returns[v - schema_.num_params];
  }
  constexpr bool is_output(int v) const {
    return v >= schema_.num_params || schema_.params[v].is_only_written;
  }
  constexpr Group group_of(int v) const {
    if (is_output(v)) return param(v).is_optional ? kCallerSizedOptional : kCallerSized;
    if (param(v).is_optional) return kOptional;
    return param(v).is_list ? kLists : kRequired;
  }

  /// Binds a name to the int parameter that has the same name.
  constexpr void bind_parameter(Name* name) {
    name->value = param_at(text_, schema_, name->text.begin, name->text.size);
    name->is_parameter = name->is_always_bound = name->value >= 0;
    if (!name->is_parameter) return;
    const Param& param = schema_.params[name->value];
    if (param.type != Type::kInt || param.is_list || param.is_optional) {
      fail(ShapeError::kNotAnInt, name->text.begin);
    }
  }
  /// Binds each unbound name n that is a size of the tensor as n or as a multiple such as 2*n.
  constexpr void bind(int v, Group group) {
    const Value& value = line_.values[v];
    if (group_of(v) != group) return;
    const bool is_tensor = param(v).type == Type::kTensor;
    if (is_tensor && (group == kRequired || group == kLists) && line_.like < 0) line_.like = v;
    if (value.run >= 0 && group < kOptional && line_.run_of < 0) line_.run_of = v;
    for (int i = 0; i < value.count; ++i) {
      const Size& size = line_.sizes[value.first + i];
      if (size.kind != SizeKind::kScaled || (group >= kCallerSized && !size.is_caller_sized))
        continue;
      Name& name = line_.names[size.name];
      if (name.value >= 0) continue;
      name.value = v;
      name.order = static_cast<uint8_t>(line_.num_bound++);
      name.axis = value.axis(i);
      name.factor = size.factor;
      name.is_always_bound = group != kOptional;
    }
  }

  constexpr void check_sizes(int v) {
    const Value& value = line_.values[v];
    for (int i = 0; i < value.count && ok(); ++i) {
      const Size& size = line_.sizes[value.first + i];
      const int at = size.text.begin;
      if (size.is_caller_sized && (!is_output(v) || v >= schema_.num_params))
        fail(ShapeError::kCallerSized, at);
      if (size.kind == SizeKind::kAny && is_output(v)) fail(ShapeError::kAnyOfOutput, at);
      if (size.kind == SizeKind::kRun && is_output(v) && line_.run_of < 0) {
        fail(ShapeError::kNoRun, at);
      }
      if (size.kind == SizeKind::kSum || (size.kind == SizeKind::kScaled && is_output(v))) {
        check_names(size.node, is_output(v));
      }
    }
  }
  constexpr void check_names(int at, bool is_output) {
    const Node& node = line_.nodes[at];
    if (node.kind == NodeKind::kNumber) return;
    if (node.kind == NodeKind::kName) {
      const bool is_bound = line_.names[node.left].is_always_bound;
      if (!is_bound)
        fail(is_output ? ShapeError::kUnknownSize : ShapeError::kUnbound, node.position);
    } else if (node.kind == NodeKind::kNumel) {
      if (line_.run_of < 0) fail(ShapeError::kNoRun, node.position);
    } else {
      check_names(node.left, is_output);
      check_names(node.right, is_output);
    }
  }

  constexpr void check_dtype(int v) {
    const Value& value = line_.values[v];
    if (value.dtype.size == 0) {
      const bool takes_another = value.has_shape && is_output(v) && !param(v).is_list;
      if (takes_another && line_.like < 0) fail(ShapeError::kNoDtypeSource, param(v).name.begin);
      return;
    }
    pos_ = value.dtype.begin;
    if (eat('?')) {
      const bool is_all = pos_ == value.dtype.begin + value.dtype.size;
      if (!is_all || !is_output(v)) fail(ShapeError::kDtype, value.dtype.begin);
      return;
    }
    while (ok()) {
      const Span span = word();
      bool is_last = true;
      if (!names_dtype(span, &is_last)) fail(ShapeError::kDtype, span.begin);
      if (pos_ >= value.dtype.begin + value.dtype.size) {
        if (!is_last) fail(ShapeError::kDtype, span.begin);
        return;
      }
      if (!is(word(), "or") || is_last) fail(ShapeError::kDtype, span.begin);
    }
  }
  /// Returns whether the word is a dtype or a source of a dtype. Sets *is_last to true for a source
  /// that is never None, after which "or" is an error.
  constexpr bool names_dtype(Span span, bool* is_last) const {
    if (is_dtype(text_, span.begin, span.size)) return true;
    const int source = param_at(text_, schema_, span.begin, span.size);
    if (source < 0) return false;
    const Param& other = schema_.params[source];
    *is_last = !other.is_optional;
    return !other.is_list && !other.is_only_written &&
           (other.type == Type::kTensor || other.type == Type::kScalarType);
  }

  const Schema& schema_;
  ShapeLine& line_;
};

}  // namespace kernkit::schema::detail
