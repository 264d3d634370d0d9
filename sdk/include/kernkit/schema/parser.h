// SPDX-License-Identifier: Apache-2.0
// parse(): reads a schema line, at compile time.
#pragma once

#include "kernkit/schema/lexer.h"
#include "kernkit/schema/number.h"
#include "kernkit/schema/schema.h"
#include "kernkit/types/dtype.h"

namespace kernkit::schema::detail {

class Parser : private Lexer {
 public:
  using Lexer::Lexer;

  constexpr Schema parse() {
    if (!eat('(')) return fail(ParseError::kOpenParenthesis);
    if (!params()) return schema_;
    if (!eat('-') || text_[pos_] != '>') return fail(ParseError::kArrow);
    ++pos_;
    if (!returns()) return schema_;
    skip_space();
    if (text_[pos_] != '\0') return fail(ParseError::kTrailing);
    return schema_;
  }

 private:
  constexpr Schema fail(ParseError error, int position = -1) {
    if (schema_.error == ParseError::kNone) {
      skip_space();
      schema_.error = error;
      schema_.position = position < 0 ? pos_ : position;
    }
    return schema_;
  }

  // Tensor, Tensor(a!), Tensor?, int[], int[]?
  constexpr bool type(Param* param) {
    const Span name = word();
    for (const TypeName& entry : kTypeNames) {
      if (is(name, entry.name)) param->type = entry.type;
    }
    if (param->type == Type::kNone) return fail(ParseError::kType, name.begin), false;
    if (text_[pos_] == '(') {
      ++pos_;
      const Span letter = word();
      param->is_alias = true;
      param->is_written = eat('!');
      param->is_only_written = param->is_written && is(letter, "out");
      if (letter.size == 0 || !eat(')') || param->type != Type::kTensor) {
        return fail(ParseError::kAlias), false;
      }
    }
    if (text_[pos_] == '[') {
      ++pos_;
      if (!eat(']')) return fail(ParseError::kList), false;
      param->is_list = true;
    }
    if (text_[pos_] == '?') {
      ++pos_;
      param->is_optional = true;
    }
    return true;
  }

  // y[n, 2*d]: int8
  constexpr bool name(Param* param, bool is_result) {
    param->name = word();
    const bool has_shape = text_[pos_] == '[';
    while (has_shape && text_[pos_] != '\0' && text_[pos_++] != ']') continue;
    const bool has_dtype = eat(':');
    while (has_dtype && (is_name_char(text_[pos_]) || text_[pos_] == ' ' || text_[pos_] == '?'))
      ++pos_;
    schema_.has_shapes |= has_shape || has_dtype;
    const bool may_be_empty = is_result && !has_shape && !has_dtype;
    const int begin = param->name.begin;
    if (is_digit(text_[begin]) || (param->name.size == 0 && !may_be_empty)) {
      return fail(ParseError::kName, begin), false;
    }
    if (is_reserved(param->name)) return fail(ParseError::kReservedName, begin), false;
    return true;
  }

  // None, True, 3, -0.5e-3, inf, 'text', "text", float32; it must suit the type.
  constexpr bool default_value(Param* param) {
    const char quote = text_[pos_];
    if (quote == '\'' || quote == '"') {
      const int begin = ++pos_;
      while (text_[pos_] != '\0' && text_[pos_] != quote) ++pos_;
      if (text_[pos_] == '\0') return false;
      param->default_kind = DefaultKind::kStr;
      param->default_text = {begin, pos_++ - begin};
      return param->type == Type::kStr && !param->is_list;
    }
    const int begin = pos_;
    while (is_name_char(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == '+' ||
           text_[pos_] == '-') {
      ++pos_;
    }
    const Span span = {begin, pos_ - begin};
    if (is(span, "None")) {
      param->default_kind = DefaultKind::kNone;
      return param->is_optional;
    }
    if (param->is_list) return false;
    if (param->type == Type::kBool) {
      param->default_kind = DefaultKind::kBool;
      param->default_int = is(span, "True");
      return is(span, "True") || is(span, "False");
    }
    if (param->type == Type::kScalarType) {
      DLDataType dtype{};
      param->default_kind = DefaultKind::kScalarType;
      param->default_text = span;
      return parse_dtype(text_ + begin, static_cast<size_t>(span.size), &dtype);
    }
    if (param->type == Type::kInt) {
      param->default_kind = DefaultKind::kInt;
      return parse_int(text_ + begin, span.size, &param->default_int);
    }
    if (param->type == Type::kFloat) {
      param->default_kind = DefaultKind::kFloat;
      return parse_float(text_ + begin, span.size, &param->default_float);
    }
    return false;
  }

  constexpr bool param() {
    if (schema_.num_params == kMaxParams) return fail(ParseError::kTooMany), false;
    Param param;
    if (!type(&param)) return false;
    if (!name(&param, false)) return false;
    for (int i = 0; i < schema_.num_params; ++i) {
      if (same(schema_.params[i].name, param.name)) {
        return fail(ParseError::kDuplicateName, param.name.begin), false;
      }
    }
    if (eat('=')) {
      skip_space();
      const int begin = pos_;
      if (!default_value(&param)) return fail(ParseError::kDefault, begin), false;
      param.default_source = {begin, pos_ - begin};
    } else if (schema_.num_required < schema_.num_params) {
      return fail(ParseError::kDefaultOrder, param.name.begin), false;
    } else {
      ++schema_.num_required;
    }
    schema_.params[schema_.num_params++] = param;
    return true;
  }
  constexpr bool params() {
    if (eat(')')) return true;
    do {
      if (!param()) return false;
    } while (eat(','));
    return eat(')') || (fail(ParseError::kSeparator), false);
  }

  // (), one type, or (type, type); each may have a name.
  constexpr bool returns() {
    if (!eat('(')) return result();
    if (eat(')')) return true;
    do {
      if (!result()) return false;
    } while (eat(','));
    return eat(')') || (fail(ParseError::kReturns), false);
  }
  constexpr bool result() {
    if (schema_.num_returns == kMaxReturns) return fail(ParseError::kTooMany), false;
    Param* param = &schema_.returns[schema_.num_returns];
    if (!type(param) || !name(param, true)) return false;
    for (int i = 0; i < schema_.num_returns; ++i) {
      if (param->name.size > 0 && same(schema_.returns[i].name, param->name)) {
        return fail(ParseError::kDuplicateName, param->name.begin), false;
      }
    }
    ++schema_.num_returns;
    return true;
  }

  Schema schema_;
};

}  // namespace kernkit::schema::detail

namespace kernkit::schema {

/// Reads a schema line. What is wrong with it stands in `error` and `position`.
constexpr Schema parse(const char* text) { return detail::Parser(text).parse(); }

}  // namespace kernkit::schema
