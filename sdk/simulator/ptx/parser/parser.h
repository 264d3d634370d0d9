// SPDX-License-Identifier: Apache-2.0
// Parser of PTX text. Throws UnsupportedPtx for text that is not PTX.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/parser/lexer.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

std::unique_ptr<Module> parse_module(std::string text);
std::vector<Statement> parse_body(const Function& function);
/// Returns whether a mnemonic is in PTX ISA, "Texture Instructions" or "Surface Instructions".
/// These instructions are not supported, and their operands are not parsed.
bool uses_texture(const std::string& name);

/// Parses the declaration of a variable after its state space: `.align 4 .b8 name[16] = {1, 2}`.
Variable parse_variable(Lexer& lexer, const std::string& space);
Operand parse_operand(Lexer& lexer);
/// Parses `(.param .b64 a, .reg .b32 b)`; returns an empty list if the next token is not an opening
/// parenthesis.
std::vector<Variable> parse_variables(Lexer& lexer);

}  // namespace kernkit::simulator::ptx
