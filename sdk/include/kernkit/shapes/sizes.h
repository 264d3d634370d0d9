// SPDX-License-Identifier: Apache-2.0
// SizeReader: reads one size of a shape, as in "n", "2*d", "ceil_div(n, 8) + 1", at compile time.
#pragma once

#include "kernkit/schema/lexer.h"
#include "kernkit/schema/number.h"
#include "kernkit/shapes/line.h"
#include "kernkit/shapes/words.h"

namespace kernkit::shapes {

class SizeReader : protected schema::detail::Lexer {
 protected:
  constexpr SizeReader(const char* text, const schema::Schema& schema)
      : Lexer(text), schema_(schema) {}

  constexpr bool fail(ShapeError error, int position) {
    if (line_.error == ShapeError::kNone) {
      line_.error = error;
      line_.position = position;
    }
    return false;
  }
  constexpr bool ok() const { return line_.error == ShapeError::kNone; }

  constexpr bool eat_dots() {
    skip_space();
    if (text_[pos_] != '.' || text_[pos_ + 1] != '.' || text_[pos_ + 2] != '.') return false;
    pos_ += 3;
    return true;
  }

  /// The word of "each...", if dots follow.
  constexpr bool eat_each() {
    skip_space();
    const int begin = pos_;
    if (is(word(), "each") && pos_ - begin == 4) {
      skip_space();
      if (text_[pos_] == '.') return true;
    }
    pos_ = begin;
    return false;
  }

  constexpr Size size() {
    Size result;
    result.is_each = eat_each();
    skip_space();
    result.text.begin = pos_;
    if (eat_dots()) {
      result.kind = SizeKind::kRun;
    } else if (text_[pos_] == '_' && !schema::detail::is_name_char(text_[pos_ + 1])) {
      ++pos_;
      result.kind = SizeKind::kAny;
    } else {
      result.node = sum();
      if (ok()) find_scaled(&result);
    }
    result.text.size = pos_ - result.text.begin;
    result.is_asked = eat('?');
    if (result.is_asked && (result.kind != SizeKind::kScaled || result.factor != 1)) {
      fail(ShapeError::kAsked, result.text.begin);
    }
    return result;
  }

  const schema::Schema& schema_;
  ShapeLine line_;

 private:
  constexpr int add(NodeKind kind, int position, int left = 0, int right = 0, int64_t number = 0) {
    if (line_.num_nodes == kMostNodes) return fail(ShapeError::kTooMany, position), 0;
    line_.nodes[line_.num_nodes] = {kind, left, right, number, position};
    return line_.num_nodes++;
  }
  constexpr int sum() {
    int left = product();
    while (ok()) {
      const int at = pos_;
      if (eat('+')) {
        left = add(NodeKind::kAdd, at, left, product());
      } else if (eat('-')) {
        left = add(NodeKind::kSubtract, at, left, product());
      } else {
        break;
      }
    }
    return left;
  }
  constexpr int product() {
    int left = atom();
    while (ok()) {
      const int at = pos_;
      if (eat('*')) {
        left = add(NodeKind::kMultiply, at, left, atom());
      } else if (eat('/')) {
        left = add(NodeKind::kDivide, at, left, atom());
      } else {
        break;
      }
    }
    return left;
  }
  constexpr int atom() {
    if (eat('(')) {
      const int inner = sum();
      if (ok() && !eat(')')) fail(ShapeError::kSize, pos_);
      return inner;
    }
    const Span span = word();
    const char first = text_[span.begin];
    if (span.size > 0 && first >= '0' && first <= '9') {
      int64_t number = 0;
      if (!schema::parse_int(text_ + span.begin, span.size, &number))
        fail(ShapeError::kSize, span.begin);
      return add(NodeKind::kNumber, span.begin, 0, 0, number);
    }
    if (span.size > 0 && eat('(')) return function(span);
    if (span.size == 0 || is(span, "_")) return fail(ShapeError::kSize, span.begin), 0;
    if (is_reserved(span)) return fail(ShapeError::kReserved, span.begin), 0;
    return add(NodeKind::kName, span.begin, name(span));
  }
  constexpr int function(Span span) {
    if (is(span, "numel")) {
      if (!eat_dots() || !eat(')')) fail(ShapeError::kSize, pos_);
      return add(NodeKind::kNumel, span.begin);
    }
    const bool is_ceil = is(span, "ceil_div");
    if (!is_ceil && !is(span, "round_up")) return fail(ShapeError::kSize, span.begin), 0;
    const int left = sum();
    if (ok() && !eat(',')) fail(ShapeError::kSize, pos_);
    const int right = ok() ? sum() : 0;
    if (ok() && !eat(')')) fail(ShapeError::kSize, pos_);
    return add(is_ceil ? NodeKind::kCeilDiv : NodeKind::kRoundUp, span.begin, left, right);
  }
  /// Of a name that is met: its number.
  constexpr int name(Span span) {
    for (int i = 0; i < line_.num_names; ++i) {
      if (same(line_.names[i].text, span)) return i;
    }
    if (line_.num_names == kMostNames) return fail(ShapeError::kTooMany, span.begin), 0;
    Name& added = line_.names[line_.num_names];
    added.text = span;
    added.value = param_at(text_, schema_, span.begin, span.size);
    added.is_parameter = added.is_sure = added.value >= 0;
    if (added.is_parameter) {
      const schema::Param& param = schema_.params[added.value];
      if (param.type != schema::Type::kInt || param.is_list || param.is_optional) {
        fail(ShapeError::kNotAnInt, span.begin);
      }
    }
    return line_.num_names++;
  }
  constexpr void find_scaled(Size* size) const {
    Node node = line_.nodes[size->node];
    if (node.kind == NodeKind::kMultiply) {
      Node number = line_.nodes[node.left];
      node = line_.nodes[node.right];
      if (node.kind == NodeKind::kNumber) {
        node = number;
        number = line_.nodes[line_.nodes[size->node].right];
      }
      if (number.kind != NodeKind::kNumber || number.number <= 0) return;
      size->factor = number.number;
    }
    if (node.kind != NodeKind::kName) return;
    size->kind = SizeKind::kScaled;
    size->name = node.left;
  }
};

}  // namespace kernkit::shapes
