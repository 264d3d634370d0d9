// SPDX-License-Identifier: Apache-2.0
// parse_line(): the one parser of schema lines, with shapes and dtypes, for use at compile time.
#pragma once

#include "kernkit/schema/shape_binder.h"
#include "kernkit/schema/size_parser.h"

namespace kernkit::schema {

/// A parsed schema line: the parameters and results, and the shapes of their tensors. After an
/// error, the element past the end of schema.params or schema.returns contains the parameter or
/// result at which the parser stopped, as far as it was parsed; the element's type is Type::kNone
/// if the parser stopped elsewhere.
struct ParsedLine {
  Schema schema;     ///< parameters and results, or an error
  ShapeLine shapes;  ///< shapes and dtypes, or an error; valid if schema.error is ParseError::kNone
};

}  // namespace kernkit::schema

namespace kernkit::schema::detail {

class Parser : private SizeParser {
 public:
  using SizeParser::SizeParser;

  constexpr ParsedLine parse() {
    if (line() && schema_.has_shapes && has_valid_shapes()) {
      ShapeBinder(text_, schema_, &line_).bind_and_check();
    }
    return {schema_, line_};
  }

 private:
  constexpr bool line() {
    if (!eat('(')) return fail(ParseError::kOpenParenthesis);
    if (!params()) return false;
    if (!eat('-') || text_[pos_] != '>') return fail(ParseError::kArrow);
    ++pos_;
    if (!returns()) return false;
    skip_space();
    return text_[pos_] == '\0' || fail(ParseError::kTrailing);
  }
  constexpr bool fail(ParseError error, int position = -1) {
    if (schema_.error == ParseError::kNone) {
      skip_space();
      schema_.error = error;
      schema_.position = position < 0 ? pos_ : position;
    }
    return false;
  }

  // Parses a type, such as Tensor, Tensor(a!), Tensor?, int[] or int[]?.
  constexpr bool type(Param* param) {
    const Span name = word();
    for (const TypeName& entry : kTypeNames) {
      if (is(name, entry.name)) param->type = entry.type;
    }
    if (param->type == Type::kNone) return fail(ParseError::kType, name.begin);
    if (text_[pos_] == '(') {
      ++pos_;
      const Span letter = word();
      param->is_alias = true;
      param->is_written = eat('!');
      param->is_only_written = param->is_written && is(letter, "out");
      if (letter.size == 0 || !eat(')') || param->type != Type::kTensor) {
        return fail(ParseError::kAlias);
      }
    }
    if (text_[pos_] == '[') {
      ++pos_;
      if (!eat(']')) return fail(ParseError::kList);
      param->is_list = true;
    }
    if (text_[pos_] == '?') {
      ++pos_;
      param->is_optional = true;
    }
    return true;
  }

  // Parses a name with its shape and dtype, such as y[n, 2*d]: int8.
  constexpr bool name(Param* param, bool is_result) {
    param->name = word();
    Value& value = line_.values[schema_.num_params + (is_result ? schema_.num_returns : 0)];
    const int annotation = pos_;
    value.has_shape = text_[pos_] == '[';
    if (value.has_shape) shape(&value);
    const bool has_dtype = eat(':');
    if (has_dtype) dtype(&value);
    schema_.has_shapes |= value.has_shape || has_dtype;
    if ((value.has_shape || value.dtype.size > 0) && param->type != Type::kTensor) {
      fail_shape(ShapeError::kNoTensor, annotation);
    }
    if (value.has_shape && param->is_alias && is_result) {
      fail_shape(ShapeError::kAliasOfResult, annotation);
    }
    const bool may_be_empty = is_result && !value.has_shape && !has_dtype;
    const int begin = param->name.begin;
    if (is_digit(text_[begin]) || (param->name.size == 0 && !may_be_empty)) {
      return fail(ParseError::kName, begin);
    }
    if (is_reserved(param->name)) return fail(ParseError::kReservedName, begin);
    return true;
  }

  // Parses a shape, such as [] or [n, 2*d]. If the sizes are invalid, continues after ']'.
  constexpr void shape(Value* value) {
    const int begin = pos_++;
    value->first = line_.num_sizes;
    if (has_valid_shapes() && !eat(']')) sizes(value);
    if (has_valid_shapes()) return;
    pos_ = begin;
    while (text_[pos_] != '\0' && text_[pos_++] != ']') continue;
  }
  constexpr void sizes(Value* value) {
    do {
      if (line_.num_sizes == kMaxSizes) {
        fail_shape(ShapeError::kTooMany, pos_);
        return;
      }
      const Size size = this->size();
      if (!has_valid_shapes()) return;
      if (size.kind == SizeKind::kRun) {
        if (value->run >= 0) fail_shape(ShapeError::kTwoRuns, size.text.begin);
        value->run = value->count;
      }
      line_.sizes[line_.num_sizes++] = size;
      ++value->count;
    } while (eat(','));
    if (!eat(']')) fail_shape(ShapeError::kUnclosed, pos_);
  }
  // Parses a dtype, such as "int8", "out_type or bfloat16" or "?".
  constexpr void dtype(Value* value) {
    skip_space();
    const int begin = pos_;
    int end = begin;
    for (; is_name_char(text_[pos_]) || text_[pos_] == ' ' || text_[pos_] == '?'; ++pos_) {
      if (text_[pos_] != ' ') end = pos_ + 1;
    }
    value->dtype = {begin, end - begin};
    if (end == begin) fail_shape(ShapeError::kDtype, begin);
  }

  // Parses a default, such as None, True, 3, -0.5e-3, inf, 'text', "text" or float32, which must
  // match the type of the parameter. Sets default_source, except if a quote is not closed.
  constexpr bool default_value(Param* param) {
    const char quote = text_[pos_];
    if (quote == '\'' || quote == '"') {
      const int begin = ++pos_;
      while (text_[pos_] != '\0' && text_[pos_] != quote) ++pos_;
      if (text_[pos_] == '\0') return false;
      param->default_kind = DefaultKind::kStr;
      param->default_text = {begin, pos_++ - begin};
      param->default_source = {begin - 1, pos_ - begin + 1};
      return param->type == Type::kStr && !param->is_list;
    }
    const int begin = pos_;
    while (is_name_char(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == '+' ||
           text_[pos_] == '-') {
      ++pos_;
    }
    const Span span = {begin, pos_ - begin};
    param->default_source = span;
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
      param->default_kind = DefaultKind::kScalarType;
      param->default_text = span;
      return is_dtype(text_, span.begin, span.size);
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
    if (schema_.num_params == kMaxParams) return fail(ParseError::kTooMany);
    Param& param = schema_.params[schema_.num_params];
    if (!type(&param)) return false;
    if (!name(&param, false)) return false;
    for (int i = 0; i < schema_.num_params; ++i) {
      if (same(schema_.params[i].name, param.name)) {
        return fail(ParseError::kDuplicateName, param.name.begin);
      }
    }
    if (eat('=')) {
      skip_space();
      const int begin = pos_;
      if (!default_value(&param)) return fail(ParseError::kDefault, begin);
    } else if (schema_.num_required < schema_.num_params) {
      return fail(ParseError::kDefaultOrder, param.name.begin);
    } else {
      ++schema_.num_required;
    }
    ++schema_.num_params;
    return true;
  }
  constexpr bool params() {
    if (eat(')')) return true;
    do {
      if (!param()) return false;
    } while (eat(','));
    return eat(')') || fail(ParseError::kSeparator);
  }

  // Parses the results, such as (), Tensor or (Tensor, int). A name may follow each type.
  constexpr bool returns() {
    if (!eat('(')) return result();
    if (eat(')')) return true;
    do {
      if (!result()) return false;
    } while (eat(','));
    return eat(')') || fail(ParseError::kReturns);
  }
  constexpr bool result() {
    if (schema_.num_returns == kMaxReturns) return fail(ParseError::kTooMany);
    Param* param = &schema_.returns[schema_.num_returns];
    if (!type(param) || !name(param, true)) return false;
    for (int i = 0; i < schema_.num_returns; ++i) {
      if (param->name.size > 0 && same(schema_.returns[i].name, param->name)) {
        return fail(ParseError::kDuplicateName, param->name.begin);
      }
    }
    ++schema_.num_returns;
    return true;
  }

  Schema schema_;
};

}  // namespace kernkit::schema::detail

namespace kernkit::schema {

/// Parses a schema line with its shapes, at compile time or at run time. `text` has a terminating
/// NUL, and positions in the result count its characters from 0. Allocates nothing; the result
/// keeps no pointer to `text`. Reports errors in `error` and `position` of the two parts of the
/// result; throws nothing.
constexpr ParsedLine parse_line(const char* text) { return detail::Parser(text).parse(); }

/// Returns the parameters and results that parse_line() reads from a schema line, without the
/// shapes. `text` has a terminating NUL; names and defaults in the result are positions in `text`.
/// An error is in `error` and `position` of the result. Throws nothing.
constexpr Schema parse(const char* text) { return parse_line(text).schema; }

}  // namespace kernkit::schema
