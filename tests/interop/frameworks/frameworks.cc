// SPDX-License-Identifier: Apache-2.0
// Ops of many signatures with shapes in their schema lines: float32 on the CPU.
#include <cmath>
#include <string_view>
#include <tuple>

#include "kernkit/env.h"
#include "kernkit/expect.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/backward.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::dl_float32;
using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

void check(TensorView x) { KERNKIT_EXPECT(x).dtype(dl_float32).cpu().contiguous(); }

void scale(TensorView y, TensorView x, double factor) {
  check(x);
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  const float* in = x.data<const float>();
  float* out = y.data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] * static_cast<float>(factor);
}
void scale_(TensorView x, double factor) { scale(x, x, factor); }
void add(TensorView z, TensorView x, TensorView y) {
  check(x);
  KERNKIT_EXPECT(y).like(x).contiguous();
  KERNKIT_EXPECT(z).like(x).contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    z.data<float>()[i] = x.data<const float>()[i] + y.data<const float>()[i];
  }
}
void silu_and_mul(TensorView y, TensorView x) {
  check(x);
  check(y);
  const int64_t d = y.size(1);
  for (int64_t i = 0; i < y.size(0); ++i) {
    for (int64_t j = 0; j < d; ++j) {
      const float a = x.data<const float>()[i * 2 * d + j];
      const float b = x.data<const float>()[i * 2 * d + d + j];
      y.data<float>()[i * d + j] = a / (1 + std::exp(-a)) * b;
    }
  }
}
void silu_and_mul_backward(TensorView grad_x, TensorView grad_y, TensorView x) {
  check(x);
  check(grad_y);
  check(grad_x);
  const int64_t d = grad_y.size(1);
  for (int64_t i = 0; i < grad_y.numel(); ++i) {
    const int64_t at = i / d * 2 * d + i % d;
    const float a = x.data<const float>()[at];
    const float b = x.data<const float>()[at + d];
    const float g = grad_y.data<const float>()[i];
    const float s = 1 / (1 + std::exp(-a));
    grad_x.data<float>()[at] = g * b * s * (1 + a * (1 - s));
    grad_x.data<float>()[at + d] = g * a * s;
  }
}
void normalise(float* out, const float* x, const float* weight, int64_t n, int64_t d, double eps) {
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < d; ++j) sum += double{x[i * d + j]} * double{x[i * d + j]};
    const auto scale = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(d) + eps));
    for (int64_t j = 0; j < d; ++j) {
      out[i * d + j] = x[i * d + j] * scale * (weight != nullptr ? weight[j] : 1.F);
    }
  }
}
const float* data_or_null(const Optional<TensorView>& x) {
  if (!x) return nullptr;
  check(*x);
  return x->data<const float>();
}
void rms_norm_out(TensorView y, TensorView x, Optional<TensorView> weight, double eps) {
  check(x);
  check(y);
  normalise(y.data<float>(), x.data<const float>(), data_or_null(weight), x.size(0), x.size(1),
            eps);
}
void rms_norm_out_backward(TensorView grad_x, TensorView grad_weight, TensorView grad_y,
                           TensorView x, Optional<TensorView> weight, double eps) {
  check(x);
  check(grad_y);
  check(grad_x);
  check(grad_weight);
  const float* w = data_or_null(weight);
  const int64_t d = x.size(1);
  for (int64_t j = 0; j < d; ++j) grad_weight.data<float>()[j] = 0;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const float* in = x.data<const float>() + i * d;
    const float* g = grad_y.data<const float>() + i * d;
    double squares = 0;
    double product = 0;
    for (int64_t j = 0; j < d; ++j) {
      squares += double{in[j]} * double{in[j]};
      product += double{g[j]} * (w ? w[j] : 1.0) * double{in[j]};
    }
    const double r = 1 / std::sqrt(squares / static_cast<double>(d) + eps);
    for (int64_t j = 0; j < d; ++j) {
      const double gw = double{g[j]} * (w ? w[j] : 1.0);
      grad_x.data<float>()[i * d + j] =
          static_cast<float>(r * gw - r * r * r * product / static_cast<double>(d) * double{in[j]});
      grad_weight.data<float>()[j] += static_cast<float>(double{g[j]} * double{in[j]} * r);
    }
  }
}
void rms_of(TensorView y, TensorView x, TensorView weight) { rms_norm_out(y, x, weight, 1e-6); }
void rms_of_backward(TensorView grad_x, TensorView grad_y, TensorView x, TensorView weight) {
  const Tensor unused = kernkit::alloc_tensor(weight.sizes(), weight.dtype(), weight.device());
  rms_norm_out_backward(grad_x, TensorView(unused.get()), grad_y, x, weight, 1e-6);
}
Tensor rms_norm(TensorView x, Optional<TensorView> weight, double eps) {
  Tensor y = kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());
  rms_norm_out(TensorView(y.get()), x, weight, eps);
  return y;
}
void fused_add_rms_norm(TensorView x, TensorView residual, TensorView weight, double eps) {
  check(x);
  check(residual);
  check(weight);
  for (int64_t i = 0; i < x.numel(); ++i) residual.data<float>()[i] += x.data<const float>()[i];
  normalise(x.data<float>(), residual.data<const float>(), weight.data<const float>(), x.size(0),
            x.size(1), eps);
}
std::tuple<Tensor, Tensor> row_max(TensorView x) {
  check(x);
  const int64_t n[] = {x.size(0)};
  const int64_t d = x.size(1);
  Tensor values = kernkit::alloc_tensor(ShapeView(n, 1), x.dtype(), x.device());
  Tensor indices = kernkit::alloc_tensor(ShapeView(n, 1), kernkit::dl_int64, x.device());
  const float* in = x.data<const float>();
  for (int64_t i = 0; i < n[0]; ++i) {
    int64_t best = 0;
    for (int64_t j = 1; j < d; ++j) best = in[i * d + j] > in[i * d + best] ? j : best;
    values.data<float>()[i] = in[i * d + best];
    indices.data<int64_t>()[i] = best;
  }
  return {std::move(values), std::move(indices)};
}
/// Allocates the second result before the first, so that an allocator that hands out buffers in the
/// order of the results gives each result the buffer of the other result.
std::tuple<Tensor, Tensor> halves(TensorView x) {
  check(x);
  const int64_t n[] = {x.size(0) / 2};
  Tensor second = kernkit::alloc_tensor(ShapeView(n, 1), x.dtype(), x.device());
  Tensor first = kernkit::alloc_tensor(ShapeView(n, 1), x.dtype(), x.device());
  for (int64_t i = 0; i < n[0]; ++i) {
    first.data<float>()[i] = x.data<const float>()[i];
    second.data<float>()[i] = x.data<const float>()[n[0] + i];
  }
  return {std::move(first), std::move(second)};
}
Tensor untrue(TensorView x) { return kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device()); }
void sum_list(TensorView y, ListView<TensorView> xs) {
  check(y);
  for (int64_t i = 0; i < y.numel(); ++i) y.data<float>()[i] = 0;
  for (const TensorView x : xs) {
    check(x);
    for (int64_t i = 0; i < y.numel(); ++i) y.data<float>()[i] += x.data<const float>()[i];
  }
}
void many(TensorView y, TensorView x, Optional<TensorView> w, int64_t k, double f, bool b,
          std::string_view s, DLDataType t) {
  check(x);
  check(y);
  const float* more = data_or_null(w);
  const double factor =
      (b ? 1 : 0) + static_cast<double>(k) * f + static_cast<double>(s.size()) + t.bits;
  for (int64_t i = 0; i < y.numel(); ++i) {
    y.data<float>()[i] =
        static_cast<float>(factor) * x.data<const float>()[i] + (more ? more[i] : 0.F);
  }
}
double total(TensorView x) {
  check(x);
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += double{x.data<const float>()[i]};
  return sum;
}
void quant(TensorView q, TensorView s, TensorView x, int64_t group) {
  check(x);
  for (int64_t g = 0; g < s.numel(); ++g) {
    const float* in = x.data<const float>() + g * group;
    float most = 1e-9F;
    for (int64_t j = 0; j < group; ++j) most = std::fmax(most, std::fabs(in[j]));
    s.data<float>()[g] = most / 127;
    for (int64_t j = 0; j < group; ++j) {
      q.data<int8_t>()[g * group + j] = static_cast<int8_t>(std::lround(in[j] / (most / 127)));
    }
  }
}
void top(TensorView values, TensorView indices, TensorView x) {
  check(x);
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.data<float>()[i] = x.data<const float>()[0];
    indices.data<int32_t>()[i] = static_cast<int32_t>(i);
  }
}
void cast(TensorView y, TensorView x) {
  check(x);
  kernkit::dispatch(kernkit::types<float, double>{}, y.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    for (int64_t i = 0; i < x.numel(); ++i) y.data<T>()[i] = T{x.data<const float>()[i]};
  });
}
void odd(TensorView y, TensorView x, double limit) { scale(y, x, limit); }
void exactly(TensorView y, TensorView x, int64_t k, double f, DLDevice d) {
  check(x);
  const bool is_cuda_1 = kernkit::is_cuda(d) && d.device_id == 1;
  y.data<float>()[0] = k == (int64_t{1} << 53) + 1 && f == 0.1 && is_cuda_1 ? 1.F : 0.F;
}
void dtype_of(TensorView y, TensorView x) {
  *y.data<int32_t>() = x.dtype().code * 100 + x.dtype().bits;
}
void output_last(double factor, TensorView x, TensorView y) { scale(y, x, factor); }

}  // namespace

KERNKIT_EXPORT(scale, "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()",
               "y = x * factor", scale)
KERNKIT_EXPORT(scale_, "(Tensor(a!) x[...], float factor) -> ()", "x *= factor", scale_)
KERNKIT_EXPORT(add, "(Tensor(out!) z[each...], Tensor x[each...], Tensor y[each...]) -> ()",
               "z = x + y", add)
// [backward]
KERNKIT_EXPORT(silu_and_mul, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", "silu", silu_and_mul)
KERNKIT_BACKWARD(silu_and_mul, silu_and_mul_backward)
KERNKIT_EXPORT(silu_and_mul_backward,
               "(Tensor(out!) grad_x[n, 2*d], Tensor grad_y[n, d], Tensor x[n, 2*d]) -> ()", "",
               silu_and_mul_backward)
// [/backward]
KERNKIT_EXPORT(rms_norm,
               "(Tensor x[n, d], Tensor? weight[d]=None, float eps=1e-6) -> Tensor y[n, d]", "",
               rms_norm)
KERNKIT_BACKWARD(rms_norm, rms_norm_out_backward)
KERNKIT_EXPORT(
    rms_norm_out,
    "(Tensor(out!) y[n, d], Tensor x[n, d], Tensor? weight[d]=None, float eps=1e-6) -> ()", "",
    rms_norm_out)
KERNKIT_BACKWARD(rms_norm_out, rms_norm_out_backward)
KERNKIT_EXPORT(rms_norm_out_backward,
               "(Tensor(out!) grad_x[n, d], Tensor(out!) grad_weight[d], Tensor grad_y[n, d], "
               "Tensor x[n, d], Tensor? weight[d], float eps) -> ()",
               "", rms_norm_out_backward)
KERNKIT_EXPORT(rms_of, "(Tensor(out!) y[n, d], Tensor x[n, d], Tensor weight[d]) -> ()", "", rms_of)
KERNKIT_BACKWARD(rms_of, rms_of_backward)
KERNKIT_EXPORT(
    rms_of_backward,
    "(Tensor(out!) grad_x[n, d], Tensor grad_y[n, d], Tensor x[n, d], Tensor weight[d]) -> ()", "",
    rms_of_backward)
KERNKIT_EXPORT(
    fused_add_rms_norm,
    "(Tensor(a!) x[n, d], Tensor(b!) residual[n, d], Tensor weight[d], float eps=1e-6) -> ()", "",
    fused_add_rms_norm)
KERNKIT_EXPORT(row_max, "(Tensor x[n, d]) -> (Tensor values[n], Tensor indices[n]: int64)", "",
               row_max)
KERNKIT_EXPORT(halves, "(Tensor x[2*n]) -> (Tensor first[n], Tensor second[n])", "", halves)
KERNKIT_EXPORT(untrue, "(Tensor x[n]) -> Tensor y[n, n]", "returns another shape", untrue)
KERNKIT_EXPORT(sum_list, "(Tensor(out!) y[...], Tensor[] xs[...]) -> ()", "", sum_list)
KERNKIT_EXPORT(
    many,
    "(Tensor(out!) y[...], Tensor x[...], Tensor? w[...]=None, int k=1, float f=1.0, bool "
    "b=False, str s='ab', ScalarType t=float32) -> ()",
    "", many)
KERNKIT_EXPORT(total, "(Tensor x) -> float", "", total)
KERNKIT_EXPORT(
    quant,
    "(Tensor(out!) q[n, d]: int8, Tensor(out!) s[n, d/group]: float32, Tensor x[n, d], int "
    "group) -> ()",
    "", quant)
KERNKIT_EXPORT(
    top, "(Tensor(out!) values[n, k?], Tensor(out!) indices[n, k]: int32, Tensor x[n, _]) -> ()",
    "", top)
KERNKIT_EXPORT(cast, "(Tensor(out!) y[...]: ?, Tensor x[...]) -> ()", "", cast)
KERNKIT_EXPORT(odd, "(Tensor(out!) is[lambda], Tensor torch[lambda], float from=inf) -> ()", "",
               odd)
KERNKIT_EXPORT(output_last, "(float factor, Tensor x[...], Tensor(out!) y[...]) -> ()", "",
               output_last)
KERNKIT_EXPORT(exactly, "(Tensor(out!) y[n], Tensor x[n], int k, float f, Device d) -> ()", "",
               exactly)
KERNKIT_EXPORT(dtype_of, "(Tensor(out!) y[1]: int32, Tensor x[...]) -> ()", "", dtype_of)
