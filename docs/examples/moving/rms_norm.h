// SPDX-License-Identifier: Apache-2.0
// The loop, which sees pointers, sizes and scalars. Moving does not touch it.
#pragma once

#include <cmath>
#include <cstdint>

/// out = x / sqrt(mean(x * x) + eps) * weight, for each of n rows of d elements; a null weight
/// is 1.
template <class T>
void rms_norm_rows(int64_t n, int64_t d, T* out, const T* x, const T* weight, double eps) {
  for (int64_t row = 0; row < n; ++row, x += d, out += d) {
    double sum = 0;
    for (int64_t i = 0; i < d; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const auto scale = static_cast<T>(1 / std::sqrt(sum / static_cast<double>(d) + eps));
    for (int64_t i = 0; i < d; ++i) out[i] = x[i] * scale * (weight != nullptr ? weight[i] : T(1));
  }
}
