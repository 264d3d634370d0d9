// SPDX-License-Identifier: Apache-2.0
// Ranges of memory that calls of the host touch, checked against the allocations: once when the
// call comes and once more when its work runs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernkit::simulator {

/// "1 byte", "4 bytes"
inline std::string bytes_text(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

enum class Side {
  kDevice,  // memory that CUDA allocated, or a variable
  kAny,     // likewise, or other memory of the host, which has unknown bounds
};

/// One range that a call touches.
struct MemoryRange {
  const char* argument;  // its name in CUDA's declaration
  const void* at;
  size_t size;               // [bytes]
  unsigned long number = 0;  // of the allocation around it; 0: in none
};

/// Notes a sentence about the call that runs, a finding of memcheck; returns the error.
cudaError_t reject_argument(const std::string& what, cudaError_t error = cudaErrorInvalidValue);
/// cudaErrorInvalidValue, with a sentence, where the range is not inside of one allocation or
/// variable; finds the number of the allocation. `captured`: the work runs with a graph.
cudaError_t check_range(MemoryRange* range, Side side, bool captured);
/// Where an address is, for a sentence: "byte 8 of an allocation of 1000 bytes by cudaMalloc() that
/// cudaFree() freed".
std::string address_text(const void* address);
/// The same of an address in freed memory; "" for other addresses.
std::string freed_text(const void* address);
/// When work runs: whether the allocation is still there. Else a fault of the device;
/// `function`: the call; `work`: "copy" or "fill".
bool is_still_there(const MemoryRange& range, const char* function, const char* work, int device);

}  // namespace kernkit::simulator
