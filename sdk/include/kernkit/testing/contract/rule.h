// SPDX-License-Identifier: Apache-2.0
// Rule: a rule of the contract, the targets on which the rule is tried, and the findings.
#pragma once

#include <memory>

#include "kernkit/testing/contract/variation.h"
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
#include "kernkit/testing/contract/cuda_target.h"
#endif

namespace kernkit::testing::contract {

/// The findings of a rule.
struct Verdict {
  /// Number of calls, or of observations in a call; 0 if the rule does not apply to the op.
  size_t tried = 0;
  std::vector<std::string> violations;  ///< one sentence, without a full stop, for each violation

  /// Counts a call, and keeps its violation unless the text is "". Throws only std::bad_alloc.
  void add(const std::string& violation) {
    ++tried;
    if (!violation.empty()) violations.push_back(violation);
  }
};

/// A function that makes the target, the CPU or a CUDA device, for the calls of a rule.
using MakeTarget = std::unique_ptr<Target> (*)();

/// Returns functions that make the targets on which the op accepts its example: the CPU, except
/// with cuda_only(), then in a program for CUDA a CUDA device, except with cpu_only(). Runs the
/// example once on each target; rules Example and RunsOnCuda report a rejection. Call the function
/// while no CudaTarget exists. Throws the errors of Call::run() and of CudaTarget.
inline std::vector<MakeTarget> targets_of(const Contract& contract) {
  std::vector<MakeTarget> all;
  if (contract.runs_on_cpu()) all.push_back([] { return std::make_unique<Target>(); });
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
  if (contract.runs_on_cuda()) {
    all.push_back([]() -> std::unique_ptr<Target> { return std::make_unique<CudaTarget>(); });
  }
#endif
  const auto rejects = [&](MakeTarget make) {
    const std::unique_ptr<Target> target = make();
    return !Call(contract, *target).run().accepted;
  };
  all.erase(std::remove_if(all.begin(), all.end(), rejects), all.end());
  return all;
}

/// A function that returns the variations of a rule on a target.
using MakeVariations = Variations (*)(const Contract&, Target&);

/// A rule of the contract and its test. Exactly one of the three functions is not null.
struct Rule {
  const char* name;                     ///< name of the test, such as "Layouts"
  const char* statement;                ///< the rule as a clause, for messages
  MakeVariations variations = nullptr;  ///< variations of the example, each checked by violation()
  void (*check)(const Contract&, Verdict*) = nullptr;  ///< checks the op by calls of its own
  /// Checks every call of the other rules.
  void (*of_call)(const Call&, const Outcome&, const Variation&, Verdict*) = nullptr;
};

/// Calls visit(target, variation) for each variation that make(contract, target) returns, in order,
/// on each target of targets_of(). The target is in its initial state and may be destroyed after
/// the visit. CurrentCall::variation contains the variation's text during the visit. Call the
/// function while no CudaTarget exists. Throws the errors of targets_of(), and the exceptions of
/// `make` and `visit`.
inline void for_each_variation(
    const Contract& contract, MakeVariations make,
    const std::function<void(Target& target, const Variation& variation)>& visit) {
  for (const MakeTarget make_target : targets_of(contract)) {
    std::unique_ptr<Target> target = make_target();
    for (const Variation& variation : make(contract, *target)) {
      if (!target->renew()) {
        target.reset();  // first, since only one target may own CUDA's runtime
        target = make_target();
      }
      const NamedVariation named(variation.what);
      visit(*target, variation);
    }
  }
}

}  // namespace kernkit::testing::contract
