// SPDX-License-Identifier: Apache-2.0
// Calls from XLA: what it hands over, put into the order of the line.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/host_api/raise.h"
#include "kernkit/shapes/xla_results.h"

namespace kernkit::shapes {

/// XLA's order, which `kernkit bindings --jax` asks of jax_tvm_ffi: the int `given`, whose bit i
/// says that optional parameter i is no None; what is written; memory for what is returned; the
/// tensors that are read, once more those that are written as well; what is no tensor. Each group
/// is in the line's order. A tensor that is not given takes no place, another value does. Throws
/// TypeError for another number of them. Returns where memory for what is returned begins.
KERNKIT_LOCAL inline const KernkitAny* order_from_xla(const schema::Signature& line,
                                                      int32_t num_results, const KernkitAny* args,
                                                      int32_t num_args, KernkitAny* in_order) {
  KERNKIT_CHECK(num_args > 0 && args[0].type_index == kKernkitInt, TypeError)
      << "takes first the int that says which optional parameters are given";
  const auto given = static_cast<uint64_t>(args[0].v.i64);
  int32_t next = 1;
  int32_t returned = 0;
  enum { kWritten, kRead, kOthers, kGroups };
  for (int group = kWritten; group < kGroups; ++group) {
    if (group == kRead) {
      returned = next;
      next += num_results;
    }
    for (int i = 0; i < line.num_params; ++i) {
      const schema::Param& param = line.params[i];
      const bool is_tensor = param.type == schema::Type::kTensor;
      const bool is_given = !param.is_optional || (given >> i & 1) != 0;
      const bool is_in_group = group == kWritten ? param.is_written
                               : group == kRead  ? is_tensor && !param.is_only_written
                                                 : !is_tensor;
      if (!is_in_group || (is_tensor && !is_given)) continue;
      KERNKIT_CHECK(next < num_args, TypeError) << "takes more values than these " << num_args;
      const bool is_alias = group == kRead && param.is_written;  // XLA's result is where it lies
      if (is_given && !is_alias) in_order[i] = args[next];
      ++next;
    }
  }
  KERNKIT_CHECK(next == num_args, TypeError) << "takes " << next << " values, got " << num_args;
  return args + returned;
}

/// Of an op that returns tensors and nothing else; for others no function of JAX is written.
constexpr int num_results_for_xla(const schema::Schema& line) {
  for (int i = 0; i < line.num_returns; ++i) {
    const schema::Param& one = line.returns[i];
    if (one.type != schema::Type::kTensor || one.is_list || one.is_optional) return 0;
  }
  return line.num_returns;
}

/// Calls the exported function of an op with what XLA hands over.
template <class Line>
int call_from_xla(KernkitFunction op, const KernkitAny* args, int32_t num_args,
                  KernkitAny* result) noexcept {
  constexpr int kCount = kernkit::detail::Op<Line>::kSchema.num_params;
  constexpr int kResults = num_results_for_xla(kernkit::detail::Op<Line>::kSchema);
  KernkitAny in_order[kCount + 1] = {};  // None, where nothing is given
  try {
    const auto* buffers =
        order_from_xla(kernkit::detail::Op<Line>::signature(), kResults, args, num_args, in_order);
    if constexpr (kResults > 0) {
      XlaResults results(buffers, kResults);
      const int code = op(nullptr, in_order, kCount, result);
      if (code == 0) results.take(result);
      return code;
    }
  } catch (...) {
    return kernkit::detail::raise_current_exception(Line::kName, Line::kWhere);
  }
  return op(nullptr, in_order, kCount, result);
}

}  // namespace kernkit::shapes
