// SPDX-License-Identifier: Apache-2.0
#include "ptx/image/image.h"

#include <algorithm>
#include <cstring>

#include "platform/demangle.h"
#include "ptx/decode/decoder.h"
#include "ptx/machine/window.h"
#include "ptx/parser/parser.h"
#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kBarrierBytes = 256;
// Minimum and maximum size of the inaccessible memory after each variable [bytes]. Between these
// bounds, the size is the size of the variable, so that a pointer past the end of the variable does
// not reach the next variable.
constexpr size_t kLeastGap = 256, kMostGap = 4096;

}  // namespace

Image::Image(std::string ptx, const std::map<std::string, void*>& managed)
    : module_(parse_module(std::move(ptx))) {
  std::map<std::string, size_t> own_offsets;
  for (const Variable& variable : module_->variables) {
    if (variable.space == "shared" || variable.is_extern) continue;
    if (variable.space == "const") constant_bytes_ += variable.size;
    const auto memory = variable.is_managed ? managed.find(variable.name) : managed.end();
    if (memory != managed.end()) {
      placements_[variable.name] = {static_cast<unsigned char*>(memory->second), &variable, true};
      continue;
    }
    const size_t alignment = std::max<size_t>(variable.alignment, 16);
    own_offsets[variable.name] = bytes_ = (bytes_ + alignment - 1) / alignment * alignment;
    placements_[variable.name] = {nullptr, &variable, false};
    bytes_ += variable.size + std::clamp<size_t>(variable.size, kLeastGap, kMostGap);
  }
  barrier_ = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  bytes_ = barrier_ + kBarrierBytes;
  memory_ = std::make_unique<unsigned char[]>(bytes_ + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  at_ = memory_.get() + (kAlignment - address % kAlignment);
  for (const auto& [name, offset] : own_offsets) placements_[name].at = at_ + offset;
}

void Image::reset(bool managed_too) {
  std::memset(at_, 0, bytes_);
  for (const auto& [name, placement] : placements_) {
    if (placement.is_managed && !managed_too) continue;
    const Initial& initial = placement.variable->initial;
    if (placement.is_managed) std::memset(placement.at, 0, placement.variable->size);
    if (!initial.bytes.empty())
      std::memcpy(placement.at, initial.bytes.data(), initial.bytes.size());
    for (const Initial::Address& address : initial.addresses) {
      const auto target = placements_.find(address.name);
      const uint64_t value = target != placements_.end()
                                 ? reinterpret_cast<uint64_t>(target->second.at) +
                                       static_cast<uint64_t>(address.offset)
                                 : address_of_function(module_->function_number(address.name));
      std::memcpy(placement.at + address.at, &value, sizeof(value));
    }
  }
}

void* Image::variable(const std::string& name, size_t* size) const {
  const auto placement = placements_.find(name);
  if (placement == placements_.end()) return nullptr;
  *size = placement->second.variable->size;
  return placement->second.at;
}

bool Image::find(const std::string& name, uint64_t* address) const {
  size_t size;
  void* at = variable(name, &size);
  *address = reinterpret_cast<uint64_t>(at);
  return at != nullptr;
}

Range Image::range_of(uint64_t address) const {
  const auto first = reinterpret_cast<uint64_t>(at_);
  if (address >= first + barrier_ && address < first + bytes_) {
    return {first + barrier_, first + bytes_};
  }
  for (const auto& [name, placement] : placements_) {
    const auto begin = reinterpret_cast<uint64_t>(placement.at);
    if (address >= begin && address - begin < placement.variable->size) {
      return {begin, begin + placement.variable->size};
    }
  }
  return {};
}

std::string Image::variable_at(uint64_t address) const {
  for (const auto& [name, placement] : placements_) {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(placement.at);
    if (offset < placement.variable->size) return name_of_variable(placement.variable->name);
  }
  return "";
}

std::string Image::location_of(uint64_t address) const {
  const Variable* nearest = nullptr;
  uint64_t least = kMostGap;
  for (const auto& [name, placement] : placements_) {
    const uint64_t past =
        address - reinterpret_cast<uint64_t>(placement.at) - placement.variable->size;
    if (past >= least) continue;
    least = past;
    nearest = placement.variable;
  }
  if (nearest == nullptr) return "";
  const auto bytes = [](uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
  };
  return bytes(least) + " past the end of variable " + name_of_variable(nearest->name) + " (" +
         bytes(nearest->size) + ")";
}

const Kernel& Image::kernel(const std::string& name) {
  if (const Kernel* decoded = kernels_.find(name)) return *decoded;
  if (const std::string* rejected = rejected_.find(name)) throw UnsupportedPtx(*rejected);
  const auto function = module_->functions.find(name);
  if (function == module_->functions.end() || !function->second.has_body) {
    throw UnsupportedPtx("the module's PTX does not contain the kernel");
  }
  try {
    Kernel kernel = Decoder(*module_, function->second, *this).decode();
    return kernels_[name] = std::move(kernel);
  } catch (const UnsupportedPtx& rejection) {
    rejected_[name] = rejection.what();
    throw;
  }
}

}  // namespace kernkit::simulator::ptx
