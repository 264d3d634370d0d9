// SPDX-License-Identifier: Apache-2.0
// Prints the SDK's parse of each schema line of its input: built by test_shapes.py.
#include <iostream>
#include <memory>
#include <string>

#include "kernkit/schema/parser.h"

namespace {

using kernkit::schema::Param;
using kernkit::schema::ParsedLine;
using kernkit::schema::Span;

std::string text(const std::string& line, Span span) {
  return line.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.size));
}

void print(const std::string& line, const Param& param, const kernkit::schema::Value& value) {
  std::cout << "|" << static_cast<int>(param.type) << param.is_list << param.is_optional
            << param.is_written << param.is_only_written << param.is_alias << " "
            << text(line, param.name) << "=" << text(line, param.default_source) << " "
            << value.has_shape << " " << value.count << " " << value.run;
}

void read(const std::string& line) {
  const auto parsed = std::make_unique<ParsedLine>(kernkit::schema::parse_line(line.c_str()));
  const kernkit::schema::Schema& schema = parsed->schema;
  const kernkit::schema::ShapeLine* shapes = &parsed->shapes;
  if (schema.error != kernkit::schema::ParseError::kNone) {
    std::cout << "rejected\n";
    return;
  }
  if (shapes->error != kernkit::schema::ShapeError::kNone) {
    std::cout << "rejected\n";
    return;
  }
  std::cout << "accepted";
  for (int i = 0; i < schema.num_params; ++i) print(line, schema.params[i], shapes->values[i]);
  std::cout << "|->";
  for (int i = 0; i < schema.num_returns; ++i) {
    print(line, schema.returns[i], shapes->values[schema.num_params + i]);
  }
  if (schema.has_shapes) std::cout << "|" << shapes->run_of << " " << shapes->like;
  for (int i = 0; i < shapes->num_names; ++i) {
    const kernkit::schema::Name& name = shapes->names[i];
    if (name.is_parameter || name.value < 0) continue;
    std::cout << "|" << text(line, name.text) << " " << name.value << " " << name.place << " "
              << name.factor << " " << name.is_always_bound;
  }
  std::cout << "\n";
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) read(line);
}
