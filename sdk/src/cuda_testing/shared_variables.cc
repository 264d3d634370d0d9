// SPDX-License-Identifier: Apache-2.0
#include "shared_variables.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sanitizers.h"

extern "C" void* __tls_get_addr(void* module_and_offset);

namespace kernkit::testing {
namespace {

struct Variable {
  size_t where[2];  // module, offset
  size_t size;
};
std::vector<Variable>& variables() {
  static auto& all = *new std::vector<Variable>;
  return all;
}
// What nobody may touch.
std::vector<Variable>& guards() {
  static auto& all = *new std::vector<Variable>;
  return all;
}

void read_symbols(const unsigned char* file, size_t size, size_t module) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(file);
  if (size < sizeof(*header) || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* names =
        reinterpret_cast<const char*>(file + sections[sections[i].sh_link].sh_offset);
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(file + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(*symbols); ++s) {
      const ElfW(Sym)& symbol = symbols[s];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
      const Variable variable = {{module, symbol.st_value}, symbol.st_size};
      const char* name = names + symbol.st_name;
      if (std::strstr(name, "B14kernkit_shared") != nullptr) variables().push_back(variable);
      if (std::strstr(name, "B13kernkit_guard") != nullptr) guards().push_back(variable);
    }
  }
}

int read_module(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_tls_modid == 0) return 0;
  const char* path = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) return 0;
  if (fstat(file, &status) == 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      read_symbols(static_cast<const unsigned char*>(memory), size, info->dlpi_tls_modid);
      munmap(memory, size);
    }
  }
  close(file);
  return 0;
}

int count_modules(dl_phdr_info* info, size_t, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_adds;
  return 1;
}

}  // namespace

void find_shared_variables() {
  static unsigned long long known = 0;
  unsigned long long loaded = 0;
  dl_iterate_phdr(count_modules, &loaded);
  if (loaded == known) return;
  known = loaded;
  variables().clear();
  guards().clear();
  dl_iterate_phdr(read_module, nullptr);
}

void fill_shared_variables(unsigned char value) {
  for (Variable& variable : variables()) {
    std::memset(__tls_get_addr(variable.where), value, variable.size);
  }
  for (Variable& guard : guards()) limit_allocation(__tls_get_addr(guard.where), 0, guard.size);
}

}  // namespace kernkit::testing
