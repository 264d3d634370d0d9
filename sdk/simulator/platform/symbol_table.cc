// SPDX-License-Identifier: Apache-2.0
#include "platform/symbol_table.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "platform/sanitizers.h"

namespace kernkit::simulator {
namespace {

using Visit = std::function<void(const char*, const ElfW(Sym)&)>;

void read_symbols(const unsigned char* file, size_t size, const Visit& visit) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(file);
  if (size < sizeof(*header) || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* names =
        reinterpret_cast<const char*>(file + sections[sections[i].sh_link].sh_offset);
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(file + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(*symbols); ++s) {
      if (symbols[s].st_shndx != SHN_UNDEF) visit(names + symbols[s].st_name, symbols[s]);
    }
  }
}

struct Search {
  uintptr_t address;
  std::string name;
  bool executable = false;
};

int search_module(dl_phdr_info* module, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool inside = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const uintptr_t first = module->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || search.address < first || search.address >= first + part.p_memsz)
      continue;
    inside = true;
    search.executable = (part.p_flags & PF_X) != 0;
  }
  if (!inside || !search.executable) return inside ? 1 : 0;
  each_symbol(*module, [&](const char* name, const ElfW(Sym) & symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        module->dlpi_addr + symbol.st_value == search.address) {
      search.name = name;
    }
  });
  return 1;
}

}  // namespace

void each_symbol(const dl_phdr_info& module, const Visit& visit) {
  const char* path = module.dlpi_name[0] == '\0' ? "/proc/self/exe" : module.dlpi_name;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) return;
  if (fstat(file, &status) == 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      limit_allocation(memory, size, size);  // earlier memory may have been poisoned
      read_symbols(static_cast<const unsigned char*>(memory), size, visit);
      munmap(memory, size);
    }
  }
  close(file);
}

std::string function_at(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(search_module, &search);
  return search.name;
}

bool is_code(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(search_module, &search);
  return search.executable;
}

}  // namespace kernkit::simulator
