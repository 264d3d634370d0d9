// SPDX-License-Identifier: Apache-2.0
// Writes the example of an op as a line of JSON, for tests that call the op by frameworks.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "kernkit/schema/line_json.h"
#include "kernkit/schema/parser.h"
#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// Returns a JSON array of the texts that write(item) returns for the items; "[]" for none. Throws
/// only std::bad_alloc and the exceptions of `write`.
template <class T, class Write>
std::string json_list(const std::vector<T>& items, const Write& write) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + write(items[i]);
  return text + "]";
}

/// Returns an example as JSON: {"dtype": ..., "shape": [...], "values": [...], "cpu": ...,
/// "scratch": true for scratch}, a list, a number, true, null; {"unknown": "description"} for
/// values that JSON lacks. A float must be finite, because JSON has no other. Throws only
/// std::bad_alloc.
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
    case kKernkitFloat: return number(value.cast<double>());
    default:
      std::string what = number(value);
      std::replace(what.begin(), what.end(), '"', '\'');
      return "{\"unknown\": \"" + what + "\"}";
  }
}

/// Returns the parsed form of a line as JSON, as in the metadata of an op
/// (docs/calling-convention.md has the keys). A line with an error gives what was parsed before.
/// Throws only std::bad_alloc.
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

/// Rule Note: appends {"op", "schema", "parsed", "arguments"} of an op with a CUDA implementation
/// to the file named by KERNKIT_EXAMPLES, for tests that call the op by frameworks. Does nothing
/// without this variable, and ignores an error of the file. Leaves the verdict unchanged. Throws
/// only std::bad_alloc.
inline void note_example(const Contract& contract, Verdict*) {
  const char* path = std::getenv("KERNKIT_EXAMPLES");
  if (path == nullptr || !contract.runs_on_cuda()) return;
  std::vector<Example> arguments(
      contract.examples().begin(),
      contract.examples().begin() + static_cast<ptrdiff_t>(contract.num_arguments()));
  std::ofstream(path, std::ios::app)
      << "{\"op\": \"" << contract.callee().name() << "\", \"schema\": \""
      << contract.callee().schema_text()
      << "\", \"parsed\": " << parsed_json(contract.callee().schema_text())
      << ", \"arguments\": " << json_list(arguments, json_of) << "}\n";
}

}  // namespace kernkit::testing::contract
