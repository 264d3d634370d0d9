// SPDX-License-Identifier: Apache-2.0
// The symbols of the program and its libraries, those that they do not export included.
#pragma once

#include <link.h>

#include <functional>
#include <string>

namespace kernkit::simulator {

/// Calls visit(name, symbol) for each symbol in the file of a module; none when it is stripped.
void each_symbol(const dl_phdr_info& module,
                 const std::function<void(const char* name, const ElfW(Sym) & symbol)>& visit);

/// The mangled name of the function that begins at this address, or "".
std::string function_at(const void* address);
/// Whether an address is in the code of a module; the module may have no symbols.
bool is_code(const void* address);

}  // namespace kernkit::simulator
