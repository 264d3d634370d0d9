// SPDX-License-Identifier: Apache-2.0
// Operators that PyTorch has for CUDA only, composed of other operators.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <tuple>

namespace kernkit::torch_cuda {

using Optional = std::optional<at::Tensor>;

inline at::Tensor with_bias(const at::Tensor& gates, const Optional& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

/// The forward step of an LSTM cell. Returns h', c', and one tensor with the activated gates i, f,
/// g and o for the backward step.
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                                const at::Tensor& hidden_gates,
                                                                const at::Tensor& cx,
                                                                const Optional& input_bias,
                                                                const Optional& hidden_bias) {
  const at::Tensor gates =
      with_bias(with_bias(input_gates + hidden_gates, input_bias), hidden_bias);
  const auto parts = gates.chunk(4, 1);
  const at::Tensor i = parts[0].sigmoid(), f = parts[1].sigmoid(), g = parts[2].tanh(),
                   o = parts[3].sigmoid();
  const at::Tensor cy = f * cx + i * g;
  return {o * cy.tanh(), cy, at::cat({i, f, g, o}, 1)};
}

/// The backward step of an LSTM cell. Returns the gradients of the gates, of cx, and of each bias
/// (undefined without a bias).
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const Optional& grad_hy, const Optional& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
    const at::Tensor& workspace, bool has_bias) {
  const auto parts = workspace.chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  const at::Tensor tanh_cy = cy.tanh();
  const bool has_hy = grad_hy && grad_hy->defined(), has_cy = grad_cy && grad_cy->defined();
  if (!has_hy && !has_cy) return {};
  at::Tensor of_cy = has_cy ? *grad_cy : at::zeros_like(cy);
  at::Tensor of_o = at::zeros_like(o);
  if (has_hy) {
    of_cy = of_cy + *grad_hy * o * (1 - tanh_cy * tanh_cy);
    of_o = *grad_hy * tanh_cy * o * (1 - o);
  }
  const at::Tensor of_gates = at::cat(
      {of_cy * g * i * (1 - i), of_cy * cx * f * (1 - f), of_cy * i * (1 - g * g), of_o}, 1);
  return {of_gates, of_cy * f, has_bias ? of_gates.sum(0) : at::Tensor()};
}

/// The forward step of a GRU cell. Returns h', and one tensor with r, z, n, hx and the hidden part
/// of n for the backward step.
inline std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                                   const at::Tensor& hidden_gates,
                                                   const at::Tensor& hx, const Optional& input_bias,
                                                   const Optional& hidden_bias) {
  const auto of_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto of_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor r = (of_input[0] + of_hidden[0]).sigmoid();
  const at::Tensor z = (of_input[1] + of_hidden[1]).sigmoid();
  const at::Tensor n = (of_input[2] + r * of_hidden[2]).tanh();
  return {n + z * (hx - n), at::cat({r, z, n, hx, of_hidden[2]}, 1)};
}

/// The backward step of a GRU cell. Returns the gradients of the input gates, of the hidden gates,
/// of hx, and of both biases (undefined without biases).
inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const at::Tensor &r = parts[0], &z = parts[1], &n = parts[2], &hx = parts[3], &hidden = parts[4];
  const at::Tensor of_n = grad_hy * (1 - z) * (1 - n * n);
  const at::Tensor of_z = grad_hy * (hx - n) * z * (1 - z);
  const at::Tensor of_r = of_n * hidden * r * (1 - r);
  const at::Tensor of_input = at::cat({of_r, of_z, of_n}, 1);
  const at::Tensor of_hidden = at::cat({of_r, of_z, of_n * r}, 1);
  return {of_input, of_hidden, grad_hy * z, has_bias ? of_input.sum(0) : at::Tensor(),
          has_bias ? of_hidden.sum(0) : at::Tensor()};
}

/// Returns the gradients of the input and of the weight of an RMS norm.
inline std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& grad_out, const at::Tensor& input, at::IntArrayRef normalized_shape,
    const at::Tensor& rstd, const Optional& weight, std::array<bool, 2> output_mask) {
  const auto rank = static_cast<int64_t>(normalized_shape.size());
  std::vector<int64_t> normalized, others;
  for (int64_t i = 0; i < input.dim(); ++i) {
    (i < input.dim() - rank ? others : normalized).push_back(i);
  }
  const auto type = rstd.scalar_type();
  const at::Tensor x_hat = input.to(type) * rstd, grad = grad_out.to(type);
  const at::Tensor of_x_hat = weight && weight->defined() ? grad * weight->to(type) : grad;
  at::Tensor of_input, of_weight;
  if (output_mask[0]) {
    const at::Tensor mean = (of_x_hat * x_hat).mean(normalized, true);
    of_input = ((of_x_hat - x_hat * mean) * rstd).to(input.scalar_type());
  }
  if (output_mask[1] && weight && weight->defined()) {
    const at::Tensor product = grad * x_hat;
    of_weight = (others.empty() ? product : product.sum(others)).to(weight->scalar_type());
  }
  return {of_input, of_weight};
}

inline void install_missing_operators(torch::Library* library) {
  library->impl("aten::_thnn_fused_lstm_cell", lstm_cell);
  library->impl("aten::_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  library->impl("aten::_thnn_fused_gru_cell", gru_cell);
  library->impl("aten::_thnn_fused_gru_cell_backward", gru_cell_backward);
  library->impl("aten::_fused_rms_norm_backward", rms_norm_backward);
  library->impl("aten::mm.dtype",
                [](const at::Tensor& a, const at::Tensor& b, at::ScalarType type) {
                  return at::mm(a.to(type), b.to(type));
                });
  library->impl("aten::bmm.dtype",
                [](const at::Tensor& a, const at::Tensor& b, at::ScalarType type) {
                  return at::bmm(a.to(type), b.to(type));
                });
}

}  // namespace kernkit::torch_cuda
