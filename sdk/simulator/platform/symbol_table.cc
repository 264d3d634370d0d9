// SPDX-License-Identifier: Apache-2.0
#include "platform/symbol_table.h"

#include <elf.h>

#include "platform/module_file.h"

namespace kernkit::simulator {
namespace {

// Finds the module whose code contains an address. Returns false if no module's code contains the
// address.
bool find_code(const void* address, dl_phdr_info* module) {
  if (!find_module(address, module)) return false;
  const ElfW(Phdr)* part = segment_at(*module, address);
  return part != nullptr && (part->p_flags & PF_X) != 0;
}

}  // namespace

void each_symbol(const dl_phdr_info& module,
                 const std::function<void(const char* name, const ElfW(Sym) & symbol)>& visit) {
  const ModuleFile file(module);
  const ElfW(Shdr)* table = file.section(SHT_SYMTAB);
  if (table == nullptr) return;
  file.each_symbol(*table, [&](const char* name, const ElfW(Sym) & symbol) {
    if (symbol.st_shndx != SHN_UNDEF) visit(name, symbol);
  });
}

std::string function_at(const void* address) {
  std::string symbol_name;
  dl_phdr_info module;
  if (!find_code(address, &module)) return symbol_name;
  each_symbol(module, [&](const char* name, const ElfW(Sym) & symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        module.dlpi_addr + symbol.st_value == reinterpret_cast<uintptr_t>(address)) {
      symbol_name = name;
    }
  });
  return symbol_name;
}

bool is_code(const void* address) {
  dl_phdr_info module;
  return find_code(address, &module);
}

}  // namespace kernkit::simulator
