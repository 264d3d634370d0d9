// SPDX-License-Identifier: Apache-2.0
// Rule: what is tried of an op, where, and what was found.
#pragma once

#include <memory>

#include "kernkit/testing/contract/variation.h"
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
#include "kernkit/testing/contract/cuda_place.h"
#endif

namespace kernkit::testing::contract {

/// What a rule found.
struct Verdict {
  size_t tried = 0;  // calls, or what was seen of one; 0 where an op has nothing of the kind
  std::vector<std::string> violations;

  void add(const std::string& violation) {
    ++tried;
    if (!violation.empty()) violations.push_back(violation);
  }
};

using MakePlace = std::unique_ptr<Place> (*)();

/// Where the op runs: what it refuses its example on is the business of rules Example and
/// RunsOnCuda.
inline std::vector<MakePlace> places_of(const Contract& contract) {
  std::vector<MakePlace> all;
  if (contract.runs_on_cpu()) all.push_back([] { return std::make_unique<Place>(); });
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
  if (contract.runs_on_cuda()) {
    all.push_back([]() -> std::unique_ptr<Place> { return std::make_unique<CudaPlace>(); });
  }
#endif
  const auto refuses = [&](MakePlace make) {
    const std::unique_ptr<Place> place = make();
    return !Call(contract, *place).run().accepted;
  };
  all.erase(std::remove_if(all.begin(), all.end(), refuses), all.end());
  return all;
}

using MakeVariations = Variations (*)(const Contract&, Place&);

/// One of three is not null.
struct Rule {
  const char* name;
  const char* says;
  MakeVariations variations = nullptr;  // what violation() says of each
  void (*check)(const Contract&, Verdict*) = nullptr;
  // What every call of the others keeps.
  void (*of_call)(const Call&, const Outcome&, const Variation&, Verdict*) = nullptr;
};

inline void for_each_variation(
    const Contract& contract, MakeVariations make,
    const std::function<void(Place& place, const Variation& variation)>& visit) {
  for (const MakePlace make_place : places_of(contract)) {
    std::unique_ptr<Place> place = make_place();
    for (const Variation& variation : make(contract, *place)) {
      if (!place->renew()) {
        place.reset();  // first: CUDA's runtime is its own
        place = make_place();
      }
      const NamedVariation named(variation.what);
      visit(*place, variation);
    }
  }
}

}  // namespace kernkit::testing::contract
