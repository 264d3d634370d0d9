// SPDX-License-Identifier: Apache-2.0
// The ELF file of the program or of a loaded library, for what the loader does not map: sections
// and symbols that are not exported.
#pragma once

#include <link.h>

#include <cstddef>
#include <functional>
#include <string>

namespace kernkit::simulator {

class ModuleFile {
 public:
  /// Maps the file. A file that is missing, or was replaced since it was loaded, has no sections.
  explicit ModuleFile(const dl_phdr_info& module);
  ~ModuleFile();
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  /// Returns the first section of a type, such as SHT_SYMTAB; null without such a section.
  const ElfW(Shdr) * section(unsigned type) const;
  /// Returns the first section with a name, such as ".text"; null without such a section.
  const ElfW(Shdr) * section(const char* name) const;
  /// Returns whether a string table contains a text. `table` is the index of the table's section.
  bool has_text(unsigned table, const char* text) const;
  /// Calls visit(name, symbol) for each symbol of a symbol table, undefined symbols included.
  void each_symbol(
      const ElfW(Shdr) & table,
      const std::function<void(const char* name, const ElfW(Sym) & symbol)>& visit) const;

 private:
  bool holds(size_t offset, size_t size) const { return offset <= size_ && size <= size_ - offset; }
  const char* text_at(const ElfW(Shdr) & strings, size_t offset) const;

  const unsigned char* bytes_ = nullptr;
  size_t size_ = 0;
  const ElfW(Shdr) * sections_ = nullptr;
  size_t count_ = 0;
  const ElfW(Shdr) * names_ = nullptr;  // names of sections
};

/// Finds the module (the program or a library) that contains an address. Returns false if no module
/// contains the address.
bool find_module(const void* address, dl_phdr_info* module);
/// Returns the loaded segment of a module that contains an address; null if no segment contains the
/// address.
const ElfW(Phdr) * segment_at(const dl_phdr_info& module, const void* address);
/// Returns the path of a module's file.
std::string path_of(const dl_phdr_info& module);

}  // namespace kernkit::simulator
