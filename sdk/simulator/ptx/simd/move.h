// SPDX-License-Identifier: Apache-2.0
// mov, including packing and unpacking, selp and cvta on 32 lanes.
#pragma once

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace move_steps {

struct Same {
  template <class X>
  static X apply(X a) {
    return a;
  }
};
// mov.b32 d, {low, high}. The result is written last, since a source may be the register of the
// result. A piece of 8 bits is in a register of 16 bits.
template <class Full, class Piece, int kBits = 8 * sizeof(Piece)>
void pack(Warp& warp, const Operation& operation) {
  constexpr Full kMask = static_cast<Full>(~uint64_t{0} >> (64 - kBits));
  alignas(64) Full packed[32] = {};
  for (int k = 0; k < operation.count; ++k) {
    const Piece* piece = warp.lanes<Piece>(operation.list[k]);
    each_lane([&](int l) {
      packed[l] |= static_cast<Full>(static_cast<Full>(piece[l] & kMask) << (kBits * k));
    });
  }
  Full* d = warp.results<Full>(operation.dst);
  each_lane([&](int l) { d[l] = packed[l]; });
  warp.keep<Full>(operation.dst);
}
// mov.b32 {low, high}, a.
template <class Full, class Piece, int kBits = 8 * sizeof(Piece)>
void unpack(Warp& warp, const Operation& operation) {
  constexpr Full kMask = static_cast<Full>(~uint64_t{0} >> (64 - kBits));
  const Full* a = warp.lanes<Full>(operation.src0);
  for (int k = 0; k < operation.count; ++k) {
    if (operation.list[k] == kNone) continue;
    Piece* d = warp.results<Piece>(operation.list[k]);
    each_lane([&](int l) { d[l] = static_cast<Piece>(a[l] >> (kBits * k) & kMask); });
    warp.keep<Piece>(operation.list[k]);
  }
}

template <class X>
void select(Warp& warp, const Operation& operation) {
  const uint32_t all = warp.predicate(operation.src2);
  const uint32_t chosen = operation.negated ? ~all : all;
  const X *a = warp.lanes<X>(operation.src0), *b = warp.lanes<X>(operation.src1);
  X* d = warp.results<X>(operation.dst);
  each_lane([&](int l) { d[l] = (chosen & kLane[l]) != 0 ? a[l] : b[l]; });
  warp.keep<X>(operation.dst);
}

inline void offset(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint64_t>(operation.src0);
  auto* d = warp.results<uint64_t>(operation.dst);
  const auto offset = static_cast<uint64_t>(operation.offset);
  each_lane([&](int l) { d[l] = a[l] + offset; });
  warp.keep<uint64_t>(operation.dst);
}

}  // namespace move_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
