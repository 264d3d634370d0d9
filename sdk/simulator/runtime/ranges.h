// SPDX-License-Identifier: Apache-2.0
// Ranges of memory that calls of the host access. Ranges are checked against the allocations at the
// call, and again when the work of the call runs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernkit::simulator {

/// Returns a number of bytes as text: "1 byte", "4 bytes".
inline std::string bytes_text(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

enum class Side {
  kDevice,  // memory allocated by CUDA, or a variable
  // memory of kDevice or of the host; bounds of host memory are checked only if CUDA allocated the
  // memory
  kAny,
};

/// A range of memory that a call accesses.
struct MemoryRange {
  const char* argument;  // name of the argument in CUDA's declaration
  const void* at;
  size_t size;               // size of the range [bytes]
  unsigned long number = 0;  // number of the allocation around the range; 0 outside of allocations
};

/// Records a memcheck finding about the current call, and returns `error`.
cudaError_t reject_argument(const std::string& message, cudaError_t error = cudaErrorInvalidValue);
/// Reports and returns cudaErrorInvalidValue unless `side` allows the range and the range is within
/// one allocation or variable. Stores the allocation's number in *range. `captured`: the work
/// becomes a node of a graph, so memory of the graph counts as allocated.
cudaError_t check_range(MemoryRange* range, Side side, bool captured);
/// Describes an address: "byte 8 of an allocation of 1000 bytes by cudaMalloc() that cudaFree()
/// freed".
std::string address_text(const void* address);
/// Describes an address in freed memory; "" for other addresses.
std::string freed_text(const void* address);
/// Returns whether the allocation that check_range() found still exists when the work runs;
/// otherwise reports a fault of the device. `function` is the name of the call, `work` is "copy" or
/// "fill".
bool is_still_allocated(const MemoryRange& range, const char* function, const char* work,
                        int device);

}  // namespace kernkit::simulator
