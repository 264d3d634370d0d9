// SPDX-License-Identifier: Apache-2.0
// DLDevice: equality, names, and whether this library was built with CUDA.
#pragma once

#include <stdint.h>

#include <type_traits>

#include "kernkit/types/dtype.h"

namespace kernkit {

/// True in a library whose CUDA files are compiled (kernkit_add_library() defines
/// KERNKIT_WITH_CUDA), and in a file that nvcc compiles. Guard a call of a kernel's CUDA
/// implementation with `if constexpr (kWithCuda)`, so that a CPU-only build does not need the CUDA
/// implementation.
#if defined(KERNKIT_WITH_CUDA) || defined(__CUDACC__)
inline constexpr bool kWithCuda = true;
#else
inline constexpr bool kWithCuda = false;
#endif

/// True for memory of the CPU (kDLCPU). Pinned memory (kDLCUDAHost) is not included. Throws
/// nothing.
constexpr bool is_cpu(DLDevice device) { return device.device_type == kDLCPU; }
/// True for memory of a CUDA device (kDLCUDA). Pinned and managed memory are not included. Throws
/// nothing.
constexpr bool is_cuda(DLDevice device) { return device.device_type == kDLCUDA; }

/// Returns the name of a device, such as "cpu", "cuda:1" or "cuda_host:0": DLPack's name and the
/// index, without the index for device 0 of the CPU. An unknown type is "device(type=99):0". Source
/// of the types: enum DLDeviceType of dlpack.h. Throws nothing.
[[gnu::cold]] constexpr FixedText<40> device_name(DLDevice device) {
  FixedText<40> result{};
  char* out = result.text;
  const char* name = nullptr;
  const int type = static_cast<int>(device.device_type);
  switch (type) {
    case 1: name = "cpu"; break;
    case 2: name = "cuda"; break;
    case 3: name = "cuda_host"; break;
    case 4: name = "opencl"; break;
    case 7: name = "vulkan"; break;
    case 8: name = "metal"; break;
    case 10: name = "rocm"; break;
    case 13: name = "cuda_managed"; break;
    case 14: name = "oneapi"; break;
    default: break;
  }
  if (name != nullptr) {
    out = detail::append(out, name);
  } else {
    out = detail::append(out, "device(type=");
    if (type < 0) out = detail::append(out, "-");
    const auto bits = static_cast<uint32_t>(type);
    out = detail::append(detail::append(out, type < 0 ? 0u - bits : bits), ")");
  }
  if (is_cpu(device) && device.device_id == 0) return result;
  out = detail::append(out, device.device_id < 0 ? ":-" : ":");
  const auto id = static_cast<uint32_t>(device.device_id);
  detail::append(out, device.device_id < 0 ? 0u - id : id);
  return result;
}

}  // namespace kernkit

/// True for the same type and the same id. Throws nothing. A template in the global namespace, like
/// operator== in dtype.h.
template <class T, std::enable_if_t<std::is_same_v<T, DLDevice>, int> = 0>
constexpr bool operator==(T a, T b) {
  return __builtin_bit_cast(uint64_t, a) == __builtin_bit_cast(uint64_t, b);
}
/// True if the type or the id differs. Throws nothing.
template <class T, std::enable_if_t<std::is_same_v<T, DLDevice>, int> = 0>
constexpr bool operator!=(T a, T b) {
  return !(a == b);
}
