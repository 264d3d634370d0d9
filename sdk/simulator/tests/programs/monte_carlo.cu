// SPDX-License-Identifier: Apache-2.0
// Pi, and the price of an option by Black and Scholes, from random numbers of a generator in the
// kernel (xorshift of Marsaglia, 2003) and the transform of Box and Muller.
#include <cmath>

#include "check.h"

struct Option {
  float price, strike, rate, volatility, years;
};

__device__ float uniform(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (state >> 8) * (1.0f / 16777216.0f);
}

__global__ void simulate(double* sums, Option option, int paths) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = 88172645u + 2654435761u * (thread + 1);
  for (int i = 0; i < 8; ++i) uniform(state);
  double inside = 0, payoff = 0;
  for (int path = 0; path < paths; ++path) {
    const float u = uniform(state), v = uniform(state);
    if (u * u + v * v < 1) inside += 1;
    const float normal = sqrtf(-2 * logf(1 - u)) * cospif(2 * v);
    const float drift = (option.rate - 0.5f * option.volatility * option.volatility) * option.years;
    const float end = option.price * expf(drift + option.volatility * sqrtf(option.years) * normal);
    payoff += fmaxf(end - option.strike, 0);
  }
  atomicAdd(&sums[0], inside);
  atomicAdd(&sums[1], payoff);
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

int main() {
  const Option option = {100, 105, 0.03f, 0.2f, 1.5f};
  const int blocks = 16, threads = 128, paths = 100;
  double* sums;
  check(cudaMallocManaged(&sums, 2 * sizeof(double)));
  sums[0] = sums[1] = 0;
  simulate<<<blocks, threads>>>(sums, option, paths);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  const double count = static_cast<double>(blocks) * threads * paths;
  const double spread = option.volatility * std::sqrt(option.years);
  const double d =
      (std::log(option.price / option.strike) + option.rate * option.years) / spread + spread / 2;
  const double discount = std::exp(-option.rate * option.years);
  const double exact =
      option.price * normal_below(d) - option.strike * discount * normal_below(d - spread);
  const double pi = 4 * sums[0] / count, price = discount * sums[1] / count;
  std::printf("pi %.4f, option %.3f (exact %.3f)\n", pi, price, exact);
  const bool passed = std::abs(pi - 3.14159265) < 0.02 && std::abs(price - exact) < 0.2;
  check(cudaFree(sums));
  return verdict("monte_carlo", passed);
}
