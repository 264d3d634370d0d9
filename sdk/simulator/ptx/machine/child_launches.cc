// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/child_launches.h"

#include <algorithm>

namespace kernkit::simulator::ptx {
namespace {

// Returns the size of a kernel's parameters, each aligned [bytes].
size_t bytes_of_parameters(const Function& kernel) {
  size_t bytes = 0;
  for (const Variable& variable : kernel.parameters) {
    bytes = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
    bytes += variable.size;
  }
  return bytes;
}

}  // namespace

uint64_t ChildLaunches::allocate(const Function& kernel, dim3 grid, dim3 block,
                                 uint32_t shared_bytes) {
  ChildLaunch child;
  child.kernel = &kernel;
  child.grid = grid;
  child.block = block;
  child.shared_bytes = shared_bytes;
  child.parameter_bytes = std::max<size_t>(bytes_of_parameters(kernel), 1);
  child.parameters = std::make_unique<unsigned char[]>(child.parameter_bytes);
  const auto address = reinterpret_cast<uint64_t>(child.parameters.get());
  const std::lock_guard<std::mutex> lock(mutex_);
  prepared_[address] = std::move(child);
  return address;
}

bool ChildLaunches::launch(uint64_t parameters, bool is_tail) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = prepared_.find(parameters);
  if (found == prepared_.end() || found->second.is_launched) return false;
  found->second.is_launched = true;
  found->second.is_tail = is_tail;
  launched_.push_back(parameters);
  return true;
}

uint64_t ChildLaunches::address_of(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return reinterpret_cast<uint64_t>(texts_.insert(text).first->c_str());
}

Range ChildLaunches::range_of(uint64_t address) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& text : texts_) {
    const auto begin = reinterpret_cast<uint64_t>(text.c_str());
    if (address >= begin && address <= begin + text.size()) return {begin, begin + text.size() + 1};
  }
  auto next = prepared_.upper_bound(address);
  if (next == prepared_.begin()) return {};
  --next;
  const uint64_t end = next->first + next->second.parameter_bytes;
  return address < end ? Range{next->first, end} : Range{};
}

std::vector<ChildLaunch> ChildLaunches::take() {
  std::vector<ChildLaunch> children;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const bool tail : {false, true}) {
    for (const uint64_t address : launched_) {
      ChildLaunch& child = prepared_[address];
      if (child.is_tail == tail) children.push_back(std::move(child));
    }
  }
  prepared_.clear();
  launched_.clear();
  return children;
}

}  // namespace kernkit::simulator::ptx
