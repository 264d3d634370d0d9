// SPDX-License-Identifier: Apache-2.0
// Chooses the version of each step that the processor runs: the AVX2 version or the version for
// every processor.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {

Steps steps_of(Simd list) {
  switch (list) {
    case Simd::kNone: return {nullptr, 0};
    case Simd::kIntegers: return integers();
    case Simd::kReals: return reals();
    case Simd::kWarps: return of_warps();
    case Simd::kMatrices: return matrices();
  }
  return {nullptr, 0};
}

#if KERNKIT_PTX_HAS_AVX2
namespace avx2 {
Steps integers();
Steps reals();
Steps of_warps();
Steps matrices();
}  // namespace avx2

namespace {

constexpr size_t kLists = static_cast<size_t>(Simd::kMatrices) + 1;

bool has_avx2() {
  const char* setting = std::getenv("KERNKIT_PTX_AVX2");
  const bool rejected = setting != nullptr && setting[0] == '0';
  return !rejected && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

// The AVX2 versions of all steps: for each list, pairs of a step and its version, sorted by step.
class Versions {
 public:
  Versions() {
    if (!has_avx2()) return;
    add(Simd::kIntegers, avx2::integers());
    add(Simd::kReals, avx2::reals());
    add(Simd::kWarps, avx2::of_warps());
    add(Simd::kMatrices, avx2::matrices());
  }
  Run find(Run step, Simd list) const {
    const std::vector<Pair>& pairs = lists_[static_cast<size_t>(list)];
    const auto position = std::lower_bound(pairs.begin(), pairs.end(), Pair{step, nullptr});
    return position != pairs.end() && position->first == step ? position->second : step;
  }

 private:
  using Pair = std::pair<Run, Run>;
  void add(Simd list, Steps of_avx2) {
    const Steps of_all = steps_of(list);
    std::vector<Pair>& pairs = lists_[static_cast<size_t>(list)];
    for (size_t i = 0; i < of_all.count; ++i) pairs.emplace_back(of_all.all[i], of_avx2.all[i]);
    std::sort(pairs.begin(), pairs.end());
  }
  std::array<std::vector<Pair>, kLists> lists_;
};

}  // namespace

Run fastest(Run step, Simd list) {
  static const Versions& versions = *new Versions;  // never destroyed, as in find_instruction()
  return versions.find(step, list);
}
#else
Run fastest(Run step, Simd /*list*/) { return step; }
#endif

}  // namespace kernkit::simulator::ptx
