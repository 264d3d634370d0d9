// SPDX-License-Identifier: Apache-2.0
// FatEntry: an entry of the fat binary that nvcc embeds in an object: PTX or machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernkit::simulator::ptx {

struct FatEntry {
  enum Kind { kPtx = 1, kMachineCode = 2 };
  int kind;
  int capability;  // compute capability, 80 for sm_80
  uint64_t flags;
  const unsigned char* code;
  size_t size;               // stored size [bytes]
  size_t decompressed_size;  // decompressed size [bytes]; 0 if the entry is not compressed
};

/// Returns a list of entries for each fat binary of a registered __fatBinC_Wrapper_t: first for the
/// program, then for each object that nvcc -rdc=true linked. Returns an empty list if `wrapper` is
/// not a __fatBinC_Wrapper_t.
std::vector<std::vector<FatEntry>> fat_binaries_of(const void* wrapper);
/// Returns the decompressed PTX of an entry. Throws UnsupportedPtx if decompression fails.
std::string ptx_of(const FatEntry& entry);
/// Returns one module, linked from the PTX that a device of a compute capability executes from each
/// fat binary, see choose_ptx(). A fat binary without PTX for the device is left out. Throws
/// UnsupportedPtx if no fat binary has PTX for the device.
std::string ptx_for(const void* wrapper, int capability);

}  // namespace kernkit::simulator::ptx
