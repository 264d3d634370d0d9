// SPDX-License-Identifier: Apache-2.0
// D = A * B + C on the 32 lanes of a warp. Products of 8-bit and 16-bit elements are exact; sums
// are computed in float in the order of k, and rounded to .f16 once. The ISA does not specify order
// and width of the sums.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernkit/types/small_float.h"
#include "ptx/machine/block.h"
#include "ptx/machine/kernel.h"
#include "ptx/simd/fragment_layout.h"
#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace matrix_steps {

constexpr uint32_t kMostRows = 32, kMostDepth = 32, kMostElements = 256;  // limits of all products

template <class S>
struct Small {
  float values[256];
  Small() {
    for (int i = 0; i < 256; ++i) {
      S one;
      one.bits = static_cast<uint8_t>(i);
      values[i] = static_cast<float>(one);
    }
  }
};
template <class S>
const float* values_of() {
  static const Small<S> all;
  return all.values;
}

// Reads the elements of a register of all lanes into a contiguous array.
inline void read(Element element, const void* from, float* to) {
  const auto* halves = static_cast<const Half*>(from);
  const auto* wide = static_cast<const uint32_t*>(from);
  const auto* bytes = static_cast<const uint8_t*>(from);
  switch (element) {
    case Element::kF16: return each_lane<64>([&](int i) { to[i] = halves[i].value(); });
    case Element::kBF16:
      return each_lane<64>(
          [&](int i) { to[i] = bit_cast<float>(static_cast<uint32_t>(halves[i].bits) << 16); });
    case Element::kTF32:  // TF32 has the upper 19 bits
      return each_lane([&](int i) { to[i] = bit_cast<float>(wide[i] & 0xffffe000u); });
    default: break;
  }
  const float* values =
      element == Element::kE4M3 ? values_of<float8_e4m3fn>() : values_of<float8_e5m2>();
  for (int i = 0; i < 128; ++i) to[i] = values[bytes[i]];
}
inline void read(Element element, const void* from, int32_t* to) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  const auto* signed_bytes = static_cast<const int8_t*>(from);
  if (element == Element::kU8) {
    each_lane<128>([&](int i) { to[i] = bytes[i]; });
  } else {
    each_lane<128>([&](int i) { to[i] = signed_bytes[i]; });
  }
}

// Reads a matrix in row-major order, with k elements in a row.
template <class X>
void read_rows(Warp& warp, const uint32_t* registers, Element element, uint32_t rows, uint32_t k,
               X* to) {
  const uint32_t width = 4 * elements_of_register(element);
  alignas(64) X block[128];
  for (uint32_t column = 0; column < k; column += width) {
    for (uint32_t row = 0; row < rows; row += 8) {
      read(element, warp.lanes<unsigned char>(*registers++), block);
      for (uint32_t i = 0; i < 8; ++i) {
        std::memcpy(&to[(row + i) * k + column], &block[i * width], width * sizeof(X));
      }
    }
  }
}

// Calls visit(index in C, register, element of the register's 32 or 64) for each element.
template <class Visit>
void each_of_c(const Product& p, const Visit& visit) {
  const bool halves = p.c == Element::kF16;
  uint32_t number = 0;
  for (uint32_t column = 0; column < p.n; column += 8) {
    for (uint32_t row = 0; row < p.m; row += 8) {
      for (uint32_t i = 0; i < 64; ++i) {
        visit((row + i / 8) * p.n + column + i % 8, number + (halves ? 0 : i % 2),
              halves ? i : i / 2);
      }
      number += halves ? 1 : 2;
    }
  }
}

typedef float Floats __attribute__((vector_size(32)));
typedef int64_t Longs __attribute__((vector_size(64)));

// `b` has a row for each k.
template <class V, class X, class Sum>
void multiply(const Product& p, const X* a, const X* b, Sum* sums) {
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; column += 8) {
      V sum, other;
      std::memcpy(&sum, &sums[row * p.n + column], sizeof(sum));
      for (uint32_t k = 0; k < p.k; ++k) {
        std::memcpy(&other, &b[k * p.n + column], sizeof(other));
        sum += other * a[row * p.k + k];
      }
      std::memcpy(&sums[row * p.n + column], &sum, sizeof(sum));
    }
  }
}

template <class X, class To>
void read_factors(Warp& warp, const Product& p, const uint32_t* registers, To* a, To* b) {
  alignas(64) X rows[kMostRows * kMostDepth];
  read_rows(warp, registers, p.a, p.m, p.k, rows);
  for (uint32_t i = 0; i < uint32_t{p.m} * p.k; ++i) a[i] = rows[i];
  read_rows(warp, registers + p.registers_of_a(), p.b, p.n, p.k, rows);
  for (uint32_t column = 0; column < p.n; ++column) {
    for (uint32_t k = 0; k < p.k; ++k) b[k * p.n + column] = rows[column * p.k + k];
  }
}

// R is the type of C and D in registers, X the type of A and B, Sum the type of the sums.
template <class R, class X, class V, class Sum, class Load, class Store>
void multiply_by(Warp& warp, const Operation& operation, const Product& p, const Load& load,
                 const Store& store) {
  const uint32_t* to = warp.block->launch.kernel.lists[operation.more].data();
  const uint32_t* from = to + p.registers_of_c();
  const uint32_t* c = from + p.sources;
  alignas(64) Sum a[kMostRows * kMostDepth], b[kMostRows * kMostDepth], sums[kMostElements];
  read_factors<X>(warp, p, from, a, b);
  each_of_c(p,
            [&](uint32_t i, uint32_t r, uint32_t at) { sums[i] = load(warp.lanes<R>(c[r])[at]); });
  multiply<V>(p, a, b, sums);
  each_of_c(p, [&](uint32_t i, uint32_t r, uint32_t at) {
    if (to[r] != kNone) warp.lanes<R>(to[r])[at] = store(sums[i]);
  });
}

inline void multiply_floats(Warp& warp, const Operation& operation) {
  need_whole_warp(warp, operation);
  const Product p = Product::of(operation.offset);
  if (p.c == Element::kF16) {
    multiply_by<Half, float, Floats, float>(
        warp, operation, p, [](Half c) { return c.value(); },
        [](float sum) { return Half::from(sum); });
  } else {
    multiply_by<float, float, Floats, float>(
        warp, operation, p, [](float c) { return c; }, [](float sum) { return canonical(sum); });
  }
}

inline void multiply_integers(Warp& warp, const Operation& operation) {
  need_whole_warp(warp, operation);
  const Product p = Product::of(operation.offset);
  const auto store = [&p](int64_t sum) {
    using Limits = std::numeric_limits<int32_t>;
    const int64_t clamped = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
    return static_cast<int32_t>(static_cast<uint32_t>(p.saturates ? clamped : sum));
  };
  multiply_by<int32_t, int32_t, Longs, int64_t>(
      warp, operation, p, [](int32_t c) { return int64_t{c}; }, store);
}

}  // namespace matrix_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
