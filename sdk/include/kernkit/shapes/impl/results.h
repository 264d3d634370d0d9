// SPDX-License-Identifier: Apache-2.0
// check_new(): compares results with all other tensors of a call.
#pragma once

#include "kernkit/error.h"
#include "kernkit/memory/overlap.h"
#include "kernkit/shapes/results.h"

namespace kernkit::shapes {

namespace detail {

/// Appends the name that the schema line gives to a parameter or a result.
KERNKIT_COLD Message& write_name(Message& out, const char* text, const schema::Param& value) {
  for (int i = 0; i < value.name.size; ++i) {
    const char c[] = {text[value.name.begin + i], '\0'};
    out << c;
  }
  return out;
}

[[noreturn]] KERNKIT_COLD void throw_shared(const char* text, const schema::Param& result,
                                            const schema::Param& other, const char* what) {
  Message& message = *new Message;
  write_name(message, text, result) << ": the result shares memory with the " << what << " ";
  write_name(message, text, other)
      << "; a result with a shape in the schema line must be new memory: return a copy, or remove "
         "the shape from the schema line";
  throw Error(kind::RuntimeError, &message);
}

[[noreturn]] KERNKIT_COLD void throw_stored(const char* text, const schema::Param& result,
                                            uint32_t owners) {
  Message& message = *new Message;
  write_name(message, text, result)
      << ": the result has " << owners
      << " owners; a result with a shape in the schema line must be new memory that only the "
         "caller owns: return a copy, or remove the shape from the schema line";
  throw Error(kind::RuntimeError, &message);
}

KERNKIT_COLD bool shares(const Tensor& result, const DLTensor* other) {
  return other != nullptr && overlaps(result.read_only_view(), TensorView(other));
}

}  // namespace detail

KERNKIT_COLD void check_new(const schema::Signature& schema, const char* text, const Value* results,
                            const Tensor* const* tensors, const CallValue* values) {
  for (int r = 0; r < schema.num_returns; ++r) {
    if (tensors[r] == nullptr || !results[r].has_shape) continue;
    const Tensor& result = *tensors[r];
    for (int v = 0; v < schema.num_params; ++v) {
      bool is_shared = detail::shares(result, values[v].tensor);
      for (size_t i = 0; values[v].list != nullptr && i < values[v].list->size(); ++i) {
        is_shared |= detail::shares(result, (*values[v].list)[i].get());
      }
      if (is_shared) detail::throw_shared(text, schema.returns[r], schema.params[v], "argument");
    }
    for (int other = 0; other < schema.num_returns; ++other) {
      if (other == r || tensors[other] == nullptr) continue;
      if (detail::shares(result, tensors[other]->get())) {
        detail::throw_shared(text, schema.returns[r], schema.returns[other], "result");
      }
    }
    if (result.use_count() > 1) detail::throw_stored(text, schema.returns[r], result.use_count());
  }
}

}  // namespace kernkit::shapes
