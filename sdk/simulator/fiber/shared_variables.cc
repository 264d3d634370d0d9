// SPDX-License-Identifier: Apache-2.0
#include "fiber/shared_variables.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include "platform/sanitizers.h"
#include "platform/symbol_table.h"

extern "C" void* __tls_get_addr(void* module_and_offset);

namespace kernkit::simulator {
namespace {

struct Variable {
  size_t location[2];  // argument of __tls_get_addr(): {module, offset}
  size_t size;
};
std::vector<Variable>& variables() {
  static auto& all = *new std::vector<Variable>;
  return all;
}
// Guards next to the __shared__ variables. fill_shared_variables() makes the guards inaccessible,
// so that AddressSanitizer reports accesses past the end of a variable.
std::vector<Variable>& guards() {
  static auto& all = *new std::vector<Variable>;
  return all;
}

int read_module(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_tls_modid == 0) return 0;
  each_symbol(*info, [&](const char* name, const ElfW(Sym) & symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS) return;
    const Variable variable = {{info->dlpi_tls_modid, symbol.st_value}, symbol.st_size};
    if (std::strstr(name, "B14kernkit_shared") != nullptr) variables().push_back(variable);
    if (std::strstr(name, "B13kernkit_guard") != nullptr) guards().push_back(variable);
  });
  return 0;
}

int count_modules(dl_phdr_info* info, size_t, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_adds;
  return 1;
}

}  // namespace

void find_shared_variables() {
  static unsigned long long counted = 0;
  unsigned long long loaded = 0;
  dl_iterate_phdr(count_modules, &loaded);
  if (loaded == counted) return;
  counted = loaded;
  variables().clear();
  guards().clear();
  dl_iterate_phdr(read_module, nullptr);
}

void fill_shared_variables(unsigned char value) {
  for (Variable& variable : variables()) {
    std::memset(__tls_get_addr(variable.location), value, variable.size);
  }
  for (Variable& guard : guards()) limit_allocation(__tls_get_addr(guard.location), 0, guard.size);
}

}  // namespace kernkit::simulator
