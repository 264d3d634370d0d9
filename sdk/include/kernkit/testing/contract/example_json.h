// SPDX-License-Identifier: Apache-2.0
// Writes the example of an op as a line of JSON, for tests that call the op through frameworks.
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "kernkit/schema/line_json.h"
#include "kernkit/schema/parser.h"
#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// Returns a text as a JSON string, with quotes: quotes, backslashes and characters below U+0020
/// are escaped (RFC 8259, section 7), other bytes are copied. Throws only std::bad_alloc.
inline std::string json_string(const std::string& text) {
  const auto write = [&](char* out) {
    schema::detail::JsonText json(out);
    json.put_string(text.data(), static_cast<int>(text.size()));
    return json.size();
  };
  std::string json(write(nullptr), ' ');
  write(json.data());
  return json;
}

/// Returns a JSON array of the JSON values that write(item) returns for the items, in order; "[]"
/// for no items. Throws only std::bad_alloc and the exceptions of `write`.
template <class T, class Write>
std::string json_list(const std::vector<T>& items, const Write& write) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + write(items[i]);
  return text + "]";
}

/// Returns an example as JSON. A tensor is an object: "dtype" is the name of the dtype, "shape" the
/// sizes [elements], "values" the stated values (empty for the default of Example::values()), "cpu"
/// whether the tensor stays in CPU memory; "scratch": true is present only for scratch. A list is
/// an array; None, a bool, an int and a finite float are null, true or false, and numbers. Any
/// other value is {"unknown": "<the value as in a message>"}. The stated values of a tensor must be
/// finite. Throws only std::bad_alloc.
inline std::string json_of(const Example& example) {
  const auto number = [](const auto& value) {
    Message text;
    text << value;
    return std::string(text.c_str());
  };
  if (example.is_list()) return json_list(example.elements(), json_of);
  if (example.is_tensor()) {
    return std::string("{\"dtype\": \"") + dtype_name(example.dtype()).c_str() +
           "\", \"shape\": " + json_list(example.shape(), number) +
           ", \"values\": " + json_list(example.values(), number) +
           ", \"cpu\": " + (example.stays_on_cpu() ? "true" : "false") +
           (example.is_scratch() ? ", \"scratch\": true}" : "}");
  }
  const Any& value = example.value();
  switch (value.type_index()) {
    case kKernkitNone: return "null";
    case kKernkitBool: return value.cast<bool>() ? "true" : "false";
    case kKernkitInt: return number(value.cast<int64_t>());
    case kKernkitFloat:
      if (std::isfinite(value.cast<double>())) return number(value.cast<double>());
      [[fallthrough]];
    default: return "{\"unknown\": " + json_string(number(value)) + "}";
  }
}

/// Returns the parsed form of the schema line `text` as a JSON object, as in the metadata of an op
/// (docs/calling-convention.md documents the keys). For a line with an error, the object has the
/// parameters and results before the error. Throws only std::bad_alloc.
inline std::string parsed_json(const std::string& text) {
  const auto line = std::make_unique<schema::ParsedLine>(schema::parse_line(text.c_str()));
  const schema::Schema& schema = line->schema;
  const schema::Signature signature = {schema.num_params, schema.num_required, schema.num_returns,
                                       schema.params, schema.returns};
  const schema::ShapeLine* shapes = schema.has_shapes ? &line->shapes : nullptr;
  std::string json(schema::write_json(text.c_str(), signature, shapes, nullptr), ' ');
  schema::write_json(text.c_str(), signature, shapes, json.data());
  return json;
}

/// Rule Note: appends a JSON object on a line of its own to the file named by the environment
/// variable KERNKIT_EXAMPLES, for tests that call the op through frameworks. "op" is the op's name,
/// "schema" its schema line, "parsed" the object of parsed_json(), and "arguments" an array with
/// json_of() of each argument of the example. Does nothing without this variable or for an op
/// without CUDA implementation, ignores an error of the file, and leaves the verdict unchanged.
/// Throws only std::bad_alloc.
inline void note_example(const Contract& contract, Verdict*) {
  const char* path = std::getenv("KERNKIT_EXAMPLES");
  if (path == nullptr || !contract.runs_on_cuda()) return;
  std::vector<Example> arguments(
      contract.examples().begin(),
      contract.examples().begin() + static_cast<ptrdiff_t>(contract.num_arguments()));
  std::ofstream(path, std::ios::app)
      << "{\"op\": " << json_string(contract.callee().name())
      << ", \"schema\": " << json_string(contract.callee().schema_text())
      << ", \"parsed\": " << parsed_json(contract.callee().schema_text())
      << ", \"arguments\": " << json_list(arguments, json_of) << "}\n";
}

}  // namespace kernkit::testing::contract
