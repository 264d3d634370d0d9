// SPDX-License-Identifier: Apache-2.0
// Messages for arguments that do not match their schema line.
#pragma once

#include "kernkit/error.h"
#include "kernkit/shapes/impl/line_sizes.h"
#include "kernkit/shapes/line_dtype.h"
#include "kernkit/shapes/shape_error.h"

namespace kernkit::shapes {

using schema::next_word;
using schema::param_at;
using schema::SizeKind;
using schema::Span;
using schema::word_size;

namespace detail {

/// Compares a call with the op's schema line and writes a message about the first mismatch. For
/// each rule, one member function writes the message and returns the kind of the error, or null if
/// the call meets the rule. The member functions do not throw, because an exception takes time in
/// every stack frame that it leaves.
class KERNKIT_LOCAL ShapeMismatch : private LineSizes {
 public:
  ShapeMismatch(const LineView& line, const CallValue* values, Message* text)
      : LineSizes(line, values), text_(*text) {}

  [[gnu::cold]] const char* describe() const {
    using Rule = const char* (ShapeMismatch::*)(int, const DLTensor*, const char*) const;
    for (const Rule rule : {&ShapeMismatch::rank, &ShapeMismatch::sizes, &ShapeMismatch::dtype,
                            &ShapeMismatch::device}) {
      for (const bool outputs : {false, true}) {
        for (int v = 0; v < line_.schema.num_params; ++v) {
          if (line_.schema.params[v].is_only_written != outputs) continue;
          if (const char* kind = each(v, rule)) return kind;
        }
      }
    }
    text_ << "the arguments do not match the schema line";
    return kind::ValueError;
  }

 private:
  template <class Rule>
  [[gnu::cold]] const char* each(int v, Rule rule) const {
    const schema::Param& param = line_.schema.params[v];
    const CallValue& value = values_[v];
    if (param.is_list && value.list != nullptr) {
      if (rule == &ShapeMismatch::rank && value.list->empty()) return empty(v);
      for (size_t i = 0; i < value.list->size(); ++i) {
        Message name;
        write(name, param.name) << "[" << i << "]";
        const DLTensor* x = (*value.list)[i].get();
        if (const char* kind = (this->*rule)(v, x, name.c_str())) return kind;
      }
    } else if (value.tensor != nullptr) {
      Message name;
      return (this->*rule)(v, value.tensor, write(name, param.name).c_str());
    }
    return nullptr;
  }

  [[gnu::cold]] const char* empty(int v) const {
    int bound = 0;
    while (bound < line_.num_names &&
           (line_.names[bound].is_parameter || line_.names[bound].value != v)) {
      ++bound;
    }
    if (bound == line_.num_names && line_.run_of != v) return nullptr;
    write(text_, line_.schema.params[v].name) << ": is empty, but ";
    (bound < line_.num_names ? write(text_, line_.names[bound].text) : text_ << "...")
        << " is determined by the first tensor";
    return kind::ValueError;
  }
  [[gnu::cold]] const char* rank(int v, const DLTensor* x, const char* name) const {
    return line_.values[v].has_shape && !has_rank(v, x) ? shape(v, x, name) : nullptr;
  }
  [[gnu::cold]] const char* sizes(int v, const DLTensor* x, const char* name) const {
    const Value& value = line_.values[v];
    for (int i = 0; i < value.count; ++i) {
      const Size& size = line_.sizes[value.first + i];
      if (size.kind == SizeKind::kAny) continue;
      if (size.kind == SizeKind::kRun) {
        if (!has_run_tensor()) continue;
        const DLTensor* source = values_[line_.run_of].tensor;
        if (run_of(x, value) == run_of(source, line_.values[line_.run_of])) continue;
        return shape(v, x, name);
      }
      int64_t expected = 0;
      if (!is_known(size.node)) continue;
      if (evaluate(size.node, &expected) && expected == at(x, value.axis(i))) continue;
      return shape(v, x, name);
    }
    return nullptr;
  }
  // Returns the tensor that determines an output's dtype and device; null if there is none.
  const DLTensor* like(int v) const {
    const bool has = line_.values[v].has_shape && line_.schema.params[v].is_only_written;
    return has && line_.like >= 0 ? values_[line_.like].tensor : nullptr;
  }
  [[gnu::cold]] const char* dtype(int v, const DLTensor* x, const char* name) const {
    const Value& value = line_.values[v];
    const auto text = [&]() -> Message& { return text_ << name << ": dtype " << x->dtype; };
    int begin = value.dtype.begin;
    if (value.dtype.size == 0) {
      const DLTensor* other = like(v);
      if (other == nullptr || other->dtype == x->dtype) return nullptr;
      write(text() << " does not match ", line_.schema.params[line_.like].name)
          << " (" << other->dtype << ")";
      return kind::TypeError;
    }
    if (line_.text[begin] == '?') return nullptr;
    for (;;) {
      const Span word = {begin, word_size(line_.text, begin)};
      const DLDataType expected = dtype_at(line_.text, word.begin, word.size);
      if (expected.bits != 0) {
        if (x->dtype == expected) return nullptr;
        text() << " is not supported; expected " << expected;
        return kind::TypeError;
      }
      const CallValue& source = values_[param_at(line_.text, line_.schema, word.begin, word.size)];
      if (source.tensor != nullptr || source.dtype.bits != 0) {
        const DLDataType dtype = source.tensor != nullptr ? source.tensor->dtype : source.dtype;
        if (x->dtype == dtype) return nullptr;
        write(text() << " does not match ", word) << " (" << dtype << ")";
        return kind::TypeError;
      }
      begin = next_word(line_.text, word.begin, word.size);
    }
  }
  [[gnu::cold]] const char* device(int v, const DLTensor* x, const char* name) const {
    const DLTensor* other = like(v);
    if (other == nullptr || other->device == x->device) return nullptr;
    text_ << name << ": device " << x->device << " does not match ";
    write(text_, line_.schema.params[line_.like].name) << " (" << other->device << ")";
    return kind::ValueError;
  }

  // Writes "x: shape [4] does not match [n] with n = 5 (bound by y)", as KERNKIT_EXPECT(x).shape()
  // does. For the shape "[...]": "x: shape [4] does not match y ([5])", as .like(y) does.
  [[gnu::cold]] const char* shape(int v, const DLTensor* x, const char* name) const {
    const Value& value = line_.values[v];
    text_ << name << ": shape " << TensorView(x).sizes() << " does not match ";
    if (value.is_all_run() && has_run_tensor() && line_.values[line_.run_of].is_all_run()) {
      write(text_, line_.schema.params[line_.run_of].name)
          << " (" << TensorView(values_[line_.run_of].tensor).sizes() << ")";
      return kind::ValueError;
    }
    text_ << "[";
    for (int i = 0; i < value.count; ++i) write_size(i > 0 ? ", " : "", value.first + i);
    text_ << "]";
    const char* separator = " with ";
    bool is_written[schema::kMaxNames] = {};
    for (int i = 0; i < value.count; ++i) {
      const Size& size = line_.sizes[value.first + i];
      if (size.kind == SizeKind::kRun && line_.run_of != v && has_run_tensor()) {
        const DLTensor* source = values_[line_.run_of].tensor;
        text_ << separator << "... = " << run_of(source, line_.values[line_.run_of]);
        write(text_ << " (bound by ", line_.schema.params[line_.run_of].name) << ")";
        separator = ", ";
      }
      if (size.kind != SizeKind::kAny && size.kind != SizeKind::kRun) {
        write_names(size.node, v, is_written, &separator);
      }
    }
    return kind::ValueError;
  }
  [[gnu::cold]] void write_size(const char* separator, int i) const {
    const Span span = line_.sizes[i].text;
    text_ << separator;
    for (int k = span.begin; k < span.begin + span.size; ++k) {
      const char c = line_.text[k];
      const bool is_operator = c == '+' || c == '-' || c == '*' || c == '/';
      if (c == ' ') continue;
      text_ << (is_operator ? " " : "") << c << (is_operator || c == ',' ? " " : "");
    }
  }
  [[gnu::cold]] void write_names(int n, int v, bool* is_written, const char** separator) const {
    const Node& node = line_.nodes[n];
    if (node.kind >= NodeKind::kAdd) {
      write_names(node.left, v, is_written, separator);
      write_names(node.right, v, is_written, separator);
    }
    if (node.kind != NodeKind::kName || is_written[node.left]) return;
    const Name& name = line_.names[node.left];
    int64_t number = 0;
    if (!value_of(name, &number)) return;
    is_written[node.left] = true;
    write(text_ << *separator, name.text) << " = " << number;
    *separator = ", ";
    if (name.is_parameter || name.value == v) return;
    write(text_ << " (bound by ", line_.schema.params[name.value].name) << ")";
  }

  Message& text_;
};

}  // namespace detail

KERNKIT_COLD void throw_shape_error(const LineView& line, const CallValue* values) {
  auto* text = new Message;
  const char* kind = detail::ShapeMismatch(line, values, text).describe();
  throw Error(kind, text);
}

}  // namespace kernkit::shapes
