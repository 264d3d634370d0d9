// SPDX-License-Identifier: Apache-2.0
// SizeParser: parses one size of a shape, as in "n", "2*d", "ceil_div(n, 8) + 1".
#pragma once

#include "kernkit/schema/lexer.h"
#include "kernkit/schema/number.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::schema::detail {

class SizeParser : protected Lexer {
 protected:
  using Lexer::Lexer;

  constexpr bool fail_shape(ShapeError error, int position) {
    if (line_.error == ShapeError::kNone) {
      line_.error = error;
      line_.position = position;
    }
    return false;
  }
  constexpr bool has_valid_shapes() const { return line_.error == ShapeError::kNone; }

  constexpr bool eat_dots() {
    skip_space();
    if (text_[pos_] != '.' || text_[pos_ + 1] != '.' || text_[pos_ + 2] != '.') return false;
    pos_ += 3;
    return true;
  }

  /// Skips the word "each" if dots follow, as in "each...".
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
    } else if (text_[pos_] == '_' && !is_name_char(text_[pos_ + 1])) {
      ++pos_;
      result.kind = SizeKind::kAny;
    } else {
      result.node = sum();
      if (has_valid_shapes()) find_scaled(&result);
    }
    result.text.size = pos_ - result.text.begin;
    result.is_caller_sized = eat('?');
    if (result.is_caller_sized && (result.kind != SizeKind::kScaled || result.factor != 1)) {
      fail_shape(ShapeError::kCallerSized, result.text.begin);
    }
    return result;
  }

  ShapeLine line_;

 private:
  constexpr int add(NodeKind kind, int position, int left = 0, int right = 0, int64_t number = 0) {
    if (line_.num_nodes == kMaxNodes) return fail_shape(ShapeError::kTooMany, position), 0;
    line_.nodes[line_.num_nodes] = {kind, left, right, number, position};
    return line_.num_nodes++;
  }
  constexpr int sum() {
    int left = product();
    while (has_valid_shapes()) {
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
    while (has_valid_shapes()) {
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
      if (has_valid_shapes() && !eat(')')) fail_shape(ShapeError::kSize, pos_);
      uint8_t& parentheses = line_.nodes[inner].parentheses;
      if (parentheses < 255) ++parentheses;
      return inner;
    }
    const Span span = word();
    const char first = text_[span.begin];
    if (span.size > 0 && first >= '0' && first <= '9') {
      int64_t number = 0;
      if (!parse_int(text_ + span.begin, span.size, &number))
        fail_shape(ShapeError::kSize, span.begin);
      return add(NodeKind::kNumber, span.begin, 0, 0, number);
    }
    if (span.size > 0 && eat('(')) return function(span);
    if (span.size == 0 || is(span, "_")) return fail_shape(ShapeError::kSize, span.begin), 0;
    if (is_reserved(span)) return fail_shape(ShapeError::kReserved, span.begin), 0;
    return add(NodeKind::kName, span.begin, name(span));
  }
  constexpr int function(Span span) {
    if (is(span, "numel")) {
      if (!eat_dots() || !eat(')')) fail_shape(ShapeError::kSize, pos_);
      return add(NodeKind::kNumel, span.begin);
    }
    const bool is_ceil = is(span, "ceil_div");
    if (!is_ceil && !is(span, "round_up")) return fail_shape(ShapeError::kSize, span.begin), 0;
    const int left = sum();
    if (has_valid_shapes() && !eat(',')) fail_shape(ShapeError::kSize, pos_);
    const int right = has_valid_shapes() ? sum() : 0;
    if (has_valid_shapes() && !eat(')')) fail_shape(ShapeError::kSize, pos_);
    return add(is_ceil ? NodeKind::kCeilDiv : NodeKind::kRoundUp, span.begin, left, right);
  }
  /// Returns the index of a name, which is added at its first occurrence.
  constexpr int name(Span span) {
    for (int i = 0; i < line_.num_names; ++i) {
      if (same(line_.names[i].text, span)) return i;
    }
    if (line_.num_names == kMaxNames) return fail_shape(ShapeError::kTooMany, span.begin), 0;
    line_.names[line_.num_names].text = span;
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

}  // namespace kernkit::schema::detail
