// SPDX-License-Identifier: Apache-2.0
// The JSON of an op's signature.
#pragma once

#include <stdio.h>

#include "kernkit/call/metadata.h"

namespace kernkit::detail {

/// Appends text as the content of a JSON string.
KERNKIT_COLD void append_json(Message& out, const char* text, size_t size) {
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

/// Appends one type as JSON in the host's form, which is defined by TypeTraits<T>::TypeSchema() in
/// tvm-ffi 0.1.
KERNKIT_COLD void append_type(Message& out, const schema::Param& param) {
  const char* name = "None";
  switch (param.type) {
    case schema::Type::kTensor: name = "DLTensor*"; break;
    case schema::Type::kInt: name = "int"; break;
    case schema::Type::kFloat: name = "float"; break;
    case schema::Type::kBool: name = "bool"; break;
    case schema::Type::kStr: name = "ffi.String"; break;
    case schema::Type::kScalarType: name = "DataType"; break;
    case schema::Type::kDevice: name = "Device"; break;
    case schema::Type::kBytes: name = "ffi.Bytes"; break;
    case schema::Type::kCallable: name = "ffi.Function"; break;
    case schema::Type::kAny: name = "Any"; break;
    case schema::Type::kNone: break;
  }
  if (param.is_optional) out << "{\"type\":\"Optional\",\"args\":[";
  if (param.is_list) out << "{\"type\":\"ffi.Array\",\"args\":[";
  out << "{\"type\":\"" << name << "\"}";
  if (param.is_list) out << "]}";
  if (param.is_optional) out << "]}";
}

/// Returns the signature as JSON in the host's form, in which the result precedes the parameters.
KERNKIT_COLD Message type_schema_json(const schema::Signature& line) {
  Message json;
  json << "{\"type\":\"ffi.Function\",\"args\":[";
  if (line.num_returns > 1) json << "{\"type\":\"Tuple\",\"args\":[";
  for (int i = 0; i < line.num_returns; ++i) {
    schema::Param result = line.returns[i];
    if (i > 0) json << ",";
    if (result.type == schema::Type::kTensor) {
      json << "{\"type\":\"ffi.Tensor\"}";
    } else {
      append_type(json, result);
    }
  }
  if (line.num_returns == 0) json << "{\"type\":\"None\"}";
  if (line.num_returns > 1) json << "]}";
  for (int i = 0; i < line.num_params; ++i) append_type(json << ",", line.params[i]);
  json << "]}";
  return json;
}

KERNKIT_COLD Message metadata_json(const schema::Signature& line, const char* text,
                                   const char* parsed) {
  const Message types = type_schema_json(line);
  Message json;
  json << "{\"type_schema\":\"";
  append_json(json, types.c_str(), types.size());
  json << "\",\"schema\":\"";
  append_json(json, text, strlen(text));
  json << "\",\"arguments\":[";
  for (int i = 0; i < line.num_params; ++i) {
    const schema::Param& param = line.params[i];
    (json << (i == 0 ? "" : ",") << "{\"name\":\"")
        .append(text + param.name.begin, static_cast<size_t>(param.name.size));
    json << "\",\"written\":" << param.is_written;
    if (param.default_source.size > 0) {
      json << ",\"default\":\"";
      append_json(json, text + param.default_source.begin,
                  static_cast<size_t>(param.default_source.size));
      json << "\"";
    }
    json << "}";
  }
  json << "],\"parsed\":" << parsed << "}";
  return json;
}

KERNKIT_COLD int return_metadata_of(const char* text, const char* parsed, const char* op,
                                    SourceLocation location, KernkitAny* result) noexcept {
  try {
    const schema::Schema line = schema::parse(text);
    const Message json = metadata_json(
        {line.num_params, line.num_required, line.num_returns, line.params, line.returns}, text,
        parsed);
    set_string(result, json.c_str(), json.size());
    return 0;
  } catch (...) {
    return raise_current_exception(op, location);
  }
}

}  // namespace kernkit::detail
