// SPDX-License-Identifier: Apache-2.0
// Checks that results with a shape in the schema line are new memory.
//
// A framework's compiler relies on the line: it writes into results and arguments that it no longer
// needs, as if no other tensor had that memory.
#pragma once

#include <utility>

#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/call_values.h"
#include "kernkit/shapes/line_view.h"

namespace kernkit::shapes {

/// True for std::tuple, std::pair and other types with a std::tuple_size above 0.
template <class T, class = void>
inline constexpr bool kIsTuple = false;
template <class T>
inline constexpr bool kIsTuple<T, std::enable_if_t<(std::tuple_size<T>::value > 0)>> = true;

/// Returns the address of a result that is a tensor, valid as long as the result; null for an
/// undefined Tensor. Throws nothing.
inline const Tensor* tensor_of(const Tensor& result) {
  return result.defined() ? &result : nullptr;
}
/// Returns null for a result that is not a tensor. Throws nothing.
template <class T>
const Tensor* tensor_of(const T&) {
  return nullptr;
}

/// Throws RuntimeError if a result with a shape in the schema line shares memory with an argument
/// or with another result, or has more than one owner because the op keeps it. Memory is shared if
/// overlaps() returns true; no elements are read. Throws ValueError for a tensor whose elements
/// cannot be counted. `text` is the schema line. `results` and `tensors` have one element for each
/// result (a null tensor is not checked), and `values` has one value for each parameter.
void check_new(const schema::Signature& schema, const char* text, const Value* results,
               const Tensor* const* tensors, const CallValue* values);

/// Checks the results of a call. Throws RuntimeError if a result with a shape in the schema line is
/// not new memory, as check_new() does. `values` has one value for each parameter of the call.
/// `result...` are the results of the call, in the order of the schema line.
template <class Line, class Checks, class... Result>
KERNKIT_LOCAL void check_results(const CallValue* values, const Result&... result) {
  constexpr int kParams = Checks::kSchema.num_params;
  static constexpr kernkit::detail::First<Value, Checks::kSchema.num_returns> kValues{
      Checks::kLine.values + kParams};
  const Tensor* const tensors[] = {tensor_of(result)..., nullptr};
  check_new(kernkit::detail::Op<Line>::signature(), Line::kSchema, kValues.at, tensors, values);
}

}  // namespace kernkit::shapes

#if !defined(KERNKIT_COMPILED)
#include "kernkit/shapes/impl/results.h"
#endif
