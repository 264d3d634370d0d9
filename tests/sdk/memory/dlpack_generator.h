// SPDX-License-Identifier: Apache-2.0
// Random DLPack tensors, valid or with one fault, and a simple model of a valid tensor: written
// without kernkit, by enumerating elements where that is possible.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernkit/abi/abi.h"

namespace generator {

__extension__ typedef __int128 int128;
using Rng = std::mt19937_64;

/// Returns a random number in [low, high], which may be the whole range of int64.
inline int64_t between(Rng& rng, int64_t low, int64_t high) {
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + (count == 0 ? rng() : rng() % count));
}

struct DTypeCase {
  DLDataType dtype;
  int alignment;  // [bytes]
};
// Codes as in dlpack.h 1.3: 8 and 14 are float8, 15 is float6, 17 is float4.
inline const DTypeCase kDTypes[] = {
    {{0, 8, 1}, 1},  {{1, 8, 1}, 1},  {{1, 16, 1}, 2}, {{0, 64, 1}, 8}, {{2, 16, 1}, 2},
    {{2, 32, 1}, 4}, {{2, 64, 1}, 8}, {{4, 16, 1}, 2}, {{5, 64, 1}, 4}, {{5, 128, 1}, 8},
    {{6, 8, 1}, 1},  {{8, 8, 1}, 1},  {{14, 8, 1}, 1}, {{15, 6, 1}, 1}, {{17, 4, 1}, 1},
    {{17, 4, 2}, 1}, {{0, 4, 1}, 1},  {{1, 1, 1}, 1},  {{2, 32, 4}, 4}, {{3, 64, 1}, 8},
    {{2, 24, 1}, 1},
};

// The memory of CPU tensors. The value of byte i depends on i.
struct Arena {
  static constexpr int64_t kSize = 1 << 17;
  alignas(64) unsigned char bytes[kSize];
  Arena() {
    for (int64_t i = 0; i < kSize; ++i) bytes[i] = value(i);
  }
  static unsigned char value(int64_t i) { return static_cast<unsigned char>(i * 31 + (i >> 8)); }
};
inline Arena arena;

struct Sample {
  std::vector<int64_t> shape, strides;
  bool null_strides = false;
  DTypeCase dtype{};
  DLDevice device{kDLCPU, 0};
  uint64_t address = 0;  // address of the first element
  DLPackVersion version{1, 0};
  uint64_t flags = 0;
  DLTensor dl{};
  bool is_huge = false;

  int64_t bits() const { return int64_t{dtype.dtype.bits} * dtype.dtype.lanes; }
  int128 numel() const {
    int128 product = 1;
    for (const int64_t size : shape) {
      if (size == 0) return 0;
    }
    for (const int64_t size : shape) product *= size;
    return product;
  }
  int128 data_size() const { return (numel() * bits() + 7) / 8; }

  /// Calls visit(k, offset [elements]) for the elements in row-major order.
  template <class Visit>
  void each(Visit visit) const {
    std::vector<int64_t> index(shape.size(), 0);
    const auto n = static_cast<int64_t>(numel());
    for (int64_t k = 0; k < n; ++k) {
      int64_t offset = 0;
      for (size_t i = 0; i < shape.size(); ++i) offset += index[i] * strides[i];
      visit(k, offset);
      for (size_t i = shape.size(); i-- > 0;) {
        if (++index[i] < shape[i]) break;
        index[i] = 0;
      }
    }
  }
  bool is_contiguous() const {
    bool dense = true;
    if (numel() == 0) return true;
    if (!is_huge) {
      each([&](int64_t k, int64_t offset) { dense &= k == offset; });
      return dense;
    }
    int128 expected = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      dense &= shape[i] == 1 || strides[i] == expected;
      expected *= shape[i];
    }
    return dense;
  }

  void make_row_major() {
    strides.assign(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) {
      strides[i - 1] =
          static_cast<int64_t>(static_cast<uint64_t>(strides[i]) * static_cast<uint64_t>(shape[i]));
    }
  }
};

/// Generates a valid tensor, whose DLTensor points into the sample.
inline void generate(Rng& rng, Sample* out) {
  Sample& s = *out;
  s = Sample();
  s.dtype = kDTypes[rng() % (sizeof(kDTypes) / sizeof(kDTypes[0]))];
  s.version.minor = static_cast<uint32_t>(rng() % 5);
  s.flags = rng() % 4;
  s.shape.resize(rng() % 5);
  for (int64_t& size : s.shape) size = between(rng, 1, 5);
  s.make_row_major();
  const auto any = [&] { return s.shape.empty() ? 0 : rng() % s.shape.size(); };
  uint64_t base = reinterpret_cast<uintptr_t>(arena.bytes) + Arena::kSize / 2;
  int64_t least_offset = 0;
  switch (rng() % 8) {
    case 0: s.null_strides = true; break;
    case 1: break;
    case 2:  // transposed
      for (size_t i = s.shape.size(); i-- > 0;) {
        const size_t j = rng() % (i + 1);
        std::swap(s.shape[i], s.shape[j]);
        std::swap(s.strides[i], s.strides[j]);
      }
      break;
    case 3:  // any strides
      for (int64_t& stride : s.strides) stride = between(rng, -40, 40);
      break;
    case 4:  // one size is 0, all other sizes are arbitrary
      for (size_t i = 0; i < s.shape.size(); ++i) {
        if (rng() % 2 == 0) s.shape[i] = between(rng, 0, INT64_MAX - 1);
        if (rng() % 2 == 0) s.strides[i] = static_cast<int64_t>(rng());
      }
      if (s.shape.empty()) s.shape = s.strides = {5};
      s.shape[any()] = 0;
      s.null_strides = rng() % 2 == 0;
      if (s.null_strides) s.make_row_major();
      if (rng() % 2 == 0) base = 0;
      break;
    case 5:  // one element in memory with many indices
      s.shape.assign(s.shape.size(), 1);
      s.shape.push_back(between(rng, 2, INT64_MAX));
      s.strides.assign(s.shape.size(), 0);
      s.is_huge = true;
      break;
    case 6:  // larger than any memory
      s.shape = {between(rng, 1, int64_t{1} << 20), between(rng, 1, int64_t{1} << 30)};
      s.make_row_major();
      s.null_strides = rng() % 2 == 0;
      s.is_huge = true;
      s.device = {kDLCUDA, static_cast<int32_t>(rng() % 8)};
      break;
    default:  // an arbitrary handle in place of an address
      s.device = {kDLVulkan, 0};
      base = 0;
      least_offset = 1 << 15;
      break;
  }
  if (!s.strides.empty() && rng() % 4 == 0 && !s.null_strides) {
    const size_t i = any();
    if (s.shape[i] == 1) s.strides[i] = static_cast<int64_t>(rng());  // ignored
  }
  const int64_t align = s.dtype.alignment;
  const bool is_handle = s.device.device_type == kDLVulkan;
  if (base != 0) base += static_cast<uint64_t>(between(rng, 0, 999) * align);
  uint64_t offset = base == 0 && !is_handle ? 0 : rng() % 4 == 0 ? rng() % 4096 : 0;
  if (is_handle) {
    offset = (offset + static_cast<uint64_t>(least_offset)) / 16 * 16;
    s.address = 0x1001 + offset;
  } else {
    s.address = base;
  }
  s.dl.data = reinterpret_cast<void*>(s.address - offset);
  s.dl.byte_offset = offset;
  s.dl.device = s.device;
  s.dl.dtype = s.dtype.dtype;
  s.dl.ndim = static_cast<int32_t>(s.shape.size());
  s.dl.shape = s.shape.empty() ? nullptr : s.shape.data();
  s.dl.strides = s.shape.empty() || s.null_strides ? nullptr : s.strides.data();
}

}  // namespace generator
