// SPDX-License-Identifier: Apache-2.0
// Parses the schema lines of its input and prints the JSON of each line: compiled by
// line_parser.py. Input: lines, each with a NUL at the end. Output: a line of text for each.
//
// Every run of `kernkit add` compiles this file, so it includes no header of C++'s library.
#include <stdio.h>
#include <stdlib.h>

#include "kernkit/schema/diagnostics.h"
#include "kernkit/schema/line_json.h"
#include "kernkit/schema/parser.h"

namespace {

using kernkit::schema::Param;
using kernkit::schema::ParsedLine;
using kernkit::schema::ParseError;
using kernkit::schema::Schema;
using kernkit::schema::ShapeError;
using kernkit::schema::ShapeLine;
using kernkit::schema::Signature;
using kernkit::schema::Type;
using kernkit::schema::TypeName;

/// Prints the members "name" and "text" of an error: the enumerator, and what the parser expected.
/// `last` is the parameter or result at which the parser stopped.
void print_text(ParseError error, const char* line, const Param& last, bool is_result) {
  const char* name = "";
  const char* text = "";
  switch (error) {
    case ParseError::kNone: break;
    case ParseError::kOpenParenthesis: name = "kOpenParenthesis", text = "("; break;
    case ParseError::kType: name = "kType", text = "one of"; break;
    case ParseError::kAlias: name = "kAlias", text = "Tensor(a!), with a letter"; break;
    case ParseError::kList: name = "kList", text = "]: a list is written int[]"; break;
    case ParseError::kName: name = "kName", text = "a name"; break;
    case ParseError::kReservedName:
      name = "kReservedName", text = "a name that does not begin with __, which is reserved";
      break;
    case ParseError::kDuplicateName: name = "kDuplicateName", text = "another name than "; break;
    case ParseError::kDefault: name = "kDefault", text = "a default of "; break;
    case ParseError::kDefaultOrder: name = "kDefaultOrder", text = "a default of "; break;
    case ParseError::kSeparator: name = "kSeparator", text = ", or )"; break;
    case ParseError::kArrow: name = "kArrow", text = "->"; break;
    case ParseError::kReturns: name = "kReturns", text = ", or )"; break;
    case ParseError::kTrailing: name = "kTrailing", text = "the end"; break;
    case ParseError::kTooMany:
      name = "kTooMany", text = "at most 64 parameters and 8 results";
      break;
  }
  printf("\"name\":\"%s\",\"text\":\"%s", name, text);
  if (error == ParseError::kDuplicateName || error == ParseError::kDefaultOrder) {
    printf("%.*s, which %s", last.name.size, line + last.name.begin,
           error == ParseError::kDefaultOrder ? "follows a parameter that has a default"
           : is_result                        ? "two results have"
                                              : "two parameters have");
  }
  const char* separator = " ";
  for (const TypeName& entry : kernkit::schema::kTypeNames) {
    if (error == ParseError::kDefault && entry.type == last.type) printf("%s", entry.name);
    if (error == ParseError::kType) printf("%s%s", separator, entry.name);
    separator = ", ";
  }
  if (error == ParseError::kDefault && last.is_list) printf("[]");
  if (error == ParseError::kDefault && last.is_optional) printf("?");
  printf("\"");
}

/// Prints the JSON of a parsed line without the closing brace, so that the caller can add keys.
void print_line(const char* line, const Signature& schema, const ShapeLine* shapes) {
  const size_t size = kernkit::schema::write_json(line, schema, shapes, nullptr);
  char* json = static_cast<char*>(malloc(size));
  if (json == nullptr) abort();
  kernkit::schema::write_json(line, schema, shapes, json);
  fwrite(json, 1, size - 1, stdout);
  free(json);
}

bool has_more(const Param* values, int count, int most) {
  return count < most && values[count].type != Type::kNone;
}

void print(const char* line, const ParsedLine& parsed) {
  const Schema& schema = parsed.schema;
  Signature signature = {schema.num_params, schema.num_required, schema.num_returns, schema.params,
                         schema.returns};
  // An error in a shape can also make the parser of the schema line fail, for example if the shape
  // has no closing bracket. The error in the shape is then the error to report.
  const bool is_of_shape = parsed.shapes.error != ShapeError::kNone;
  if (schema.error == ParseError::kNone && !is_of_shape) {
    print_line(line, signature, schema.has_shapes ? &parsed.shapes : nullptr);
    printf("}\n");
    return;
  }
  const Param none;
  const Param* last = &none;
  if (has_more(schema.returns, schema.num_returns, kernkit::schema::kMaxReturns)) {
    last = &schema.returns[signature.num_returns++];
  } else if (has_more(schema.params, schema.num_params, kernkit::schema::kMaxParams)) {
    last = &schema.params[signature.num_params++];
  }
  print_line(line, signature, nullptr);
  printf(",\"error\":{");
  if (is_of_shape) {
    const auto error = shape_error_text(parsed.shapes.error);
    printf("\"name\":\"%s\",\"text\":\"%s\"", error.name, error.text);
  } else {
    print_text(schema.error, line, *last, signature.num_returns > schema.num_returns);
  }
  printf(",\"position\":%d,\"is_of_shape\":%s}}\n",
         is_of_shape ? parsed.shapes.position : schema.position, is_of_shape ? "true" : "false");
}

}  // namespace

int main() {
  static ParsedLine parsed;
  char* line = nullptr;
  size_t room = 0;
  while (getdelim(&line, &room, '\0', stdin) > 0) {
    parsed = kernkit::schema::parse_line(line);
    print(line, parsed);
  }
  free(line);
  return 0;
}
