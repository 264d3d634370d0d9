// SPDX-License-Identifier: Apache-2.0
// The expected results of silu_and_mul, for its tests and for its benchmark, which verifies before
// timing.
#pragma once

#include <cmath>
#include <limits>
#include <random>

#include "kernkit/testing/tensor.h"

namespace template_library {

/// Number of binary digits of the significand, with the hidden digit: the error of one rounding is
/// at most 2^-digits.
template <class T>
inline constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kDigits<kernkit::float16> = 11;
template <>
inline constexpr int kDigits<kernkit::bfloat16> = 8;

/// Returns the largest permitted error of a result. The relative part covers the last rounding to
/// T, and 8 roundings in the compute type: one of the product, and 7 for silu, whose error is 3.4
/// units in the last place (kernkit/math.h). The absolute part is the smallest number of float16:
/// rounding a subnormal result costs half of it. Results of the other types are never subnormal
/// here.
template <class T>
long double tolerance(long double exact) {
  const long double relative =
      std::ldexp(1.0L, -kDigits<T>) + 8 * std::ldexp(1.0L, -kDigits<kernkit::compute_t<T>>);
  return std::fabs(exact) * relative + (kDigits<T> == 11 ? 0x1p-24L : 0.0L);
}

template <class T>
long double widen(T value) {
  return static_cast<long double>(static_cast<kernkit::compute_t<T>>(value));
}

/// Returns the index of the first element of y [n, d] that is not silu_and_mul of x [n, 2 * d]
/// within the tolerance, or -1. Checks every `step`-th element.
template <class T>
int64_t first_wrong(kernkit::testing::HostTensor<T>& y, kernkit::testing::HostTensor<T>& x,
                    int64_t d, int64_t step = 1) {
  for (int64_t i = 0; i < y.size(); i += step) {
    const int64_t row = i / d;
    const long double gate = widen(x[i + row * d]);
    const long double exact = gate / (1 + std::exp(-gate)) * widen(x[i + row * d + d]);
    // The condition is negated so that a NaN counts as wrong.
    if (!(std::fabs(widen(y[i]) - exact) <= tolerance<T>(exact))) return i;
  }
  return -1;
}

template <class T>
T quiet_nan() {
  return T(std::numeric_limits<kernkit::compute_t<T>>::quiet_NaN());
}

/// Fills x with random values of either sign and of magnitude 0.125 to 8. A zero would hide a
/// missing factor. A large tensor repeats the first values, since random values would take longer
/// than the benchmark.
template <class T>
void fill_random(kernkit::testing::HostTensor<T>& x) {
  std::mt19937 random(20);
  std::uniform_real_distribution<float> magnitude(0.125f, 8.0f);
  constexpr int64_t kPeriod = 65521;  // a prime, so that no two rows are equal
  for (int64_t i = 0; i < x.size(); ++i) {
    if (i < kPeriod) {
      x[i] = T(random() % 2 == 0 ? magnitude(random) : -magnitude(random));
    } else {
      x[i] = x[i - kPeriod];
    }
  }
}

}  // namespace template_library
