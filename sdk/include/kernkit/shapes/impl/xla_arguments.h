// SPDX-License-Identifier: Apache-2.0
// text_from_xla() and the messages of throw_xla_error().
#pragma once

#include <string.h>

#include "kernkit/shapes/xla_arguments.h"

namespace kernkit::shapes {

[[noreturn, gnu::cold]] KERNKIT_LOCAL inline void throw_xla_error(XlaFault fault, const char* name,
                                                                  int64_t got) {
  Message text;
  switch (fault) {
    case XlaFault::kLine:
      text << "has no XLA handler: XLA supports no list parameters, and only tensors as results";
      break;
    case XlaFault::kAttributes: text << "XLA passes " << got << " attributes"; break;
    case XlaFault::kOperands: text << "XLA passes " << got << " operands"; break;
    case XlaFault::kResults: text << "XLA passes " << got << " results"; break;
    case XlaFault::kBuffer: text << name << ": XLA passes no buffer"; break;
    case XlaFault::kDType: text << name << ": XLA's dtype " << got << " is not supported"; break;
    case XlaFault::kAttribute: text << name << ": XLA's attribute is of another type"; break;
    case XlaFault::kAlias:
      text << name
           << ": the op reads and writes this tensor, but XLA passes no output aliased with it; "
              "declare it in input_output_aliases";
      break;
  }
  throw Error(kind::TypeError, text.c_str());
}

namespace detail {

/// Reads the text of a Device argument, such as "cpu" or "cuda:1". XLA has no type of attribute for
/// a device.
[[gnu::cold]] KERNKIT_LOCAL inline KernkitAny device_from_xla(const KernkitXlaText& text,
                                                              const char* name) {
  size_t length = 0;
  while (length < text.size && text.data[length] != ':') ++length;
  int64_t id = 0;
  for (size_t i = length + 1; i < text.size && id < 1000; ++i) {
    const int digit = text.data[i] - '0';
    id = digit >= 0 && digit <= 9 ? 10 * id + digit : 1000;
  }
  for (int type = 1; type <= kDLOneAPI && id < 1000; ++type) {
    DLDevice device = {static_cast<DLDeviceType>(type), 1};
    const FixedText<40> own_name = device_name(device);
    const bool has_name = strchr(own_name.text, '(') == nullptr;
    if (!has_name || strncmp(own_name.text, text.data, length) != 0 ||
        own_name.text[length] != ':') {
      continue;
    }
    device.device_id = static_cast<int32_t>(id);
    KernkitAny any = {};
    any.type_index = kKernkitDevice;
    any.v.device = device;
    return any;
  }
  Message given_name;
  given_name.append(text.data, text.size);
  KERNKIT_THROW(ValueError) << name << ": expected a device such as cuda:1, got \""
                            << given_name.c_str() << "\"";
}

}  // namespace detail

KERNKIT_LOCAL inline KernkitAny text_from_xla(const KernkitXlaText& text, schema::Type type,
                                              const char* name, Message* memory) {
  if (type == schema::Type::kDevice) return detail::device_from_xla(text, name);
  const bool has_nul = text.size > 0 && memchr(text.data, '\0', text.size) != nullptr;
  KERNKIT_CHECK(!has_nul, ValueError) << name << ": contains a NUL byte";
  KernkitAny any = {};
  any.type_index = kKernkitRawStr;
  any.v.c_str = memory->append(text.data, text.size).c_str();
  return any;
}

}  // namespace kernkit::shapes
