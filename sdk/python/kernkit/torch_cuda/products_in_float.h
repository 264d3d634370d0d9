// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit floats, computed in float by PyTorch's kernels for the CPU, and rounded once.
// cuBLAS and cuDNN also add such products in float. PyTorch's CPU kernels for 16-bit floats are
// many times slower than those for float where the processor lacks the instructions.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernkit::torch_cuda {

/// Returns whether an operator is a product of matrices or a convolution whose result has the dtype
/// of its arguments.
inline bool is_product(const c10::FunctionSchema& schema) {
  static const std::set<std::string> names = {"aten::_addmm_activation",
                                              "aten::addbmm",
                                              "aten::addbmm_",
                                              "aten::addmm",
                                              "aten::addmm_",
                                              "aten::addmv",
                                              "aten::addmv_",
                                              "aten::baddbmm",
                                              "aten::baddbmm_",
                                              "aten::bmm",
                                              "aten::dot",
                                              "aten::mm",
                                              "aten::mv",
                                              "aten::vdot",
                                              "aten::convolution",
                                              "aten::convolution_backward"};
  return names.count(schema.name()) != 0 && schema.overload_name().rfind("dtype", 0) != 0;
}

/// Returns whether all tensors of `stack` have the same dtype.
inline bool have_one_dtype(const torch::jit::Stack& stack) {
  std::optional<at::ScalarType> type;
  return std::all_of(stack.begin(), stack.end(), [&](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return true;
    if (!type) type = value.toTensor().scalar_type();
    return value.toTensor().scalar_type() == *type;
  });
}

/// Calls a product. `stack` holds CPU tensors before the call, and the results after the call.
/// Arguments that are all float16, or all bfloat16, are converted to float.
inline void call_product(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  std::vector<std::pair<at::Tensor, at::Tensor>> converted;  // 16-bit arguments, and their floats
  const bool is_of_one_type = have_one_dtype(*stack);
  for (c10::IValue& value : *stack) {
    if (!is_of_one_type || !value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor x = value.toTensor();
    if (x.scalar_type() != at::kHalf && x.scalar_type() != at::kBFloat16) continue;
    converted.emplace_back(x, x.to(at::kFloat));
    value = converted.back().second;
  }
  op.callBoxed(*stack);
  if (converted.empty()) return;
  const at::ScalarType type = converted.front().first.scalar_type();
  for (c10::IValue& value : *stack) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor result = value.toTensor();
    const auto written = std::find_if(converted.begin(), converted.end(), [&](const auto& pair) {
      return pair.second.is_same(result);
    });
    if (written == converted.end()) {
      value = result.to(type);
      continue;
    }
    const at::Tensor& to = written->first;
    if (to.sizes() != result.sizes()) to.resize_(result.sizes());
    to.copy_(result);
    value = to;
  }
}

}  // namespace kernkit::torch_cuda
