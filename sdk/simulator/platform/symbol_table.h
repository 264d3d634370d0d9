// SPDX-License-Identifier: Apache-2.0
// The symbols of the program and its libraries, including symbols that are not exported.
#pragma once

#include <link.h>

#include <functional>
#include <string>

namespace kernkit::simulator {

/// Calls visit(name, symbol) for each defined symbol in the file of a module, unless the file is
/// stripped.
void each_symbol(const dl_phdr_info& module,
                 const std::function<void(const char* name, const ElfW(Sym) & symbol)>& visit);

/// Returns the mangled name of the function that begins at this address; "" if the function has no
/// symbol.
std::string function_at(const void* address);
/// Returns whether an address is in the code of a module. Needs no symbols.
bool is_code(const void* address);

}  // namespace kernkit::simulator
