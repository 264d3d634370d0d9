// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and bit fields on 32 lanes.
#pragma once

#include <algorithm>
#include <type_traits>

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace bit_steps {

template <class X>
constexpr uint32_t kBits = 8 * sizeof(X);

struct And {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(a & b);
  }
};
struct Or {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(a | b);
  }
};
struct Xor {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(a ^ b);
  }
};
struct Not {
  template <class X>
  static X apply(X a) {
    return static_cast<X>(~a);
  }
};
struct Cnot {
  template <class X>
  static X apply(X a) {
    return a == 0;
  }
};
// shl and shr: a shift by the width of the type or more shifts out all bits.
struct Shl {
  template <class X>
  static X apply(X a, uint32_t b) {
    return b >= kBits<X> ? X{0} : static_cast<X>(a << b);
  }
};
struct Shr {
  template <class X>
  static X apply(X a, uint32_t b) {
    return static_cast<X>(a >> std::min(b, kBits<X> - 1) >> (b >= kBits<X> ? 1 : 0));
  }
};
template <bool kLeft, bool kWraps>
struct Shf {
  static uint32_t apply(uint32_t low, uint32_t high, uint32_t c) {
    const uint32_t by = kWraps ? c & 31 : std::min(c, 32u);
    const uint64_t both = uint64_t{high} << 32 | low;
    return static_cast<uint32_t>(kLeft ? both << by >> 32 : both >> by);
  }
};
// bfe d, a, position, length: extracts a field from a.
struct Bfe {
  template <class X>
  static X apply(X a, uint32_t position, uint32_t length) {
    position &= 255;
    length &= 255;
    using U = std::make_unsigned_t<X>;
    const uint32_t last = std::min(position + length - 1, kBits<X> - 1);
    const bool negative =
        std::is_signed_v<X> && length != 0 && (static_cast<U>(a) >> last & 1) != 0;
    const U field = position >= kBits<X> ? 0 : static_cast<U>(a) >> position;
    const U in_field = length >= kBits<X> ? ~U{0} : (U{1} << length) - 1;
    // Bits of the field past the last bit of the source repeat the sign.
    const uint32_t have = position >= kBits<X> ? 0 : kBits<X> - position;
    const U copied = have >= kBits<X> ? in_field : in_field & ((U{1} << have) - 1);
    return static_cast<X>((field & copied) | (negative ? ~copied : U{0}));
  }
};
// bfi d, a, b, position, length: inserts a field of a into b.
struct Bfi {
  template <class X>
  static X apply(X a, X b, uint32_t position, uint32_t length) {
    position &= 255;
    length &= 255;
    if (position >= kBits<X>) return b;
    const X field =
        length >= kBits<X> ? static_cast<X>(~X{0}) : static_cast<X>((X{1} << length) - 1);
    const X placed = static_cast<X>(field << position);
    return (b & ~placed) | (static_cast<X>(a << position) & placed);
  }
};
template <bool kWraps>
struct Bmsk {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const uint32_t position = kWraps ? a & 31 : std::min(a, 32u);
    const uint32_t width = kWraps ? b & 31 : std::min(b, 32u);
    return static_cast<uint32_t>(((uint64_t{1} << width) - 1) << position);
  }
};
struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t both = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
      const uint32_t which = selector >> 4 * k & 15;
      uint32_t byte = static_cast<uint32_t>(both >> 8 * (which & 7)) & 255;
      if ((which & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << 8 * k;
    }
    return result;
  }
};
/// The modes of prmt. The lower two bits of the selector are the index of the first byte of the
/// result.
enum class Bytes { kForward, kBackward, kReplicated, kClampedLeft, kClampedRight, kHalf };
template <Bytes kMode>
struct PrmtMode {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t both = uint64_t{b} << 32 | a;
    const uint32_t s = selector & 3;
    uint32_t result = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t which = kMode == Bytes::kForward        ? s + k
                             : kMode == Bytes::kBackward     ? (s + 8 - k) & 7
                             : kMode == Bytes::kReplicated   ? s
                             : kMode == Bytes::kClampedLeft  ? std::max(s, k)
                             : kMode == Bytes::kClampedRight ? std::min(s, k)
                                                             : (s & 1) * 2 + (k & 1);
      result |= (static_cast<uint32_t>(both >> 8 * which) & 255) << 8 * k;
    }
    return result;
  }
};
struct Popc {
  template <class X>
  static uint32_t apply(X a) {
    return static_cast<uint32_t>(__builtin_popcountll(a));
  }
};
struct Clz {
  template <class X>
  static uint32_t apply(X a) {
    return a == 0 ? kBits<X> : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits<X>);
  }
};
template <bool kShiftAmount>
struct Bfind {
  template <class X>
  static uint32_t apply(X a) {
    using U = std::make_unsigned_t<X>;
    const U bits = static_cast<U>(std::is_signed_v<X> && a < 0 ? ~a : a);
    if (bits == 0) return UINT32_MAX;
    const auto leading = static_cast<uint32_t>(__builtin_clzll(bits)) - (64 - kBits<X>);
    return kShiftAmount ? leading : kBits<X> - 1 - leading;
  }
};
struct Brev {
  template <class X>
  static X apply(X a) {
    X result = 0;
    for (uint32_t k = 0; k < kBits<X>; ++k) result |= (a >> k & 1) << (kBits<X> - 1 - k);
    return result;
  }
};

// lop3: a bit of the result is bit 4a + 2b + c of the table, where a, b and c are the corresponding
// bits of the sources.
inline uint32_t lop3_of(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    if ((table >> k & 1) == 0) continue;
    result |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
  }
  return result;
}
inline void lop3_lanes(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<uint32_t>(operation.src0), *b = warp.lanes<uint32_t>(operation.src1),
             *c = warp.lanes<uint32_t>(operation.src2);
  auto* d = warp.results<uint32_t>(operation.dst);
  uint32_t has[8];
  for (int k = 0; k < 8; ++k) has[k] = (operation.mode >> k & 1) != 0 ? UINT32_MAX : 0;
  each_lane([&](int l) {
    const uint32_t x = a[l], y = b[l], z = c[l];
    d[l] = (has[0] & ~x & ~y & ~z) | (has[1] & ~x & ~y & z) | (has[2] & ~x & y & ~z) |
           (has[3] & ~x & y & z) | (has[4] & x & ~y & ~z) | (has[5] & x & ~y & z) |
           (has[6] & x & y & ~z) | (has[7] & x & y & z);
  });
  warp.keep<uint32_t>(operation.dst);
}

template <class X>
void insert(Warp& warp, const Operation& operation) {
  const X *a = warp.lanes<X>(operation.src0), *b = warp.lanes<X>(operation.src1);
  const auto *position = warp.lanes<uint32_t>(operation.src2),
             *length = warp.lanes<uint32_t>(operation.src3);
  X* d = warp.results<X>(operation.dst);
  each_lane([&](int l) { d[l] = Bfi::apply(a[l], b[l], position[l], length[l]); });
  warp.keep<X>(operation.dst);
}

}  // namespace bit_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
