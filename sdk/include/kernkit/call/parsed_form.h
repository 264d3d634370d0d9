// SPDX-License-Identifier: Apache-2.0
// parsed_form(): the parsed schema line of an op as JSON. The JSON is made at compile time and
// stored in the library's file, from which tools read it.
#pragma once

#include "kernkit/base/fixed_text.h"
#include "kernkit/schema/line_json.h"

namespace kernkit::detail {

/// Size of the JSON of a parsed schema line [bytes]. `Line` has the functions text(), signature()
/// and shapes(); shapes() returns null for a schema line without shapes.
template <class Line>
inline constexpr size_t kJsonSize = schema::write_json(Line::text(), Line::signature(),
                                                       Line::shapes(), nullptr);

/// "name: {...}", in the form of section "kernkit_parsed".
template <class Line, size_t N>
constexpr FixedText<N + 2 + kJsonSize<Line>> parsed_form(const char (&name)[N]) {
  FixedText<N + 2 + kJsonSize<Line>> result{};
  char* const json = append(append(result.text, name), ": ");
  schema::write_json(Line::text(), Line::signature(), Line::shapes(), json);
  return result;
}

}  // namespace kernkit::detail
