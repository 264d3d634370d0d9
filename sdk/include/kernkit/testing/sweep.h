// SPDX-License-Identifier: Apache-2.0
// Inputs for tests of elementwise ops: shapes, placements in memory, random bits.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernkit/dispatch.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

namespace detail {
template <template <class...> class To, class List>
struct Listed;
template <template <class...> class To, class... T>
struct Listed<To, types<T...>> {
  using type = To<T...>;
};
}  // namespace detail

/// Converts the list of an op's dtypes to the list template `To`, as in
/// `listed_in<::testing::Types, ScaleTypes>`.
template <template <class...> class To, class List>
using listed_in = typename detail::Listed<To, List>::type;

/// Returns the names of an op's dtypes, in the order of the list, as the op's error for an
/// unsupported dtype has them: "float16, bfloat16 or float32". An empty list does not compile.
/// Throws only std::bad_alloc.
template <class... T>
std::string names_of(types<T...>) {
  std::string text;
  size_t remaining = sizeof...(T);
  for (const DLDataType dtype : {dtype_of<T>...}) {
    text += dtype_name(dtype).c_str();
    if (--remaining > 0) text += remaining == 1 ? " or " : ", ";
  }
  return text;
}

/// Shapes for tests: empty, scalar, one element, a remainder after every vector width, several
/// ranks.
inline const std::vector<int64_t> kShapes[] = {
    {}, {0}, {1}, {7}, {4096 + 3}, {2, 3, 5, 7}, {3, 0, 2, 1}, {1, 4096 + 3, 1, 1}};

/// Placements for tests: aligned, unaligned, with a byte offset, with null strides, and all
/// combined.
inline const Placement kPlacements[] = {
    {}, {1, 0, false}, {0, 3, false}, {0, 0, true}, {3, 24, true}};

/// Fills a tensor with random bits and returns a copy of the elements in row-major order: floats
/// include subnormal numbers, infinities and NaN of either sign. T must be trivially copyable and
/// have at most 8 bytes, and each bit pattern of T must be a value, unlike in bool. The same seed
/// gives the same bits with every standard library (std::mt19937_64). Throws only std::bad_alloc.
template <class T>
std::vector<T> fill_random_bits(HostTensor<T>& tensor, unsigned seed) {
  std::mt19937_64 random(seed);
  for (T& value : tensor) {
    const uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof(T));
  }
  return std::vector<T>(tensor.begin(), tensor.end());
}

/// Fills a tensor with random multiples of 1/8 in [-8, -1/8] and [1/8, 8]. T is float16, bfloat16,
/// float or double, which hold the values exactly; float also holds sums of up to 2^18 values and
/// products of three values exactly. The same seed gives the same values with the same standard
/// library. Throws nothing.
template <class T>
void fill_eighths(HostTensor<T>& tensor, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> eighths(1, 64);
  for (T& value : tensor) {
    const float magnitude = static_cast<float>(eighths(random)) / 8;
    value = T(random() % 2 == 0 ? magnitude : -magnitude);
  }
}

/// Returns whether the tensor's elements, in row-major order, have the bits of `values`; further
/// elements of the tensor are not compared. Requires, without a check, that `values` has at most as
/// many elements as the tensor. 0 and -0 differ, and NaN with the same bits are equal. Throws
/// nothing.
template <class T>
bool has_bits_of(HostTensor<T>& tensor, const std::vector<T>& values) {
  return values.empty() ||
         std::memcmp(tensor.begin(), values.data(), values.size() * sizeof(T)) == 0;
}

}  // namespace kernkit::testing
