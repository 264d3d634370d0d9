// SPDX-License-Identifier: Apache-2.0
// Integers of 128 bits, signed and unsigned: +, -, *, / and % of numbers of 1 to 128 bits, compared
// with the host's results.
#include <random>
#include <vector>

#include "check.h"

__extension__ using Signed = __int128;
__extension__ using Unsigned = unsigned __int128;

template <class X>
struct Results {
  X sum, difference, product, quotient, remainder;
  bool operator==(const Results& other) const {
    return sum == other.sum && difference == other.difference && product == other.product &&
           quotient == other.quotient && remainder == other.remainder;
  }
};

// Uses unsigned arithmetic, because a signed result may overflow.
template <class X>
__host__ __device__ Results<X> results_of(X a, X b) {
  const Unsigned x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
  return {static_cast<X>(x + y), static_cast<X>(x - y), static_cast<X>(x * y), a / b, a % b};
}

template <class X>
__global__ void compute(const X* a, const X* b, Results<X>* results, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) results[i] = results_of(a[i], b[i]);
}

// Returns a random number of 1 to 128 bits. In some numbers all bits are random; in others most
// bits are equal.
Unsigned random_number(std::mt19937_64& random) {
  Unsigned x = Unsigned{random()} << 64 | random();
  const unsigned kind = random() % 4;
  if (kind == 1) x = (x & 15) - 8;
  if (kind == 2) x = (Unsigned{1} << random() % 128) - (x & 1);
  return x >> random() % 128;
}

template <class X>
bool is_right(unsigned seed) {
  constexpr int n = 4096;
  std::mt19937_64 random(seed);
  std::vector<X> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<X>(random_number(random));
    b[i] = static_cast<X>(random_number(random));
    if (random() % 4 == 0) a[i] = static_cast<X>(0 - static_cast<Unsigned>(a[i]));
    if (random() % 4 == 0) b[i] = static_cast<X>(0 - static_cast<Unsigned>(b[i]));
    if (random() % 8 == 0) a[i] = static_cast<X>(static_cast<Unsigned>(b[i]) - random() % 2);
    if (b[i] == 0 || b[i] == static_cast<X>(-1)) b[i] = 3;  // no division by 0, no overflow
  }
  X *device_a, *device_b;
  Results<X>* device_results;
  check(cudaMalloc(&device_a, n * sizeof(X)));
  check(cudaMalloc(&device_b, n * sizeof(X)));
  check(cudaMalloc(&device_results, n * sizeof(Results<X>)));
  check(cudaMemcpy(device_a, a.data(), n * sizeof(X), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_b, b.data(), n * sizeof(X), cudaMemcpyHostToDevice));
  compute<<<n / 256, 256>>>(device_a, device_b, device_results, n);
  check(cudaGetLastError());
  std::vector<Results<X>> results(n);
  check(cudaMemcpy(results.data(), device_results, n * sizeof(Results<X>), cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int i = 0; i < n; ++i) passed = passed && results[i] == results_of(a[i], b[i]);
  check(cudaFree(device_a));
  check(cudaFree(device_b));
  check(cudaFree(device_results));
  return passed;
}

int main() { return verdict("wide_integers", is_right<Unsigned>(1) && is_right<Signed>(2)); }
