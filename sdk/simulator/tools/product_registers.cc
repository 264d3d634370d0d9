// SPDX-License-Identifier: Apache-2.0
#include "tools/product_registers.h"

#include <algorithm>
#include <set>

#include "ptx/simd/fragment_layout.h"
#include "tools/definedness.h"

namespace kernkit::simulator::ptx {
namespace {

bool intersect(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

bool ProductRegisters::is_product(const Operation& operation) const {
  return kernel_.origins[operation.number].has_effect(Effect::kIssuesProducts);
}
std::vector<uint32_t> ProductRegisters::sums_of(const Operation& product) const {
  const std::vector<uint32_t>& all = kernel_.lists[product.more];
  return {all.begin(), all.begin() + WarpgroupProduct::unpack(product.offset).registers};
}
std::vector<uint32_t> ProductRegisters::factors_of(const Operation& product) const {
  const std::vector<uint32_t>& all = kernel_.lists[product.more];
  return {all.begin() + WarpgroupProduct::unpack(product.offset).registers, all.end()};
}

ProductRegisters::ProductRegisters(const Kernel& kernel) : kernel_(kernel) {
  std::set<uint32_t> of_products;
  for (const Operation& operation : kernel.code) {
    if (!is_product(operation)) continue;
    const std::vector<uint32_t>& all = kernel.lists[operation.more];
    of_products.insert(all.begin(), all.end());
  }
  if (of_products.empty()) return;
  const std::vector<BitPlan> plans = plans_of(kernel);
  accesses_.resize(kernel.code.size());
  const auto take = [&](const std::vector<uint32_t>& from, std::vector<uint32_t>* to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(*to),
                 [&](uint32_t item) { return of_products.count(item) != 0; });
  };
  for (const Operation& operation : kernel.code) {
    Registers& accesses = accesses_[operation.number];
    if (is_product(operation)) {
      accesses = {factors_of(operation), sums_of(operation)};
      continue;
    }
    const BitPlan& plan = plans[operation.number];
    take(plan.sources, &accesses.read);
    take(plan.selectors, &accesses.read);
    take(plan.results, &accesses.written);
    if (operation.count == 0) continue;
    // The registers in Operation::list, such as the vector of a load or store.
    const std::vector<uint32_t> list(operation.list,
                                     operation.list + std::min<int>(operation.count, 8));
    take(list, plan.stores ? &accesses.read : &accesses.written);
  }
}

// A product may add to the sums of an earlier product without a wait.
const Operation* ProductRegisters::find(const Operation& operation,
                                        const std::vector<Issued>& issued) const {
  const Registers& accesses = accesses_[operation.number];
  for (const Issued& earlier : issued) {
    const std::vector<uint32_t> sums = sums_of(*earlier.product);
    const bool adds = is_product(operation) && accesses.written == sums;
    if (intersect(accesses.read, sums) || (!adds && intersect(accesses.written, sums)) ||
        intersect(accesses.written, factors_of(*earlier.product))) {
      return earlier.product;
    }
  }
  return nullptr;
}

}  // namespace kernkit::simulator::ptx
