// SPDX-License-Identifier: Apache-2.0
// FatBinary: what nvcc puts into an object, PTX among it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernkit::simulator::ptx {

struct FatEntry {
  enum Kind { kPtx = 1, kMachineCode = 2 };
  int kind;
  int capability;  // 80 for sm_80
  uint64_t flags;
  const unsigned char* code;
  size_t size;   // as it is stored
  size_t whole;  // decompressed; 0: not compressed
};

/// The entries of a registered __fatBinC_Wrapper_t; none if the pointer is something else.
std::vector<FatEntry> entries_of(const void* wrapper);
/// The PTX of an entry, decompressed. Throws a UnsupportedPtx where that cannot be done.
std::string ptx_of(const FatEntry& entry);
/// The PTX for a device: of the highest compute capability that is not above the device's. Throws
/// a UnsupportedPtx where there is none.
std::string ptx_for(const void* wrapper, int capability);

}  // namespace kernkit::simulator::ptx
