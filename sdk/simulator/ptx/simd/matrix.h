// SPDX-License-Identifier: Apache-2.0
// D = A * B + C on the 32 lanes of a warp. Without CudaRuntime::set_device_summation(), sums of
// .f16, .bf16, .tf32 and 8-bit floats are computed in float in the order of k, and rounded to .f16
// once if D is .f16. The product of two elements fits into the significand of a float. The PTX ISA
// does not specify the order and the precision of the sums.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernkit/types/small_float.h"
#include "ptx/machine/block.h"
#include "ptx/machine/kernel.h"
#include "ptx/simd/fragment_layout.h"
#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"
#include "ptx/simd/tensor_core_sums.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace matrix_steps {

constexpr uint32_t kMostRows = 32, kMostDepth = 64, kMostElements = 256;  // limits of all products
constexpr uint32_t kMostOfRegister = 256;  // maximum number of elements of a register, all lanes

template <class S>
struct Small {
  float values[256];
  Small() {
    for (int i = 0; i < 256; ++i) {
      S element;
      element.bits = static_cast<uint8_t>(i);
      values[i] = static_cast<float>(element);
    }
  }
};
template <class S>
const float* values_of() {
  static const Small<S> all;
  return all.values;
}

// Converts the elements of a register in all lanes, in the order of the lanes.
inline void read(Element element, const void* from, float* to) {
  const auto* halves = static_cast<const Half*>(from);
  const auto* wide = static_cast<const uint32_t*>(from);
  const auto* bytes = static_cast<const uint8_t*>(from);
  switch (element) {
    case Element::kF16: return each_lane<64>([&](int i) { to[i] = halves[i].value(); });
    case Element::kBF16:
      return each_lane<64>(
          [&](int i) { to[i] = bit_cast<float>(static_cast<uint32_t>(halves[i].bits) << 16); });
    case Element::kTF32:  // TF32 is the upper 19 bits of a float
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
  switch (element) {
    case Element::kB1: return std::memcpy(to, from, 32 * sizeof(int32_t)), void();
    case Element::kU8: return each_lane<128>([&](int i) { to[i] = bytes[i]; });
    case Element::kS8: return each_lane<128>([&](int i) { to[i] = signed_bytes[i]; });
    default: break;
  }
  const bool is_signed_type = element == Element::kS4;
  for (int i = 0; i < 256; ++i) {
    const int32_t nibble = bytes[i / 2] >> 4 * (i % 2) & 15;
    to[i] = is_signed_type && nibble > 7 ? nibble - 16 : nibble;
  }
}
inline void read(Element, const void* from, double* to) {
  std::memcpy(to, from, 32 * sizeof(double));
}

// Reads a matrix of `rows` rows of k elements from registers, and stores it in row-major order.
template <class X>
void read_rows(Warp& warp, const uint32_t* registers, Element element, uint32_t rows, uint32_t k,
               X* to) {
  const uint32_t width = 4 * elements_of_register(element);
  alignas(64) X block[kMostOfRegister];
  for (uint32_t column = 0; column < k; column += width) {
    for (uint32_t row = 0; row < rows; row += 8) {
      read(element, warp.lanes<unsigned char>(*registers++), block);
      for (uint32_t i = 0; i < 8; ++i) {
        std::memcpy(&to[(row + i) * k + column], &block[i * width], width * sizeof(X));
      }
    }
  }
}

// Calls visit(index, r, at) for each element of C or D: its index in row-major order, the number of
// its register, and its index among the register's elements in all lanes.
template <class Visit>
void each_sum(const Product& p, Element sum, const Visit& visit) {
  const bool halves = sum == Element::kF16;
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

// Adds A * B to the sums. `a` has m rows of k elements, `b` has k rows of n elements.
template <class V, class X, class Sum>
void multiply(const Product& p, const X* a, const X* b, Sum* sums) {
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; column += 8) {
      V sum, row_of_b;
      std::memcpy(&sum, &sums[row * p.n + column], sizeof(sum));
      for (uint32_t k = 0; k < p.k; ++k) {
        std::memcpy(&row_of_b, &b[k * p.n + column], sizeof(row_of_b));
        sum += row_of_b * a[row * p.k + k];
      }
      std::memcpy(&sums[row * p.n + column], &sum, sizeof(sum));
    }
  }
}

// Adds A * B to the sums for one-bit elements: counts the set bits of x ^ y or x & y for each pair
// of words.
inline void multiply_bits(const Product& p, const int64_t* a, const int64_t* b, int64_t* sums) {
  const bool is_and = p.bit_product == BitProduct::kAnd;
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      for (uint32_t k = 0; k < p.k; ++k) {
        const auto x = static_cast<uint32_t>(a[row * p.k + k]),
                   y = static_cast<uint32_t>(b[k * p.n + column]);
        sums[row * p.n + column] += __builtin_popcount(is_and ? x & y : x ^ y);
      }
    }
  }
}

// Adds A * B to the sums by fused multiply-adds, in ascending order of k.
inline void multiply_doubles(const Product& p, const double* a, const double* b, double* sums) {
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      double& sum = sums[row * p.n + column];
      for (uint32_t k = 0; k < p.k; ++k) {
        sum = std::fma(a[row * p.k + k], b[k * p.n + column], sum);
      }
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

// The lists of registers of a product: D, then A and B, then C.
struct ProductRegisters {
  const uint32_t *d, *factors, *c;
  ProductRegisters(const Warp& warp, const Operation& operation, const Product& p)
      : d(warp.block->launch.kernel.lists[operation.more].data()),
        factors(d + p.registers_of_d()),
        c(factors + p.sources()) {}
};

// Loads the elements of C into `sums`. R is the type of C in registers; load() converts from R to
// Sum.
template <class R, class Sum, class Load>
void load_sums(Warp& warp, const Product& p, const uint32_t* c, Sum* sums, const Load& load) {
  each_sum(p, p.c,
           [&](uint32_t i, uint32_t r, uint32_t at) { sums[i] = load(warp.lanes<R>(c[r])[at]); });
}
// Stores `sums` in the registers of D. R is the type of D in registers; store() converts from Sum
// to R.
template <class R, class Sum, class Store>
void store_sums(Warp& warp, const Product& p, const uint32_t* d, const Sum* sums,
                const Store& store) {
  each_sum(p, p.d, [&](uint32_t i, uint32_t r, uint32_t at) {
    if (d[r] != kNone) warp.lanes<R>(d[r])[at] = store(sums[i]);
  });
}

// Adds A * B to the sums as the tensor cores of a compute capability do. Returns false for
// capability 0, and if the simulator has no model of the tensor cores for the element types.
inline bool add_as_device(int capability, const Product& p, const float* a, const float* b,
                          float* sums) {
  TensorCoreSum sum;
  if (capability == 0 || !find_tensor_core_sum(capability, p.a, false, &sum)) return false;
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      float& of_element = sums[row * p.n + column];
      of_element = add_products(sum, p.k, {p.a, a + row * p.k, 1}, {p.b, b + column, p.n},
                                of_element, p.c, p.d);
    }
  }
  return true;
}

inline void multiply_floats(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const Product p = Product::unpack(operation.offset);
  const ProductRegisters registers(warp, operation, p);
  alignas(64) float a[kMostRows * kMostDepth], b[kMostRows * kMostDepth], sums[kMostElements];
  read_factors<float>(warp, p, registers.factors, a, b);
  if (p.c == Element::kF16) {
    load_sums<Half>(warp, p, registers.c, sums, [](Half c) { return c.value(); });
  } else {
    load_sums<float>(warp, p, registers.c, sums, [](float c) { return c; });
  }
  if (!add_as_device(warp.block->launch.summation, p, a, b, sums)) multiply<Floats>(p, a, b, sums);
  if (p.d == Element::kF16) {
    store_sums<Half>(warp, p, registers.d, sums, [](float sum) { return Half::from(sum); });
  } else {
    store_sums<float>(warp, p, registers.d, sums, [](float sum) { return canonical(sum); });
  }
}

inline void multiply_matrices_of_f64(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const Product p = Product::unpack(operation.offset);
  const ProductRegisters registers(warp, operation, p);
  alignas(64) double a[kMostRows * kMostDepth], b[kMostRows * kMostDepth], sums[kMostElements];
  read_factors<double>(warp, p, registers.factors, a, b);
  load_sums<double>(warp, p, registers.c, sums, [](double c) { return c; });
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(kModes[p.rounding]);
  multiply_doubles(p, a, b, sums);
  std::fesetround(FE_TONEAREST);
  store_sums<double>(warp, p, registers.d, sums, [](double sum) { return canonical(sum); });
}

inline void multiply_integers(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const Product p = Product::unpack(operation.offset);
  const auto store = [&p](int64_t sum) {
    using Limits = std::numeric_limits<int32_t>;
    const int64_t clamped = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
    return static_cast<int32_t>(static_cast<uint32_t>(p.saturates ? clamped : sum));
  };
  const ProductRegisters registers(warp, operation, p);
  alignas(64) int64_t a[kMostRows * kMostDepth], b[kMostRows * kMostDepth], sums[kMostElements];
  read_factors<int32_t>(warp, p, registers.factors, a, b);
  load_sums<int32_t>(warp, p, registers.c, sums, [](int32_t c) { return int64_t{c}; });
  if (p.a == Element::kB1) {
    multiply_bits(p, a, b, sums);
  } else {
    multiply<Longs>(p, a, b, sums);
  }
  store_sums<int32_t>(warp, p, registers.d, sums, store);
}

}  // namespace matrix_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
