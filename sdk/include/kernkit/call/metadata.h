// SPDX-License-Identifier: Apache-2.0
// Documentation and signature of an exported op, as text objects of the host.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/call/parsed_form.h"
#include "kernkit/call/result.h"
#include "kernkit/host_api/raise.h"

namespace kernkit::detail {

/// Returns the JSON {"type_schema": "<the host's form, as a string>", "schema": "<the schema
/// line>", "arguments": [...], "parsed": {...}}. The last three entries hold names, defaults and
/// the tensors that the op writes, which the host's form lacks. `text` is the schema line, and
/// `parsed` the JSON of parsed_form().
[[gnu::cold]] Message metadata_json(const schema::Signature& line, const char* text,
                                    const char* parsed);

/// Stores the JSON of metadata_json() in *result. `text` and `parsed` are the op's entries in the
/// ELF sections kernkit_schema and kernkit_parsed.
template <class Line>
int return_metadata(const char* text, const char* parsed, KernkitAny* result) noexcept {
  try {
    const Message json = metadata_json(Op<Line>::signature(), text, parsed);
    set_string(result, json.c_str(), json.size());
    return 0;
  } catch (...) {
    return raise_current_exception(Line::kName, Line::kLocation);
  }
}

/// Same as return_metadata(), for a schema line that each query parses at run time.
[[gnu::cold]] int return_metadata_of(const char* text, const char* parsed, const char* op,
                                     SourceLocation location, KernkitAny* result) noexcept;

template <class Line>
int return_doc(const char* doc, KernkitAny* result) noexcept {
  try {
    set_string(result, doc, strlen(doc));
    return 0;
  } catch (...) {
    return raise_current_exception(Line::kName, Line::kLocation);
  }
}

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/call/impl/metadata.h"
#endif
