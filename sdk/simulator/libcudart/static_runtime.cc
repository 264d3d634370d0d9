// SPDX-License-Identifier: Apache-2.0
// Redirects a CUDA runtime that is linked statically: in each function of the static runtime, a
// jump to this library's function of the same name replaces the first instructions.
//
// The addresses of the functions are in the file's symbol table (.symtab). A library of kernkit has
// a table of its own, which strip does not remove, see sdk/cmake/KernkitStaticRuntime.cmake.
//
// The jumps must be written before the constructors of the program or library run, since the
// constructors register kernels. The loader first runs the function _init() of each file, which the
// C library's crti.o contains. _init() calls __gmon_start__() if any loaded library defines this
// function. This library defines __gmon_start__(), so the function also runs for each file that
// dlopen() loads later. A program that is compiled with -pg has a __gmon_start__() of its own;
// libraries that such a program loads later are not redirected.
#include "libcudart/static_runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcudart/init.h"
#include "platform/module_file.h"
#include "runtime/registration.h"

namespace kernkit::simulator {
namespace {

#if defined(__x86_64__)
constexpr unsigned char kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
#elif defined(__aarch64__)
constexpr unsigned char kJump[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6};  // ldr x16, .+8; br x16
#else
#error "the instructions of a jump to an address that follows them are missing for this processor"
#endif
constexpr size_t kJumpSize = sizeof(kJump) + sizeof(void*);

// The prefix of the names of internal functions in NVIDIA's static runtime.
constexpr const char* kInternal = "libcudart_static_";
// A function of CUDA 12 and earlier that CUDA 13 lacks. A static runtime with this function is too
// old to be replaced.
constexpr const char* kRemoved = "cudaThreadSynchronize";
// Prefix of the symbol of the table that kernkit_add_library() adds to a library; CUDA's version
// follows. The table stores, for each function, the function's address minus the table's address
// (int32_t) and the zero-terminated name. A difference of 0 ends the table.
constexpr const char* kTable = "kernkit_static_runtime_";
constexpr const char* kVersion = "13";

// Names of NVIDIA's libraries that contain host functions and kernels.
constexpr const char* kOfNvidia[] = {"libcublas",   "libcudnn",  "libcudss",    "libcufft",
                                     "libcufile",   "libcurand", "libcusolver", "libcusparse",
                                     "libcutensor", "libnccl",   "libnpp",      "libnvjpeg"};
constexpr const char* kShared = "link it with nvcc's -cudart shared";
constexpr const char* kOld =
    "the CUDA runtime of CUDA 12 or earlier is linked into it statically, and kernkit replaces "
    "only the runtime of CUDA 13: compile it with CUDA 13";
constexpr const char* kLinked = "the CUDA runtime is linked into it statically, and ";
constexpr const char* kStripped =
    "its symbol table is stripped, so its kernels do not run: build it without strip and "
    "without the linker's option -s, or ";

struct StaticRuntime {
  bool is_old = false;                     // whether this is a runtime of CUDA 12 or earlier
  std::map<uintptr_t, std::string> names;  // functions by address
  std::vector<uintptr_t> starts;           // addresses of all functions of the file, sorted
};

bool is_of_runtime(const char* name) {
  return std::strncmp(name, "cuda", 4) == 0 || std::strncmp(name, "__cuda", 6) == 0;
}

// Reads the functions of a static runtime from the symbol table of its file.
StaticRuntime read_symbols(const ModuleFile& file, const ElfW(Shdr) & table, uintptr_t base) {
  StaticRuntime found;
  file.each_symbol(table, [&](const char* name, const ElfW(Sym) & symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return;
    found.starts.push_back(base + symbol.st_value);
    if (!is_of_runtime(name)) return;
    found.is_old = found.is_old || std::strcmp(name, kRemoved) == 0;
    std::string& known = found.names[base + symbol.st_value];
    // If two functions have the same address, keeps the shorter name, which has no suffix such as
    // _ptsz.
    if (known.empty() || std::strlen(name) < known.size()) known = name;
  });
  std::sort(found.starts.begin(), found.starts.end());
  return found;
}

// Reads the functions of a static runtime from the table that kernkit_add_library() added, see
// kTable.
StaticRuntime read_table(uintptr_t table) {
  StaticRuntime found;
  const auto* entry = reinterpret_cast<const char*>(table);
  for (int32_t distance;; entry += std::strlen(entry) + 1) {
    std::memcpy(&distance, entry, sizeof(distance));
    if (distance == 0) break;
    entry += sizeof(distance);
    const uintptr_t address = table + static_cast<uintptr_t>(intptr_t{distance});
    found.names[address] = entry;
    found.starts.push_back(address);
  }
  std::sort(found.starts.begin(), found.starts.end());
  return found;
}

// Prints the first problem of a program or library; later problems of the same file are not
// printed.
void report(const dl_phdr_info& module, const std::string& problem) {
  static auto& reported = *new std::set<std::string>;
  const std::string path = path_of(module);
  if (!reported.insert(path).second) return;
  std::fprintf(stderr, "kernkit: %s: %s\n", path.c_str(), problem.c_str());
}

// Returns the handle of this library for dlsym(). In the first call dlopen() may run the library's
// constructor, which calls this function again.
void* this_library() {
  static void* handle = nullptr;
  if (handle == nullptr) {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&redirect_static_runtimes), &self);
    handle = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  return handle;
}

void write_jump(uintptr_t from, const void* target) {
  auto* code = reinterpret_cast<unsigned char*>(from);
  std::memcpy(code, kJump, sizeof(kJump));
  std::memcpy(code + sizeof(kJump), &target, sizeof(target));
  auto* begin = reinterpret_cast<char*>(code);
  __builtin___clear_cache(begin, begin + kJumpSize);
}

// Returns whether a jump at this address ends before the next function.
bool has_room(const StaticRuntime& runtime, uintptr_t address) {
  const auto next = std::upper_bound(runtime.starts.begin(), runtime.starts.end(), address);
  return next == runtime.starts.end() || *next - address >= kJumpSize;
}

void redirect(const dl_phdr_info& module, const StaticRuntime& runtime) {
  void* const library = this_library();
  start_runtime();
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t first = module.dlpi_addr + part.p_vaddr, last = first + part.p_memsz;
    auto* const begin = reinterpret_cast<void*>(first & ~(page - 1));
    const size_t size = last - (first & ~(page - 1));
    if (mprotect(begin, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
      const std::string reason = std::strerror(errno);
      return report(module, kLinked + ("its code cannot be replaced (" + reason + "): ") + kShared);
    }
    for (const auto& [address, name] : runtime.names) {
      if (address < first || address + kJumpSize > last) continue;
      const void* const target = dlsym(library, name.c_str());
      if (target == nullptr) continue;
      if (has_room(runtime, address)) {
        write_jump(address, target);
      } else {
        report(module, kLinked + name + "() has no room for a jump: " + kShared);
      }
    }
    mprotect(begin, size, PROT_READ | PROT_EXEC | ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0));
  }
}

// Returns whether a file is one of NVIDIA's libraries. Their stripped static runtimes cannot be
// replaced, and are not reported.
bool is_of_nvidia(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto starts = [&](const char* with) { return name.rfind(with, 0) == 0; };
  return std::any_of(std::begin(kOfNvidia), std::end(kOfNvidia), starts);
}

// Returns whether a fat binary in this section of a loaded module contains PTX.
bool has_ptx(const dl_phdr_info& module, const ElfW(Shdr) & section) {
  constexpr size_t kWrapperSize = 24;  // [bytes]
  for (size_t at = 0; at + kWrapperSize <= section.sh_size; at += kWrapperSize) {
    const auto* wrapper = reinterpret_cast<const void*>(module.dlpi_addr + section.sh_addr + at);
    if (!read_fat_binary(wrapper).ptx.empty()) return true;
  }
  return false;
}

// Handles a module whose symbol table is missing or does not name the static runtime's functions.
// If the module contains the table of kernkit_add_library(), redirects the static runtime;
// otherwise reports a static runtime that cannot be replaced. `is_stripped`: the module has no
// symbol table.
void redirect_by_table(const dl_phdr_info& module, const ModuleFile& file, bool is_stripped) {
  const ElfW(Shdr)* fat_binaries = file.section(".nvFatBinSegment");
  const ElfW(Shdr)* exported = file.section(SHT_DYNSYM);
  if (fat_binaries == nullptr || exported == nullptr) return;
  bool is_shared = false, is_old = false;
  uintptr_t table = 0;
  file.each_symbol(*exported, [&](const char* name, const ElfW(Sym) & symbol) {
    is_shared = is_shared || std::strcmp(name, "__cudaRegisterFatBinary") == 0;
    if (std::strncmp(name, kTable, std::strlen(kTable)) != 0) return;
    if (std::strcmp(name + std::strlen(kTable), kVersion) == 0) {
      table = module.dlpi_addr + symbol.st_value;
    } else {
      is_old = true;
    }
  });
  if (is_shared) return;
  if (table != 0) {
    redirect(module, read_table(table));
  } else if (is_old) {
    report(module, kOld);
  } else if (is_stripped && has_ptx(module, *fat_binaries) && !is_of_nvidia(path_of(module))) {
    report(module, std::string(kLinked) + kStripped + kShared);
  }
}

void redirect_static_runtime(const dl_phdr_info& module) {
  const ModuleFile file(module);
  const ElfW(Shdr)* table = file.section(SHT_SYMTAB);
  if (table == nullptr || !file.has_text(table->sh_link, kInternal)) {
    return redirect_by_table(module, file, table == nullptr);
  }
  const StaticRuntime runtime = read_symbols(file, *table, module.dlpi_addr);
  if (runtime.is_old) return report(module, kOld);
  redirect(module, runtime);
}

int add_module(dl_phdr_info* module, size_t, void* modules) {
  static_cast<std::vector<dl_phdr_info>*>(modules)->push_back(*module);
  return 0;
}

}  // namespace

void redirect_static_runtimes() {
  std::vector<dl_phdr_info> modules;
  dl_iterate_phdr(add_module, &modules);
  for (const dl_phdr_info& module : modules) redirect_static_runtime(module);
}

}  // namespace kernkit::simulator

extern "C" void __gmon_start__() {
  using namespace kernkit::simulator;  // NOLINT(build/namespaces)
  dl_phdr_info module;
  if (find_module(__builtin_return_address(0), &module)) redirect_static_runtime(module);
}
