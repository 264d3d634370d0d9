// SPDX-License-Identifier: Apache-2.0
#include "platform/module_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "platform/sanitizers.h"

namespace kernkit::simulator {
namespace {

constexpr const char* kProgram = "/proc/self/exe";

const char* file_of(const dl_phdr_info& module) {
  return module.dlpi_name == nullptr || module.dlpi_name[0] == '\0' ? kProgram : module.dlpi_name;
}

struct Search {
  const void* address;
  dl_phdr_info* module;
};
int compare(dl_phdr_info* module, size_t, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  if (segment_at(*module, search.address) == nullptr) return 0;
  *search.module = *module;
  return 1;
}

}  // namespace

ModuleFile::ModuleFile(const dl_phdr_info& module) {
  const int file = open(file_of(module), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      // Memory that was previously mapped at these addresses may have been poisoned, so the mapping
      // is made accessible.
      limit_allocation(memory, size, size);
      bytes_ = static_cast<const unsigned char*>(memory);
      size_ = size;
    }
  }
  close(file);
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes_);
  if (!holds(0, sizeof(*header)) || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const size_t segments = header->e_phnum * sizeof(ElfW(Phdr));
  if (!holds(header->e_phoff, segments) || header->e_phnum != module.dlpi_phnum ||
      std::memcmp(bytes_ + header->e_phoff, module.dlpi_phdr, segments) != 0) {
    return;  // the file was replaced after it was loaded
  }
  if (!holds(header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr)))) return;
  sections_ = reinterpret_cast<const ElfW(Shdr)*>(bytes_ + header->e_shoff);
  count_ = header->e_shnum;
  if (header->e_shstrndx < count_) names_ = &sections_[header->e_shstrndx];
}

ModuleFile::~ModuleFile() {
  if (bytes_ != nullptr) munmap(const_cast<unsigned char*>(bytes_), size_);
}

const ElfW(Shdr) * ModuleFile::section(unsigned type) const {
  for (size_t i = 0; i < count_; ++i) {
    if (sections_[i].sh_type == type && holds(sections_[i].sh_offset, sections_[i].sh_size)) {
      return &sections_[i];
    }
  }
  return nullptr;
}

const ElfW(Shdr) * ModuleFile::section(const char* name) const {
  for (size_t i = 0; i < count_ && names_ != nullptr; ++i) {
    if (std::strcmp(text_at(*names_, sections_[i].sh_name), name) == 0) return &sections_[i];
  }
  return nullptr;
}

bool ModuleFile::has_text(unsigned table, const char* text) const {
  if (table >= count_) return false;
  const ElfW(Shdr)& strings = sections_[table];
  return holds(strings.sh_offset, strings.sh_size) &&
         memmem(bytes_ + strings.sh_offset, strings.sh_size, text, std::strlen(text)) != nullptr;
}

// Returns the text at an offset of a string table; "" if the text does not end within the table.
const char* ModuleFile::text_at(const ElfW(Shdr) & strings, size_t offset) const {
  if (!holds(strings.sh_offset, strings.sh_size) || offset >= strings.sh_size) return "";
  const auto* text = reinterpret_cast<const char*>(bytes_ + strings.sh_offset + offset);
  return std::memchr(text, 0, strings.sh_size - offset) != nullptr ? text : "";
}

void ModuleFile::each_symbol(
    const ElfW(Shdr) & table,
    const std::function<void(const char* name, const ElfW(Sym) & symbol)>& visit) const {
  if (table.sh_link >= count_) return;
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(bytes_ + table.sh_offset);
  for (size_t i = 0; i < table.sh_size / sizeof(*symbols); ++i) {
    visit(text_at(sections_[table.sh_link], symbols[i].st_name), symbols[i]);
  }
}

bool find_module(const void* address, dl_phdr_info* module) {
  Search search{address, module};
  return dl_iterate_phdr(compare, &search) != 0;
}

const ElfW(Phdr) * segment_at(const dl_phdr_info& module, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    const uintptr_t first = module.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at >= first && at < first + part.p_memsz) return &part;
  }
  return nullptr;
}

std::string path_of(const dl_phdr_info& module) {
  std::string path = file_of(module);
  if (path != kProgram) return path;
  char program[PATH_MAX];
  const ssize_t size = readlink(kProgram, program, sizeof(program));
  return size > 0 ? std::string(program, static_cast<size_t>(size)) : path;
}

}  // namespace kernkit::simulator
