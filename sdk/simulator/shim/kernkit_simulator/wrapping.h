// SPDX-License-Identifier: Apache-2.0
// Sums as on a device: sums of signed integers wrap around, which is undefined in C++.
#pragma once

#include <type_traits>

namespace kernkit::simulator {

template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int)) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return static_cast<T>(a + b);
  }
}
template <class T>
T wrapping_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int)) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
  } else {
    return static_cast<T>(a - b);
  }
}

}  // namespace kernkit::simulator
