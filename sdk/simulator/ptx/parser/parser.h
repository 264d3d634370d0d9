// SPDX-License-Identifier: Apache-2.0
// Reads PTX text; throws a UnsupportedPtx where it is no PTX.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/parser/lexer.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

std::unique_ptr<Module> parse_module(std::string text);
std::vector<Statement> parse_body(const Function& function);
/// Whether an instruction is of PTX ISA, "Texture Instructions" or "Surface Instructions", by its
/// first word. Operands of such an instruction are not read: none is supported.
bool uses_texture(const std::string& name);

/// Behind the space of a variable: `.align 4 .b8 name[16] = {1, 2}`.
Variable parse_variable(Lexer& lexer, const std::string& space);
Operand parse_operand(Lexer& lexer);
/// `(.param .b64 a, .reg .b32 b)`; empty if there is none.
std::vector<Variable> parse_variables(Lexer& lexer);

}  // namespace kernkit::simulator::ptx
