// SPDX-License-Identifier: Apache-2.0
#include "tools/product_fences.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ptx/machine/warp.h"
#include "ptx/simd/fragment_layout.h"
#include "tools/definedness.h"
#include "tools/products.h"

namespace kernkit::simulator::ptx {

ProductFences::ProductFences(const Kernel& kernel) : kernel_(kernel) {
  std::unordered_set<uint32_t> registers = registers_of_products(kernel);
  if (registers.empty()) return;
  const std::vector<BitPlan> plans = plans_of(kernel);
  add_along_moves(plans, &BitPlan::results, &BitPlan::sources, &registers);
  // Registers with the same value in every warp are never written.
  for (const Constant& constant : kernel.constants) registers.erase(constant.at);
  for (const SpecialRegister& special : kernel.specials) registers.erase(special.at);
  std::unordered_map<uint32_t, uint32_t> indices;
  for (const uint32_t item : registers) indices.emplace(item, tracked_++);

  const auto take = [&](const std::vector<uint32_t>& from, std::vector<uint32_t>* to) {
    for (const uint32_t item : from) {
      const auto found = indices.find(item);
      if (found != indices.end()) to->push_back(found->second);
    }
  };
  steps_.resize(kernel.code.size());
  std::unordered_set<uint32_t> summed;  // indices of the registers of D so far
  for (const Operation& operation : kernel.code) {
    Step& step = steps_[operation.number];
    if (kernel.origins[operation.number].has_effect(Effect::kFencesProducts)) {
      step.kind = Step::kFence;
      continue;
    }
    if (is_product(kernel, operation)) {
      step.kind = Step::kProduct;
      take(sums_of(kernel, operation), &step.written);
      take(factors_of(kernel, operation), &step.read);
      summed.insert(step.written.begin(), step.written.end());
      continue;
    }
    const BitPlan& plan = plans[operation.number];
    take(plan.results, &step.written);
    take(plan.sources, &step.read);
    if (plan.is_move()) {
      if (!step.written.empty()) step.kind = Step::kMove;
      continue;
    }
    // Ignores reads of registers to which no preceding product in the code adds: registers share
    // memory, so such a read may be a read of another register.
    step.read.erase(std::remove_if(step.read.begin(), step.read.end(),
                                   [&](uint32_t item) { return summed.count(item) == 0; }),
                    step.read.end());
    if (!step.written.empty() || !step.read.empty()) step.kind = Step::kAccess;
  }
}

uint32_t ProductFences::shape_of(uint32_t operation) const {
  const auto product = WarpgroupProduct::unpack(kernel_.code[operation].offset);
  const uint32_t bits = product.a == Element::kB1 ? 1 : bits_of(product.a);
  return product.columns << 8 | bits;
}

ProductFences::Missing ProductFences::lack_of(const Step& product, const Operation& operation,
                                              const State& state) const {
  if (!state.is_fenced) return {Lack::kAnyFence};
  for (const uint32_t item : product.read) {
    const uint32_t writer = state.writers[item];
    if (writer == 0) continue;
    return {is_product(kernel_, kernel_.code[writer - 1]) ? Lack::kSums : Lack::kWrite, writer - 1};
  }
  for (const uint32_t item : product.written) {
    const uint32_t writer = state.writers[item];
    if (writer == 0) continue;
    if (!is_product(kernel_, kernel_.code[writer - 1])) return {Lack::kWrite, writer - 1};
    if (shape_of(writer - 1) != shape_of(operation.number)) return {Lack::kShape, writer - 1};
  }
  for (const uint32_t item : product.written) {
    if (state.readers[item] != 0) return {Lack::kRead, state.readers[item] - 1};
  }
  return {};
}

ProductFences::Missing ProductFences::follow(const Operation& operation, uint32_t lanes,
                                             State* state) const {
  const Step& step = steps_[operation.number];
  if (state->writers.empty()) {
    state->writers.resize(tracked_);
    state->readers.resize(tracked_);
  }
  std::vector<uint32_t>&writers = state->writers, &readers = state->readers;
  Missing missing;
  uint32_t writer = operation.number + 1;
  switch (step.kind) {
    case Step::kNone: return {};
    case Step::kFence:
      std::fill(writers.begin(), writers.end(), 0);
      std::fill(readers.begin(), readers.end(), 0);
      state->is_fenced = true;
      return {};
    case Step::kProduct:
      missing = lack_of(step, operation, *state);
      for (const uint32_t item : step.written) readers[item] = 0;
      break;
    case Step::kMove:
      writer = 0;
      for (const uint32_t item : step.read) writer = std::max(writer, writers[item]);
      if (writer == 0 && lanes != Warp::kAll) return {};  // inactive lanes keep their values
      break;
    case Step::kAccess:
      for (const uint32_t item : step.read) readers[item] = writer;
      break;
  }
  for (const uint32_t item : step.written) writers[item] = writer;
  return missing;
}

}  // namespace kernkit::simulator::ptx
