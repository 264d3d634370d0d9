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
// Inaccessible memory between variables, as large as the preceding variable within these bounds
// [bytes], so that a pointer past the end of a variable does not reach the next variable.
constexpr size_t kLeastGap = 256, kMostGap = 4096;

}  // namespace

Image::Image(std::string ptx, const std::map<std::string, void*>& managed)
    : module_(parse_module(std::move(ptx))) {
  std::map<std::string, size_t> own;
  for (const Variable& variable : module_->variables) {
    if (variable.space == "shared" || variable.is_extern) continue;
    if (variable.space == "const") constant_bytes_ += variable.size;
    const auto memory = variable.is_managed ? managed.find(variable.name) : managed.end();
    if (memory != managed.end()) {
      places_[variable.name] = {static_cast<unsigned char*>(memory->second), &variable, true};
      continue;
    }
    const size_t alignment = std::max<size_t>(variable.alignment, 16);
    own[variable.name] = bytes_ = (bytes_ + alignment - 1) / alignment * alignment;
    places_[variable.name] = {nullptr, &variable, false};
    bytes_ += variable.size + std::clamp<size_t>(variable.size, kLeastGap, kMostGap);
  }
  barrier_ = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  bytes_ = barrier_ + kBarrierBytes;
  memory_ = std::make_unique<unsigned char[]>(bytes_ + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  at_ = memory_.get() + (kAlignment - address % kAlignment);
  for (const auto& [name, offset] : own) places_[name].at = at_ + offset;
}

void Image::reset(bool managed_too) {
  std::memset(at_, 0, bytes_);
  for (const auto& [name, place] : places_) {
    if (place.is_managed && !managed_too) continue;
    const Initial& initial = place.variable->initial;
    if (place.is_managed) std::memset(place.at, 0, place.variable->size);
    if (!initial.bytes.empty()) std::memcpy(place.at, initial.bytes.data(), initial.bytes.size());
    for (const Initial::Address& address : initial.addresses) {
      const auto other = places_.find(address.name);
      const uint64_t value =
          other != places_.end()
              ? reinterpret_cast<uint64_t>(other->second.at) + static_cast<uint64_t>(address.offset)
              : address_of_function(module_->function_number(address.name));
      std::memcpy(place.at + address.at, &value, sizeof(value));
    }
  }
}

void* Image::variable(const std::string& name, size_t* size) const {
  const auto place = places_.find(name);
  if (place == places_.end()) return nullptr;
  *size = place->second.variable->size;
  return place->second.at;
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
  for (const auto& [name, place] : places_) {
    const auto begin = reinterpret_cast<uint64_t>(place.at);
    if (address >= begin && address - begin < place.variable->size) {
      return {begin, begin + place.variable->size};
    }
  }
  return {};
}

std::string Image::place_of(uint64_t address) const {
  const Variable* nearest = nullptr;
  uint64_t least = kMostGap;
  for (const auto& [name, place] : places_) {
    const uint64_t past = address - reinterpret_cast<uint64_t>(place.at) - place.variable->size;
    if (past >= least) continue;
    least = past;
    nearest = place.variable;
  }
  if (nearest == nullptr) return "";
  const auto bytes = [](uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
  };
  return bytes(least) + " past the end of variable " + name_of_variable(nearest->name) + " (" +
         bytes(nearest->size) + ")";
}

const Kernel& Image::kernel(const std::string& name) {
  if (const Kernel* known = kernels_.find(name)) return *known;
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
