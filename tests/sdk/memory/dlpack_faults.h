// SPDX-License-Identifier: Apache-2.0
// The faults that dlpack_conformance_test.cc puts into valid tensors.
#pragma once

#include "dlpack_generator.h"

namespace generator {

// A fault to put into a valid tensor, and the expected message.
struct Fault {
  const char* name;
  const char* text;
  bool (*apply)(Rng& rng, Sample& s);  // puts the fault into the sample; false if impossible
  bool versioned_only = false;
  size_t (*alignment)(const Sample& s) = nullptr;
  bool contiguous = false;
};

// Returns a random dimension for the fault.
inline size_t random_axis(Rng& rng, const Sample& s) { return rng() % s.shape.size(); }
inline bool is_small(const Sample& s) { return !s.is_huge && s.numel() != 0; }
inline bool has_address(const Sample& s) { return s.device.device_type != kDLVulkan; }

inline const Fault kFaults[] = {
    {"another major version", "is not supported; this library supports 1.x",
     [](Rng& rng, Sample& s) {
       s.version.major = rng() % 3 == 0 ? 0 : static_cast<uint32_t>(2 + rng() % 1000);
       s.dl.ndim = static_cast<int32_t>(rng());  // must not be read for an unsupported version
       s.dl.shape = nullptr;
       return true;
     },
     true},
    {"padded elements", "are padded to whole bytes",
     [](Rng&, Sample& s) { return (s.flags |= 4) != 0; }, true},
    {"unknown flags", "are not supported",
     [](Rng& rng, Sample& s) { return (s.flags |= uint64_t{1} << between(rng, 3, 63)) != 0; },
     true},
    {"no bits", "has no bits", [](Rng&, Sample& s) { return s.dl.dtype.bits = 0, true; }},
    {"no lanes", "has no bits", [](Rng&, Sample& s) { return s.dl.dtype.lanes = 0, true; }},
    {"negative rank", "ndim is -",
     [](Rng& rng, Sample& s) {
       s.dl.ndim = static_cast<int32_t>(between(rng, INT32_MIN, -1));
       return true;
     }},
    {"no shape", "shape is null",
     [](Rng&, Sample& s) { return s.dl.shape = nullptr, s.dl.ndim != 0; }},
    {"negative size", "has a negative size",
     [](Rng& rng, Sample& s) {
       if (s.shape.empty()) return false;
       s.shape[random_axis(rng, s)] = between(rng, INT64_MIN, -1);
       return true;
     }},
    {"too many elements", "more than 2^63 - 1 elements",
     [](Rng& rng, Sample& s) {
       if (s.shape.size() < 2 || s.numel() == 0) return false;
       s.shape[0] = int64_t{1} << between(rng, 32, 62);
       s.shape[1] = int64_t{1} << between(rng, 32, 62);
       return true;
     }},
    {"strides too large", "beyond the address space",
     [](Rng& rng, Sample& s) {
       if (!is_small(s) || s.dl.strides == nullptr) return false;
       const size_t i = random_axis(rng, s);
       s.shape[i] = between(rng, 2, 1000);
       s.strides[i] = (int64_t{1} << 62) + between(rng, 0, int64_t{1} << 61);
       if (rng() % 2 == 0) s.strides[i] = -s.strides[i];
       return s.bits() > 1;
     }},
    {"address beyond the last", "beyond the address space",
     [](Rng& rng, Sample& s) {
       s.dl.byte_offset = UINT64_MAX - rng() % 1000;
       return is_small(s) && has_address(s);
     }},
    {"address below zero", "beyond the address space",
     [](Rng& rng, Sample& s) {
       if (!is_small(s) || s.dl.strides == nullptr) return false;
       const size_t i = random_axis(rng, s);
       s.shape[i] = 2;
       s.strides[i] = between(rng, -1000000, -200000);
       if (has_address(s)) s.dl.data = reinterpret_cast<void*>(uint64_t{16});
       s.dl.byte_offset = 0;
       return true;
     }},
    {"no data", "data is null",
     [](Rng&, Sample& s) { return s.dl.data = nullptr, s.numel() != 0; }},
    {"misaligned to its dtype", "is not aligned to",
     [](Rng&, Sample& s) {
       ++s.dl.byte_offset;
       return s.numel() != 0 && s.dtype.alignment > 1;
     }},
    {"not aligned as required", "is not aligned to",
     [](Rng&, Sample& s) { return s.numel() != 0 && has_address(s); }, false,
     [](const Sample& s) { return static_cast<size_t>(2 * (s.address & (~s.address + 1))); }},
    {"not contiguous as required", "is not contiguous",
     [](Rng&, Sample& s) { return !s.is_contiguous(); }, false, nullptr, true},
};

}  // namespace generator
