// SPDX-License-Identifier: Apache-2.0
// write_json(): a parsed schema line as JSON, at compile time or run time, for readers in other
// languages. docs/calling-convention.md documents the keys.
#pragma once

#include <stddef.h>

#include "kernkit/schema/dtype_names.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::schema {

/// Version of the JSON format. A change of the format that breaks readers of the present version
/// increases the number.
inline constexpr char kJsonVersion[] = "1";

}  // namespace kernkit::schema

namespace kernkit::schema::detail {

/// Appends to a text; if the text is null, only counts the characters.
class JsonText {
 public:
  constexpr explicit JsonText(char* out) : out_(out) {}

  constexpr size_t size() const { return size_; }
  constexpr void put(char c) {
    if (out_ != nullptr) out_[size_] = c;
    ++size_;
  }
  constexpr void put(const char* text, int size) {
    if (out_ != nullptr) {
      for (int i = 0; i < size; ++i) out_[size_ + static_cast<size_t>(i)] = text[i];
    }
    size_ += static_cast<size_t>(size);
  }
  constexpr void put(const char* text) { put(text, static_cast<int>(__builtin_strlen(text))); }
  constexpr void put_number(int64_t number) {
    if (number < 0) put('-');
    // The digits are remainders of the signed number: negating the smallest int64 would overflow.
    int64_t power = 1;
    while (number / power > 9 || number / power < -9) power *= 10;
    for (; power > 0; power /= 10) {
      const int digit = static_cast<int>(number / power % 10);
      put(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    }
  }
  /// Appends a name or a number as a string in quotes, without escapes.
  constexpr void put_word(const char* text, int size) {
    put('"');
    put(text, size);
    put('"');
  }
  /// Appends a string in quotes, with escapes.
  constexpr void put_string(const char* text, int size) {
    put('"');
    for (int i = 0; i < size; ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c == '"' || c == '\\') {
        put('\\');
        put(text[i]);
      } else if (c < 0x20) {
        put("\\u00");
        put("0123456789abcdef"[c >> 4]);
        put("0123456789abcdef"[c & 15]);
      } else {
        put(text[i]);
      }
    }
    put('"');
  }

 private:
  char* out_;
  size_t size_ = 0;
};

class LineJson {
 public:
  constexpr LineJson(const char* text, const Signature& schema, const ShapeLine* shapes,
                     JsonText* out)
      : text_(text), schema_(schema), shapes_(shapes), out_(*out) {}

  /// Writes the members of the JSON object, without its braces.
  constexpr void write_members() {
    out_.put("\"version\":");
    out_.put(kJsonVersion);
    out_.put(",\"parameters\":[");
    for (int i = 0; i < schema_.num_params; ++i) write_value(schema_.params[i], i, i > 0);
    out_.put("],\"results\":[");
    for (int i = 0; i < schema_.num_returns; ++i) {
      write_value(schema_.returns[i], schema_.num_params + i, i > 0);
    }
    out_.put(']');
    if (shapes_ != nullptr) write_sources();
  }

 private:
  constexpr void write_value(const Param& param, int v, bool is_next) {
    out_.put(is_next ? ",{\"type\":\"" : "{\"type\":\"");
    for (const TypeName& entry : kTypeNames) {
      if (entry.type == param.type) out_.put(entry.name);
    }
    out_.put('"');
    if (param.name.size > 0) {
      out_.put(",\"name\":");
      out_.put_word(text_ + param.name.begin, param.name.size);
    }
    if (param.is_list) out_.put(",\"list\":true");
    if (param.is_optional) out_.put(",\"optional\":true");
    if (param.is_alias) {
      out_.put(",\"alias\":\"");
      out_.put(param.is_only_written ? "out!" : param.is_written ? "a!" : "a");
      out_.put('"');
    }
    if (param.default_source.size > 0) {
      out_.put(",\"default\":");
      out_.put_string(text_ + param.default_source.begin, param.default_source.size);
    }
    if (shapes_ != nullptr) {
      if (shapes_->values[v].has_shape) write_shape(shapes_->values[v]);
      if (shapes_->values[v].dtype.size > 0) write_dtype(shapes_->values[v].dtype);
    }
    out_.put('}');
  }

  constexpr void write_shape(const Value& value) {
    out_.put(",\"shape\":[");
    for (int i = 0; i < value.count; ++i) {
      if (i > 0) out_.put(',');
      write_size(shapes_->sizes[value.first + i]);
    }
    out_.put(']');
  }
  // Writes a size of a shape, such as "_", "...", "each...", "n",
  // {"expression":["*","2","n"],"name":"n","factor":2}.
  constexpr void write_size(const Size& size) {
    if (size.kind == SizeKind::kAny) return out_.put("\"_\"");
    if (size.kind == SizeKind::kRun) {
      return out_.put(size.is_each ? "\"each...\"" : "\"...\"");
    }
    const Node& node = shapes_->nodes[size.node];
    const bool is_name = node.kind == NodeKind::kName && node.parentheses == 0;
    if (is_name && !size.is_caller_sized) return write_expression(size.node);
    out_.put("{\"expression\":");
    write_expression(size.node);
    if (size.kind == SizeKind::kScaled) {
      out_.put(",\"name\":");
      const Span name = shapes_->names[size.name].text;
      out_.put_word(text_ + name.begin, name.size);
      if (size.factor != 1) write_factor(size.factor);
    }
    if (size.is_caller_sized) out_.put(",\"caller\":true");
    out_.put('}');
  }
  // Writes an expression, such as "n", "8", ["+","n","1"], ["()",["+","n","1"]],
  // ["ceil_div","n","8"], ["numel"].
  constexpr void write_expression(int n) {
    const Node& node = shapes_->nodes[n];
    for (int i = 0; i < node.parentheses; ++i) out_.put("[\"()\",");
    if (node.kind == NodeKind::kNumber || node.kind == NodeKind::kName) {
      out_.put_word(text_ + node.position, word_size(text_, node.position));
    } else {
      out_.put("[\"");
      out_.put(operation(node.kind));
      out_.put('"');
      if (node.kind != NodeKind::kNumel) {
        out_.put(',');
        write_expression(node.left);
        out_.put(',');
        write_expression(node.right);
      }
      out_.put(']');
    }
    for (int i = 0; i < node.parentheses; ++i) out_.put(']');
  }
  static constexpr const char* operation(NodeKind kind) {
    switch (kind) {
      case NodeKind::kAdd: return "+";
      case NodeKind::kSubtract: return "-";
      case NodeKind::kMultiply: return "*";
      case NodeKind::kDivide: return "/";
      case NodeKind::kCeilDiv: return "ceil_div";
      case NodeKind::kRoundUp: return "round_up";
      case NodeKind::kNumel: return "numel";
      case NodeKind::kNumber:
      case NodeKind::kName: break;
    }
    return "";
  }

  // Writes a dtype, such as ["?"], ["int8"], or [3,"bfloat16"] for "out_type or bfloat16", where
  // out_type is parameter 3.
  constexpr void write_dtype(Span dtype) {
    out_.put(",\"dtype\":[");
    const int end = dtype.begin + dtype.size;
    for (int at = dtype.begin; at < end;) {
      if (at > dtype.begin) out_.put(',');
      const int size = word_size(text_, at);
      const int param =
          size > 0 && !is_dtype(text_, at, size) ? param_at(text_, schema_, at, size) : -1;
      if (param >= 0) {
        out_.put_number(param);
      } else {
        out_.put_word(text_ + at, size > 0 ? size : end - at);
      }
      at = size > 0 ? next_word(text_, at, size) : end;
    }
    out_.put(']');
  }

  // Writes the tensor sizes that determine names, in the order of binding, the tensor that
  // determines "...", and the tensor that determines the dtype and device of outputs.
  constexpr void write_sources() {
    out_.put(",\"names\":[");
    for (int order = 0; order < shapes_->num_bound; ++order) {
      for (int i = 0; i < shapes_->num_names; ++i) {
        const Name& name = shapes_->names[i];
        if (!name.is_parameter && name.order == order) write_name(name, order > 0);
      }
    }
    out_.put(']');
    write_source("run_of", shapes_->run_of);
    write_source("like", shapes_->like);
  }
  constexpr void write_name(const Name& name, bool is_next) {
    out_.put(is_next ? ",{\"name\":" : "{\"name\":");
    out_.put_word(text_ + name.text.begin, name.text.size);
    write_source("value", name.value);
    out_.put(",\"place\":");
    out_.put_number(name.axis);
    if (name.factor != 1) write_factor(name.factor);
    out_.put(name.is_always_bound ? "}" : ",\"optional\":true}");
  }
  constexpr void write_factor(int64_t factor) {
    out_.put(",\"factor\":");
    out_.put_number(factor);
  }
  constexpr void write_source(const char* key, int v) {
    if (v < 0) return;
    out_.put(",\"");
    out_.put(key);
    out_.put("\":");
    out_.put_number(v);
  }

  const char* text_;
  const Signature& schema_;
  const ShapeLine* shapes_;
  JsonText& out_;
};

}  // namespace kernkit::schema::detail

namespace kernkit::schema {

/// Writes a schema line as a JSON object to `out`, without a terminating NUL, and returns the size
/// of the JSON [bytes]. If `out` is null, only returns the size. `out` must have space for that
/// size. `text` is the schema line from which `schema` and `shapes` were parsed, and `shapes` is
/// null for a schema line without shapes and dtypes. Parameters and results may be incomplete after
/// a parse error. The text is copied unchanged except for JSON's escapes in defaults. Throws
/// nothing. docs/calling-convention.md documents the keys.
constexpr size_t write_json(const char* text, const Signature& schema, const ShapeLine* shapes,
                            char* out) {
  detail::JsonText json(out);
  json.put('{');
  detail::LineJson(text, schema, shapes, &json).write_members();
  json.put('}');
  return json.size();
}

}  // namespace kernkit::schema
