// SPDX-License-Identifier: Apache-2.0
// Chooses for each loop the code that the processor runs: AVX2's or the baseline's.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {

#if KERNKIT_PTX_HAS_AVX2
namespace avx2 {
Steps integers();
Steps reals();
Steps of_warps();
Steps matrices();
}  // namespace avx2

namespace {

using Pair = std::pair<Run, Run>;

bool has_avx2() {
  const char* wanted = std::getenv("KERNKIT_PTX_AVX2");
  const bool rejected = wanted != nullptr && wanted[0] == '0';
  return !rejected && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

std::vector<Pair> sorted_pairs() {
  std::vector<Pair> pairs;
  if (!has_avx2()) return pairs;
  const auto add = [&](Steps of_all, Steps of_some) {
    for (size_t i = 0; i < of_all.count; ++i) pairs.emplace_back(of_all.all[i], of_some.all[i]);
  };
  add(integers(), avx2::integers());
  add(reals(), avx2::reals());
  add(of_warps(), avx2::of_warps());
  add(matrices(), avx2::matrices());
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

Run fastest(Run step) {
  static const std::vector<Pair> pairs = sorted_pairs();
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), Pair{step, nullptr});
  return found != pairs.end() && found->first == step ? found->second : step;
}
#else
Run fastest(Run step) { return step; }
#endif

}  // namespace kernkit::simulator::ptx
