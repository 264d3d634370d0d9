// SPDX-License-Identifier: Apache-2.0
// What an exported op says of itself: documentation and signature, as text made by the host.
#pragma once

#include "kernkit/host_api.h"
#include "kernkit/message.h"
#include "kernkit/schema.h"

namespace kernkit::detail {

/// Appends text as the inside of a JSON string.
inline void append_json(Message& out, const char* text, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out << '\\' << text[i];
    } else if (c < 0x20) {
      char escape[8];
      snprintf(escape, sizeof(escape), "\\u%04x", c);
      out << escape;
    } else {
      out << text[i];
    }
  }
}

/// The host's name of a schema type. Source: TypeTraits<T>::TypeSchema() of tvm-ffi 0.1.
constexpr const char* host_type_name(schema::Type type) {
  switch (type) {
    case schema::Type::kTensor: return "DLTensor*";
    case schema::Type::kInt: return "int";
    case schema::Type::kFloat: return "float";
    case schema::Type::kBool: return "bool";
    case schema::Type::kStr: return "ffi.String";
    case schema::Type::kScalarType: return "DataType";
    case schema::Type::kDevice: return "Device";
    case schema::Type::kNone: break;
  }
  return "None";
}

/// {"type_schema": "<the host's own JSON, as a string>", "schema": "<the schema line>"}. The line
/// holds what the host's form has no place for: names, defaults, what is written.
inline Message metadata_json(const schema::Schema& line, const char* text) {
  Message types;
  types << "{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"None\"}";
  for (int i = 0; i < line.num_params; ++i) {
    types << ",{\"type\":\"" << host_type_name(line.params[i].type) << "\"}";
  }
  types << "]}";
  Message json;
  json << "{\"type_schema\":\"";
  append_json(json, types.c_str(), types.size());
  json << "\",\"schema\":\"";
  append_json(json, text, strlen(text));
  json << "\"}";
  return json;
}

/// Returns text to the caller as a String of the host. -1 without a host: nothing else can make
/// one.
inline int return_string(const Message& text, KernkitAny* result) noexcept {
  auto* make_string = host_api::string_from_byte_array.get();
  const KernkitByteArray bytes = {text.c_str(), text.size()};
  return make_string == nullptr ? -1 : make_string(&bytes, result);
}

}  // namespace kernkit::detail
