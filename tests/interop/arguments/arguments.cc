// SPDX-License-Identifier: Apache-2.0
// An op for every kind of parameter and result. Built by test_arguments.py.
#include <string>
#include <string_view>
#include <tuple>

#include "kernkit/env.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/optional.h"

namespace {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

// The C++ names differ from the schema's names, which messages must use.
std::string describe(TensorView output, Optional<TensorView> b, double e, int32_t number, bool on,
                     std::string_view words, DLDataType type) {
  if (b.has_value()) KERNKIT_EXPECT(*b).same_dtype(output);
  kernkit::Message text;
  text << output << ", " << (b.has_value() ? b->name() : "none") << ", " << e << ", " << number
       << ", " << on << ", " << words << ", " << type;
  return text.c_str();
}

int64_t sum(ShapeView values, Optional<ShapeView> more) {
  int64_t total = 0;
  for (const int64_t value : values) total += value;
  if (more.has_value()) {
    for (const int64_t value : *more) total += value;
  }
  return total;
}

double sum_floats(ListView<double> values) {
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) total += values[i];
  return total;
}

int64_t count(ListView<TensorView> tensors) {
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) total += tensors[i].numel();
  return total;
}

std::string greet(const std::string& name, DLDevice device) {
  return "hello " + name + " on " + kernkit::device_name(device).c_str();
}

std::tuple<int64_t, double, bool, std::string, Tensor> many(const Tensor& x) {
  return {x.view().numel(), 2.5, true, "a text longer than seven characters", x};
}

Tensor same(Tensor x) { return x; }
double half(double x) { return x / 2; }
uint64_t wide(uint64_t value) { return value / 2; }
uint64_t too_wide() { return uint64_t{1} << 63; }
int8_t narrow(int8_t value) { return value; }
bool nothing() { return true; }

int64_t stream_of(DLDevice device) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(kernkit::current_stream(device)));
}

}  // namespace

KERNKIT_EXPORT(describe,
               "(Tensor y, Tensor? bias=None, float eps=1e-6, int n=-3, bool flag=True, "
               "str text='it is', ScalarType dtype=bfloat16) -> str",
               "Describes its arguments.", describe)
KERNKIT_EXPORT(sum, "(int[] v, int[]? w=None) -> int", "Returns the sum of v and w.", sum)
KERNKIT_EXPORT(sum_floats, "(float[] v) -> float", "Returns the sum of v.", sum_floats)
KERNKIT_EXPORT(count, "(Tensor[] xs) -> int", "Returns the number of elements of all xs.", count)
KERNKIT_EXPORT(greet, "(str name, Device device) -> str", "Greets.", greet)
KERNKIT_EXPORT(many, "(Tensor x) -> (int, float, bool, str, Tensor)",
               "Returns a value of each type.", many)
KERNKIT_EXPORT(same, "(Tensor x) -> Tensor", "Returns x.", same)
KERNKIT_EXPORT(half, "(float x) -> float", "x / 2.", half)
KERNKIT_EXPORT(wide, "(int v) -> int", "v / 2.", wide)
KERNKIT_EXPORT(too_wide, "() -> int", "2^63.", too_wide)
KERNKIT_EXPORT(narrow, "(int v) -> int", "v.", narrow)
KERNKIT_EXPORT(nothing, "() -> bool", "True.", nothing)
KERNKIT_EXPORT(stream_of, "(Device device) -> int", "Returns the current stream.", stream_of)
