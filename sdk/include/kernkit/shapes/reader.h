// SPDX-License-Identifier: Apache-2.0
// read_shapes(): the shapes and dtypes of a line, and what in them cannot be known, at compile
// time.
#pragma once

#include "kernkit/shapes/sizes.h"

namespace kernkit::shapes {

namespace detail {

class Reader : private SizeReader {
 public:
  using SizeReader::fail;
  constexpr Reader(const char* text, const schema::Schema& schema) : SizeReader(text, schema) {}

  constexpr ShapeLine read() {
    for (int v = 0; v < num_values() && ok(); ++v) read_value(v);
    for (int group = kRequired; group <= kAskedOptional; ++group) {
      for (int v = 0; v < schema_.num_params && ok(); ++v) bind(v, static_cast<Group>(group));
    }
    for (int v = 0; v < num_values() && ok(); ++v) {
      check_sizes(v);
      if (ok()) check_dtype(v);
    }
    return line_;
  }

 private:
  // Who binds a name, in this order.
  enum Group { kRequired, kLists, kOptional, kAsked, kAskedOptional };

  constexpr int num_values() const { return schema_.num_params + schema_.num_returns; }
  constexpr const schema::Param& param(int v) const {
    return v < schema_.num_params ? schema_.params[v] : schema_.returns[v - schema_.num_params];
  }
  constexpr bool is_output(int v) const {
    return v >= schema_.num_params || schema_.params[v].is_only_written;
  }
  constexpr Group group_of(int v) const {
    if (is_output(v)) return param(v).is_optional ? kAskedOptional : kAsked;
    if (param(v).is_optional) return kOptional;
    return param(v).is_list ? kLists : kRequired;
  }

  constexpr void read_value(int v) {
    Value& value = line_.values[v];
    const schema::Param& param = this->param(v);
    pos_ = param.name.begin + param.name.size;
    if (param.name.size == 0 || (text_[pos_] != '[' && text_[pos_] != ':' && text_[pos_] != ' '))
      return;
    const int begin = pos_;
    if (text_[pos_] == '[') {
      ++pos_;
      value.has_shape = true;
      value.first = line_.num_sizes;
      if (!eat(']')) read_sizes(&value);
    }
    if (!ok()) return;
    if (eat(':')) {
      skip_space();
      value.dtype.begin = pos_;
      while (schema::detail::is_name_char(text_[pos_]) || text_[pos_] == ' ' || text_[pos_] == '?')
        ++pos_;
      while (text_[pos_ - 1] == ' ') --pos_;
      value.dtype.size = pos_ - value.dtype.begin;
      if (value.dtype.size <= 0) fail(ShapeError::kDtype, value.dtype.begin);
    }
    const bool says = value.has_shape || value.dtype.size > 0;
    if (says && param.type != schema::Type::kTensor) fail(ShapeError::kNoTensor, begin);
    if (value.has_shape && param.is_alias && v >= schema_.num_params) {
      fail(ShapeError::kAliasOfResult, begin);
    }
  }
  constexpr void read_sizes(Value* value) {
    do {
      if (line_.num_sizes == kMostSizes) {
        fail(ShapeError::kTooMany, pos_);
        return;
      }
      const Size size = this->size();
      if (!ok()) return;
      if (size.kind == SizeKind::kRun) {
        if (value->run >= 0) fail(ShapeError::kTwoRuns, size.text.begin);
        value->run = value->count;
      }
      line_.sizes[line_.num_sizes++] = size;
      ++value->count;
    } while (eat(','));
    if (!eat(']')) fail(ShapeError::kUnclosed, pos_);
  }

  /// What the tensor says alone or times a number binds the name, if nothing did before.
  constexpr void bind(int v, Group group) {
    const Value& value = line_.values[v];
    if (group_of(v) != group) return;
    const bool is_tensor = param(v).type == schema::Type::kTensor;
    if (is_tensor && (group == kRequired || group == kLists) && line_.like < 0) line_.like = v;
    if (value.run >= 0 && group < kOptional && line_.run_of < 0) line_.run_of = v;
    for (int i = 0; i < value.count; ++i) {
      const Size& size = line_.sizes[value.first + i];
      if (size.kind != SizeKind::kScaled || (group >= kAsked && !size.is_asked)) continue;
      Name& name = line_.names[size.name];
      if (name.value >= 0) continue;
      name.value = v;
      name.place = value.place(i);
      name.factor = size.factor;
      name.is_sure = group != kOptional;
    }
  }

  constexpr void check_sizes(int v) {
    const Value& value = line_.values[v];
    for (int i = 0; i < value.count && ok(); ++i) {
      const Size& size = line_.sizes[value.first + i];
      const int at = size.text.begin;
      if (size.is_asked && (!is_output(v) || v >= schema_.num_params)) fail(ShapeError::kAsked, at);
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
      const bool known = line_.names[node.left].is_sure;
      if (!known) fail(is_output ? ShapeError::kUnsaid : ShapeError::kUnbound, node.position);
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
      if (takes_another && line_.like < 0) fail(ShapeError::kNothingAlike, param(v).name.begin);
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
  /// `is_last`: it is never None, so that nothing may stand behind "or".
  constexpr bool names_dtype(Span span, bool* is_last) const {
    if (dtype_at(text_, span.begin, span.size).bits != 0) return true;
    const int of = param_at(text_, schema_, span.begin, span.size);
    if (of < 0) return false;
    const schema::Param& other = schema_.params[of];
    *is_last = !other.is_optional;
    return !other.is_list && !other.is_only_written &&
           (other.type == schema::Type::kTensor || other.type == schema::Type::kScalarType);
  }
};

}  // namespace detail

/// Reads them. What cannot be known stands in `error` and `position`.
constexpr ShapeLine read_shapes(const char* text, const schema::Schema& schema) {
  return detail::Reader(text, schema).read();
}

}  // namespace kernkit::shapes
