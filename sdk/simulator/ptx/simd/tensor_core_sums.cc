// SPDX-License-Identifier: Apache-2.0
#include "ptx/simd/tensor_core_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr int kProductBits = 46;  // fraction bits of the product of two significands
constexpr uint32_t kMostProducts = 64;

int smallest_exponent(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kE5M2: return -14;
    case Element::kE4M3: return -6;
    default: return -126;
  }
}

// A product or the accumulator, as significand * 2^(exponent - kProductBits).
struct Addend {
  int64_t significand;
  int exponent;
};

// Returns magnitude * 2^-shift, rounded to the nearest integer, ties to even, if `rounds` is set,
// and towards zero otherwise.
int64_t shifted(int64_t magnitude, int shift, bool rounds) {
  if (shift <= 0) return magnitude << -shift;
  if (shift > 62) return 0;
  const int64_t quotient = magnitude >> shift, rest = magnitude - (quotient << shift);
  const int64_t half = int64_t{1} << (shift - 1);
  return quotient + (rounds && (rest > half || (rest == half && quotient % 2 != 0)) ? 1 : 0);
}

// Returns sum * 2^scale, rounded to a value of type `of_d`. A value that is rounded to zero becomes
// +0.
float rounded(int64_t sum, int scale, Element of_d, int result_bits) {
  if (sum == 0) return 0;
  const bool is_half = of_d == Element::kF16;
  const int64_t magnitude = std::abs(sum);
  const int exponent = std::max(63 - __builtin_clzll(static_cast<uint64_t>(magnitude)) + scale,
                                is_half ? -14 : -126);
  const int unit = exponent - (is_half ? 10 : result_bits);
  const int64_t digits = shifted(magnitude, unit - scale, is_half);
  double value = std::ldexp(static_cast<double>(digits), unit);
  if (value >= (is_half ? 0x1p16 : 0x1p128)) value = std::numeric_limits<double>::infinity();
  return static_cast<float>(sum < 0 && digits != 0 ? -value : value);
}

float add_group(const TensorCoreSum& sum, uint32_t k, const TensorCoreFactor& a,
                const TensorCoreFactor& b, float c, Element of_c, Element of_d) {
  // The sum of finite terms in double is finite, so `special` only detects NaNs and infinities.
  double special = c;
  for (uint32_t i = 0; i < k; ++i) {
    special += static_cast<double>(a.first[i * a.stride]) * double{b.first[i * b.stride]};
  }
  if (!std::isfinite(special)) return canonical(static_cast<float>(special));
  Addend addends[kMostProducts + 1];
  const TensorCoreTerm initial = tensor_core_term(of_c, c);
  addends[k] = {int64_t{initial.significand} * (int64_t{1} << 23), initial.exponent};
  int largest = initial.exponent;
  for (uint32_t i = 0; i < k; ++i) {
    const TensorCoreTerm x = tensor_core_term(a.element, a.first[i * a.stride]);
    const TensorCoreTerm y = tensor_core_term(b.element, b.first[i * b.stride]);
    addends[i] = {int64_t{x.significand} * y.significand, x.exponent + y.exponent};
    largest = std::max(largest, addends[i].exponent);
  }
  int64_t total = 0;
  for (uint32_t i = 0; i <= k; ++i) {
    const int shift = kProductBits - sum.fraction_bits + largest - addends[i].exponent;
    const int64_t magnitude = shifted(std::abs(addends[i].significand), shift, false);
    total += addends[i].significand < 0 ? -magnitude : magnitude;
  }
  return rounded(total, largest - sum.fraction_bits, of_d, sum.result_bits);
}

}  // namespace

bool find_tensor_core_sum(int capability, Element a, bool is_warpgroup, TensorCoreSum* sum) {
  const bool has_8_bits = a == Element::kE4M3 || a == Element::kE5M2;
  if (has_8_bits && !is_warpgroup && capability != 89) return false;
  // Before compute capability 9.0, a group of products covers 16 bytes of a row of A.
  sum->group = capability >= 90 ? kMostProducts : 4 * elements_of_register(a);
  sum->fraction_bits = has_8_bits ? 13 : capability >= 90 ? 25 : 24;
  sum->result_bits = has_8_bits ? 13 : 23;
  return true;
}

TensorCoreTerm tensor_core_term(Element element, float value) {
  if (value == 0) return {0, -126};
  const auto bits = bit_cast<uint32_t>(value);
  const int field = static_cast<int>(bits >> 23 & 0xff);
  TensorCoreTerm term{static_cast<int32_t>((bits & 0x7fffff) | (field != 0 ? 0x800000u : 0)),
                      std::max(field, 1) - 127};
  const int smallest = smallest_exponent(element);
  if (term.exponent < smallest) {  // exact: a subnormal number of the type has fewer bits
    term.significand >>= smallest - term.exponent;
    term.exponent = smallest;
  }
  if (bits >> 31 != 0) term.significand = -term.significand;
  return term;
}

float add_products(const TensorCoreSum& sum, uint32_t k, const TensorCoreFactor& a,
                   const TensorCoreFactor& b, float c, Element of_c, Element of_d) {
  for (uint32_t first = 0; first < k; first += sum.group) {
    const TensorCoreFactor rest_of_a{a.element, a.first + first * a.stride, a.stride};
    const TensorCoreFactor rest_of_b{b.element, b.first + first * b.stride, b.stride};
    c = add_group(sum, std::min(sum.group, k - first), rest_of_a, rest_of_b, c,
                  first == 0 ? of_c : of_d, of_d);
  }
  return c;
}

}  // namespace kernkit::simulator::ptx
