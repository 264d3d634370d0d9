// SPDX-License-Identifier: Apache-2.0
// Devices by name.
#pragma once

#include "tvm/ffi/dtype.h"

KERNKIT_TVM_FFI_BEGIN
namespace detail {
/// Reads the name of a device, such as "cuda" or "cuda:1", up to the first space. Returns false if
/// the text does not name a device.
[[gnu::cold]] inline bool read_device(const char* text, size_t size, DLDevice* out) {
  constexpr struct {
    const char* name;
    int type;  // DLDeviceType by number, for older versions of dlpack.h
  } kDevices[] = {
      {"cpu", 1},     {"cuda", 2},     {"opencl", 4}, {"vulkan", 7},   {"metal", 8},
      {"mps", 8},     {"vpi", 9},      {"rocm", 10},  {"ext_dev", 12}, {"wgpu", 15},
      {"webgpu", 15}, {"hexagon", 16}, {"maia", 17},  {"trn", 18},
  };
  std::string name(text, size);
  if (name.find(' ') != std::string::npos) name.resize(name.find(' '));
  const size_t colon = name.find(':');
  int64_t index = 0;
  if (colon != std::string::npos) {
    if (colon + 1 == name.size()) return false;
    for (size_t i = colon + 1; i < name.size(); ++i) {
      if (name[i] < '0' || name[i] > '9') return false;
      index = index * 10 + (name[i] - '0');
      if (index > INT32_MAX) return false;
    }
    name.resize(colon);
  }
  for (const auto& device : kDevices) {
    if (name != device.name) continue;
    *out = {static_cast<DLDeviceType>(device.type), static_cast<int32_t>(index)};
    return true;
  }
  return false;
}
}  // namespace detail
KERNKIT_TVM_FFI_END
