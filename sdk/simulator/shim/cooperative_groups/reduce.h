// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T = void>
struct plus {
  T operator()(T a, T b) const { return kernkit::simulator::wrapping_add(a, b); }
};
template <class T = void>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T = void>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};

/// Reduces the values of a tile's threads by `op`. Returns the result in every thread.
template <class Tile, class T, class Op>
T reduce(const Tile& tile, T value, const Op& op) {
  for (unsigned delta = Tile::size() / 2; delta > 0; delta /= 2) {
    value = op(value, tile.shfl_xor(value, delta));
  }
  return value;
}
template <class T, class Op>
T reduce(const coalesced_group& group, T value, const Op& op) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) {
    result = op(result, group.shfl(value, rank));
  }
  return result;
}

}  // namespace cooperative_groups
