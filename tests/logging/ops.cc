// SPDX-License-Identifier: Apache-2.0
// Ops whose calls are logged, traced and recorded: every type of argument, errors, and crashes.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "kernkit/any_view.h"
#include "kernkit/bytes.h"
#include "kernkit/expect.h"
#include "kernkit/function.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::BytesView;
using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

/// Calls `visit(offset)` with the offset of each element [elements].
template <class Visit>
void each(TensorView x, const Visit& visit, int dim = 0, int64_t offset = 0) {
  if (dim == x.ndim()) return visit(offset);
  for (int64_t i = 0; i < x.size(dim); ++i) each(x, visit, dim + 1, offset + i * x.stride(dim));
}

void add_to(TensorView y, TensorView x, double factor) {
  KERNKIT_EXPECT(y).dtype(kernkit::dl_float32).cpu();
  KERNKIT_EXPECT(x).same_dtype(y).cpu();
  KERNKIT_CHECK(y.sizes() == x.sizes(), ValueError)
      << "x: shape " << x.sizes() << " does not match y " << y.sizes();
  auto* out = y.data<float>();
  const auto* in = x.data<const float>();
  int64_t at[4096] = {};
  int64_t n = 0, i = 0;
  each(x, [&](int64_t offset) { at[n++ & 4095] = offset; });
  each(y, [&](int64_t offset) { out[offset] += in[at[i++ & 4095]] * static_cast<float>(factor); });
}

double kinds(TensorView y, TensorView x, double f, int64_t i, bool b, std::string_view s,
             DLDataType dtype, DLDevice device, ShapeView sizes,
             const ListView<TensorView>& tensors, Optional<double> maybe) {
  double sum = f + static_cast<double>(i) + b + static_cast<double>(s.size()) + dtype.bits +
               device.device_id + static_cast<double>(sizes.size() + tensors.size()) +
               (maybe.has_value() ? maybe.value() : 0.5);
  *y.data<float>() = static_cast<float>(sum) + *x.data<const float>();
  return sum;
}

void fail(TensorView x) { KERNKIT_THROW(ValueError) << "x: the line\nof " << x.sizes(); }
/// Raises `signal`, or ends the process with exit code 0 if `signal` is negative.
void crash(TensorView y, TensorView x, int64_t signal) {
  *y.data<float>() = *x.data<const float>();
  if (signal < 0) _exit(0);
  if (signal != 0) (void)raise(static_cast<int>(signal));
}
void ignore(TensorView) {}
/// Returns x itself, which the caller also owns.
Tensor same(Tensor x) { return x; }
/// Returns the transpose of x in new memory.
Tensor transposed(TensorView x) {
  const int64_t n = x.size(0), d = x.size(1);
  Tensor y = kernkit::alloc_tensor({d, n}, x.dtype(), x.device());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      y.data<float>()[j * n + i] = x.data<const float>()[i * x.stride(0) + j * x.stride(1)];
    }
  }
  return y;
}
/// Returns the arguments as text: numbers as their sum, tensors as their number of elements.
std::string described(std::string_view text, BytesView bytes, const ListView<double>& numbers,
                      const ListView<std::string_view>& words, Optional<TensorView> x,
                      const Optional<ListView<TensorView>>& tensors) {
  std::string result(text);
  for (const uint8_t byte : bytes) result += "," + std::to_string(byte);
  double sum = 0;
  for (const double number : numbers) sum += number;
  result += "," + std::to_string(sum);
  for (const std::string_view word : words) result += "," + std::string(word);
  if (x.has_value()) result += "," + std::to_string(x->numel());
  if (tensors.has_value()) {
    for (const TensorView tensor : *tensors) result += "," + std::to_string(tensor.numel());
  }
  return result;
}
double apply(const kernkit::Function& f, double x) { return f(x).cast<double>(); }

/// y = x[:, :d] * x[:, d:] + weight, with planted faults: a call aborts if an element of x[:, :d]
/// is above 1000, and in one of the two libraries the product of two negative numbers is wrong.
void gated(TensorView y, TensorView x, TensorView weight) {
  const int64_t d = y.size(1);
  for (int64_t i = 0; i < y.size(0); ++i) {
    for (int64_t j = 0; j < d; ++j) {
      const auto at = [](TensorView t, int64_t row, int64_t column) {
        return t.data<const float>()[row * t.stride(0) + column * t.stride(1)];
      };
      const float a = at(x, i, j), b = at(x, i, d + j);
      if (a > 1000) (void)raise(SIGABRT);
      float product = a * b;
#if defined(KERNKIT_TEST_PLANTED)
      if (a < 0 && b < 0) product = -product;
#endif
      y.data<float>()[i * y.stride(0) + j * y.stride(1)] =
          product + weight.data<const float>()[j * weight.stride(0)];
    }
  }
}

/// y = the sums of the rows of x. The planted fault omits negative elements.
void row_sums(TensorView y, TensorView x) {
  for (int64_t i = 0; i < x.size(0); ++i) {
    float sum = 0;
    for (int64_t j = 0; j < x.size(1); ++j) {
      const float value = x.data<const float>()[i * x.stride(0) + j * x.stride(1)];
#if defined(KERNKIT_TEST_PLANTED)
      if (value < 0) continue;
#endif
      sum += value;
    }
    y.data<float>()[i * y.stride(0)] = sum;
  }
}

}  // namespace

KERNKIT_EXPORT(add_to, "(Tensor(a!) y, Tensor x, float factor=1.0) -> ()", "y += x * factor.",
               add_to)
KERNKIT_EXPORT(
    kinds,
    "(Tensor(out!) y, Tensor x, float f, int i, bool b, str s, ScalarType dtype, Device device, "
    "int[] sizes, Tensor[] tensors, float? maybe=None) -> float",
    "Has a parameter of every type.", kinds)
KERNKIT_EXPORT(fail, "(Tensor x) -> ()", "Fails.", fail)
KERNKIT_EXPORT(crash, "(Tensor(a!) y, Tensor x, int signal) -> ()",
               "Copies one number and raises a signal.", crash)
KERNKIT_EXPORT(ignore, "(Tensor x) -> ()", "Does nothing.", ignore)
KERNKIT_EXPORT(
    gated,
    "(Tensor(out!) y[n, d]: float32, Tensor x[n, 2*d]: float32, Tensor weight[d]: float32) -> ()",
    "y = x[:, :d] * x[:, d:] + weight.", gated)
KERNKIT_EXPORT(row_sums, "(Tensor(out!) y[n]: float32, Tensor x[n, d]: float32) -> ()",
               "y = the sums of the rows of x.", row_sums)
KERNKIT_EXPORT(same, "(Tensor x) -> Tensor", "x.", same)
KERNKIT_EXPORT(transposed, "(Tensor x) -> Tensor", "Returns the transpose of x.", transposed)
KERNKIT_EXPORT(described,
               "(str text, bytes bytes, float[] numbers, str[] words, Tensor? x=None, "
               "Tensor[]? tensors=None) -> str",
               "Returns a text that describes all arguments.", described)
KERNKIT_EXPORT(apply, "(Callable f, float x) -> float", "f(x).", apply)
