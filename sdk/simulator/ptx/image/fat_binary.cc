// SPDX-License-Identifier: Apache-2.0
// Layout: the bytes that nvcc 13.0 writes. A wrapper {u32 magic, u32 version, data} points to a
// header {u32 magic, u16, u16 size of the header, u64 size of the entries}, followed by the
// entries. The wrapper of a program that nvcc -rdc=true linked has version 2 and a second pointer,
// to an array of the data of each linked object, which ends with a null pointer (crt/link.stub).
#include "ptx/image/fat_binary.h"

#include <cstring>

#include "executor.h"
#include "ptx/image/decompress.h"
#include "ptx/link/link_ptx.h"
#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kLinked = 2;  // version of a wrapper that lists linked objects
constexpr uint32_t kMagic = 0xba55ed50;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

template <class T>
T read(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// An entry begins with a header: {u16 kind; u16; u32 size of the header; u64 size of the code that
// follows; u32 compressed size, or 0; ...; u32 capability at byte 28; ...; u64 flags at byte 40;
// ...; u64 decompressed size at byte 56}.
FatEntry entry_at(const unsigned char* at) {
  FatEntry entry{};
  const auto header = read<uint32_t>(at + 4);
  const auto size = static_cast<size_t>(read<uint64_t>(at + 8));
  const auto compressed = read<uint32_t>(at + 16);
  entry.kind = read<uint16_t>(at);
  entry.capability = static_cast<int>(read<uint32_t>(at + 28));
  entry.flags = header >= 64 ? read<uint64_t>(at + 40) : 0;
  entry.code = at + header;
  const bool is_compressed = compressed != 0 && header >= 64;
  entry.size = is_compressed ? compressed : size;
  entry.decompressed_size = is_compressed ? static_cast<size_t>(read<uint64_t>(at + 56)) : 0;
  return entry;
}

// Returns the entries of the fat binary whose header is at `data`; an empty list if no header is
// there.
std::vector<FatEntry> entries_of(const unsigned char* data) {
  std::vector<FatEntry> entries;
  if (data == nullptr || read<uint32_t>(data) != kMagic) return entries;
  const unsigned char* at = data + read<uint16_t>(data + 6);
  const unsigned char* end = at + read<uint64_t>(data + 8);
  while (at < end) {
    entries.push_back(entry_at(at));
    at += read<uint32_t>(at + 4) + read<uint64_t>(at + 8);
  }
  return entries;
}

// Returns the entry whose PTX a device of the compute capability executes; null if no entry is
// suitable.
const FatEntry* choose(const std::vector<FatEntry>& entries, int capability) {
  std::vector<int> ptx, machine_code;
  for (const FatEntry& entry : entries) {
    if (entry.kind == FatEntry::kPtx) ptx.push_back(entry.capability);
    if (entry.kind == FatEntry::kMachineCode) machine_code.push_back(entry.capability);
  }
  const int chosen = choose_ptx(ptx, machine_code, capability);
  for (const FatEntry& entry : entries) {
    if (entry.kind == FatEntry::kPtx && entry.capability == chosen) return &entry;
  }
  return nullptr;
}

}  // namespace

std::vector<std::vector<FatEntry>> fat_binaries_of(const void* wrapper) {
  std::vector<std::vector<FatEntry>> all;
  const auto* outer = static_cast<const unsigned char*>(wrapper);
  if (outer == nullptr || read<uint32_t>(outer) != kWrapperMagic) return all;
  all.push_back(entries_of(read<const unsigned char*>(outer + 8)));
  if (read<uint32_t>(outer + 4) != kLinked) return all;
  const auto* objects = read<const unsigned char* const*>(outer + 16);
  for (; objects != nullptr && *objects != nullptr; ++objects) all.push_back(entries_of(*objects));
  return all;
}

std::string ptx_of(const FatEntry& entry) {
  std::string text;
  if (entry.decompressed_size == 0) {
    text.assign(reinterpret_cast<const char*>(entry.code), entry.size);
  } else if ((entry.flags & kZstd) != 0) {
    text = decompress_zstd(entry.code, entry.size, entry.decompressed_size);
  } else if ((entry.flags & kLz4) != 0) {
    text = decompress_lz4(entry.code, entry.size, entry.decompressed_size);
  } else {
    throw UnsupportedPtx("the PTX has an unsupported compression: build with nvcc's --no-compress");
  }
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::string ptx_for(const void* wrapper, int capability) {
  std::vector<std::string> modules;
  for (const std::vector<FatEntry>& entries : fat_binaries_of(wrapper)) {
    const FatEntry* const entry = choose(entries, capability);
    if (entry != nullptr) modules.push_back(ptx_of(*entry));
  }
  if (!modules.empty()) return link_ptx(modules);
  throw UnsupportedPtx("the program has no PTX for a device of compute capability " +
                       std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
                       ": add an architecture without -real to CMAKE_CUDA_ARCHITECTURES");
}

}  // namespace kernkit::simulator::ptx
