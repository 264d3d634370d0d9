// SPDX-License-Identifier: Apache-2.0
#include "tools/product_registers.h"

#include <algorithm>
#include <unordered_set>

#include "tools/definedness.h"
#include "tools/products.h"

namespace kernkit::simulator::ptx {
namespace {

bool intersect(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

bool contains(const std::vector<uint32_t>& all, uint32_t item) {
  return std::find(all.begin(), all.end(), item) != all.end();
}

}  // namespace

ProductRegisters::ProductRegisters(const Kernel& kernel) : kernel_(kernel) {
  std::unordered_set<uint32_t> of_products = registers_of_products(kernel);
  if (of_products.empty()) return;
  const std::vector<BitPlan> plans = plans_of(kernel);
  add_along_moves(plans, &BitPlan::sources, &BitPlan::results, &of_products);
  accesses_.resize(kernel.code.size());
  const auto take = [&](const std::vector<uint32_t>& from, std::vector<uint32_t>* to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(*to),
                 [&](uint32_t item) { return of_products.count(item) != 0; });
  };
  for (const Operation& operation : kernel.code) {
    Registers& accesses = accesses_[operation.number];
    if (is_product(kernel_, operation)) {
      accesses = {factors_of(kernel, operation), sums_of(kernel, operation)};
      continue;
    }
    const BitPlan& plan = plans[operation.number];
    accesses.is_move = plan.is_move();
    take(plan.sources, &accesses.read);
    take(plan.selectors, &accesses.read);
    take(plan.results, &accesses.written);
  }
}

// A product may add to the sums of a pending product, or to copies of these sums.
const ProductRegisters::Issued* ProductRegisters::find(const Operation& operation,
                                                       std::vector<Issued>* issued) const {
  const Registers& accesses = accesses_[operation.number];
  const bool multiplies = is_product(kernel_, operation);
  for (Issued& earlier : *issued) {
    const std::vector<uint32_t> sums = sums_of(kernel_, *earlier.product);
    std::vector<uint32_t>& copies = earlier.copies;
    const bool reads = intersect(accesses.read, sums) || intersect(accesses.read, copies);
    if (accesses.is_move && reads) {
      for (const uint32_t item : accesses.written) {
        if (!contains(sums, item) && !contains(copies, item)) copies.push_back(item);
      }
      continue;
    }
    const auto is_of_sums = [&](uint32_t item) {
      return contains(sums, item) || contains(copies, item);
    };
    const bool adds = multiplies &&
                      std::all_of(accesses.written.begin(), accesses.written.end(), is_of_sums) &&
                      (accesses.written == sums || !intersect(accesses.written, sums));
    if (reads || (!adds && intersect(accesses.written, sums)) ||
        intersect(accesses.written, factors_of(kernel_, *earlier.product))) {
      return &earlier;
    }
    if (adds || copies.empty()) continue;
    copies.erase(std::remove_if(copies.begin(), copies.end(),
                                [&](uint32_t item) { return contains(accesses.written, item); }),
                 copies.end());
  }
  return nullptr;
}

}  // namespace kernkit::simulator::ptx
