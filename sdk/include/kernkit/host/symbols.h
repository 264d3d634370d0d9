// SPDX-License-Identifier: Apache-2.0
// The names that a loaded library exports, read from its dynamic symbol table in memory.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include <string>
#include <vector>

namespace kernkit::detail {

/// The tables to which the DT_* entries of a loaded library point.
struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* sysv_hash = nullptr;

  explicit DynamicTables(const link_map* map) {
    for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
      // glibc has already added the library's base address to the entry; musl has not.
      ElfW(Addr) address = entry->d_un.d_ptr;
      if (address < map->l_addr) address += map->l_addr;
      const auto* table = reinterpret_cast<const void*>(address);
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols = static_cast<const ElfW(Sym)*>(table); break;
        case DT_STRTAB: strings = static_cast<const char*>(table); break;
        case DT_GNU_HASH: gnu_hash = static_cast<const uint32_t*>(table); break;
        case DT_HASH: sysv_hash = static_cast<const uint32_t*>(table); break;
        default: break;
      }
    }
  }

  /// Number of symbols in the symbol table, computed from a hash table, because no DT_* entry
  /// contains the number.
  size_t count() const {
    if (sysv_hash != nullptr) return sysv_hash[1];
    if (gnu_hash == nullptr) return 0;
    const uint32_t num_buckets = gnu_hash[0], first = gnu_hash[1], bloom_words = gnu_hash[2];
    const uint32_t* buckets = gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t* chains = buckets + num_buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < num_buckets; ++i) last = buckets[i] > last ? buckets[i] : last;
    if (last < first) return first;
    while ((chains[last - first] & 1) == 0) ++last;  // bit 0 marks the end of a chain
    return last + 1;
  }
};

/// Returns the names of the functions that a library defines and that begin with `prefix`, in the
/// order of the symbol table. `library` is a handle of dlopen().
inline std::vector<std::string> exported_functions(void* library, const std::string& prefix) {
  std::vector<std::string> names;
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return names;
  const DynamicTables tables(map);
  if (tables.symbols == nullptr || tables.strings == nullptr) return names;
  const size_t count = tables.count();
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    const bool is_function = (symbol.st_info & 0xf) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    const char* name = tables.strings + symbol.st_name;
    if (is_function && strncmp(name, prefix.c_str(), prefix.size()) == 0) names.emplace_back(name);
  }
  return names;
}

}  // namespace kernkit::detail
