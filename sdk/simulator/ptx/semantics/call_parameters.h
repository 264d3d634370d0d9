// SPDX-License-Identifier: Apache-2.0
// Parameters and results of calls of the device's own functions, such as vprintf, in local memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

// For a call, Operation::offset packs the 16-bit offsets of up to four parameters in local memory.
// Operation::target is the offset of the result, and Operation::bytes its size.

inline unsigned char* address_of_call(Warp& warp, const Operation& operation, uint64_t offset,
                                      int lane) {
  auto at = static_cast<size_t>(offset);
  if (operation.address != kNone) at += warp.lanes<uint64_t>(operation.address)[lane];
  return warp.local.at_lane(lane) + at;
}

/// Returns the value of parameter number `which`, from 0 on, in a lane.
template <class T>
T parameter(Warp& warp, const Operation& operation, int which, int lane) {
  const auto offset = static_cast<uint64_t>(operation.offset >> 16 * which & 0xffff);
  T value;
  std::memcpy(&value, address_of_call(warp, operation, offset, lane), sizeof(T));
  return value;
}

template <class T>
void set_result(Warp& warp, const Operation& operation, int lane, T value) {
  if (operation.bytes == 0) return;
  std::memcpy(address_of_call(warp, operation, operation.target, lane), &value, sizeof(T));
}

/// Decodes a call with `parameters` parameters and a result of `result_bytes` bytes: sets the
/// offsets of the parameters and of the result. `callee`: index of the operand with the function's
/// name.
inline void take_parameters(Decoder& d, size_t callee, size_t parameters,
                            uint8_t result_bytes = 0) {
  const auto offset_of = [&](const Operand& one) {
    const uint64_t at = d.local_address(one);
    if (at > 0x7fff) d.reject("parameters are more than 32767 bytes from the start of the frame");
    return at;
  };
  if (parameters != 0) {
    if (d.operands() <= callee + 1) d.reject("too few parameters");
    const std::vector<Operand>& all = d.operand(callee + 1).parts;
    if (all.size() < parameters) d.reject("too few parameters");
    for (size_t i = 0; i < parameters; ++i) {
      d.operation.offset |= static_cast<int64_t>(offset_of(all[i]) << 16 * i);
    }
  }
  if (result_bytes == 0 || callee == 0 || d.operand(0).parts.empty()) return;
  d.operation.target = static_cast<uint32_t>(offset_of(d.operand(0).parts[0]));
  d.operation.bytes = result_bytes;
}

/// Returns the function that executes a call of the device runtime, see device_runtime.cc; null if
/// `name` is not a function of the device runtime. `callee`: index of the operand with the
/// function's name.
Run call_device_runtime(Decoder& d, size_t callee, const std::string& name);

}  // namespace kernkit::simulator::ptx
