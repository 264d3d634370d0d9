// SPDX-License-Identifier: Apache-2.0
#include "tools/products.h"

#include <algorithm>

#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

bool is_product(const Kernel& kernel, const Operation& operation) {
  return kernel.origins[operation.number].has_effect(Effect::kIssuesProducts);
}

std::vector<uint32_t> sums_of(const Kernel& kernel, const Operation& product) {
  const std::vector<uint32_t>& all = kernel.lists[product.more];
  return {all.begin(), all.begin() + WarpgroupProduct::unpack(product.offset).registers};
}

std::vector<uint32_t> factors_of(const Kernel& kernel, const Operation& product) {
  const std::vector<uint32_t>& all = kernel.lists[product.more];
  return {all.begin() + WarpgroupProduct::unpack(product.offset).registers, all.end()};
}

std::unordered_set<uint32_t> registers_of_products(const Kernel& kernel) {
  std::unordered_set<uint32_t> registers;
  for (const Operation& operation : kernel.code) {
    if (!is_product(kernel, operation)) continue;
    const std::vector<uint32_t>& all = kernel.lists[operation.more];
    registers.insert(all.begin(), all.end());
  }
  return registers;
}

void add_along_moves(const std::vector<BitPlan>& plans, std::vector<uint32_t> BitPlan::*from,
                     std::vector<uint32_t> BitPlan::*to, std::unordered_set<uint32_t>* registers) {
  const auto is_known = [&](uint32_t item) { return registers->count(item) != 0; };
  for (size_t before = 0; before != registers->size();) {
    before = registers->size();
    for (const BitPlan& plan : plans) {
      if (!plan.is_move()) continue;
      if (std::any_of((plan.*from).begin(), (plan.*from).end(), is_known)) {
        registers->insert((plan.*to).begin(), (plan.*to).end());
      }
    }
  }
}

}  // namespace kernkit::simulator::ptx
