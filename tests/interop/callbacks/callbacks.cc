// SPDX-License-Identifier: Apache-2.0
// Ops that take and return callables, bytes and values of any type. Built by test_callbacks.py.
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernkit/bytes.h"
#include "kernkit/export.h"
#include "kernkit/function.h"
#include "kernkit/list.h"
#include "kernkit/make_function.h"

namespace {

using kernkit::Any;
using kernkit::AnyView;
using kernkit::BytesView;
using kernkit::Function;
using kernkit::ListView;
using kernkit::Optional;
using kernkit::Tensor;
using kernkit::TensorView;

double apply(const Function& f, double x) { return f(x).cast<double>("what f returned"); }
bool apply_if(Optional<Function> f) { return f.has_value() && (*f)().is_none(); }

// Calls f with an argument of every kind that C++ supports.
Any pass_all(const Function& f, const Tensor& tensor) {
  const std::string words = "a text that is longer than seven";
  const std::string with_nul("nul \0 inside and long", 21);
  return f(nullptr, true, int8_t{-3}, 2.5f, kernkit::dl_bfloat16, DLDevice{kDLCUDA, 1}, "c string",
           words, std::string_view("short"), std::string_view(with_nul), tensor, f,
           std::make_tuple(int64_t{1}, std::string("two")), BytesView("\0b", 2), Optional<int>(),
           Any(7), kernkit::Optional<double>(0.5));
}

// [caught]
// Without a handler, an error of the callback reaches the caller. The handler here returns the
// error's kind and message.
std::string caught(const Function& f) {
  try {
    f();
  } catch (const kernkit::Error& error) {
    return std::string(error.kind()) + "|" + error.message();
  }
  return "nothing";
}
// [/caught]

std::string describe(AnyView value) {
  kernkit::Message text;
  text << value << ";" << value.is<double>() << value.is<int8_t>() << value.is<std::string>()
       << value.is<Function>() << value.is<TensorView>() << value.is<BytesView>() << ";"
       << value.try_cast<double>().value_or(-1);
  return text.c_str();
}

Any kept;
Any keep(Any value) {
  std::swap(kept, value);
  return value;
}
Tensor as_tensor(AnyView value) { return value.cast<Tensor>("value"); }

double sum_after(ListView<double> values, const Function& f) {
  f();
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) total += values[i];
  return total;
}

int64_t sum_bytes(BytesView bytes) {
  int64_t total = 0;
  for (const unsigned char byte : bytes) total += byte;
  return total;
}
std::vector<uint8_t> repeat(BytesView bytes, int64_t times) {
  std::vector<uint8_t> all;
  for (int64_t i = 0; i < times; ++i) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}
kernkit::ShapeView shape(TensorView x) { return x.shape(); }
Any apply_to_shape(const Function& f, TensorView x) { return f(x.shape()); }
std::tuple<DLDataType, DLDevice> defaults() { return {kernkit::dl_float16, {kDLCPU, 0}}; }

Function adder(double n) {
  return kernkit::make_function("adder", [n](double x, int8_t scale) { return x + n * scale; });
}

}  // namespace

KERNKIT_EXPORT(apply, "(Callable f, float x) -> float", "f(x).", apply)
KERNKIT_EXPORT(apply_if, "(Callable? f=None) -> bool", "Returns whether f() is None.", apply_if)
KERNKIT_EXPORT(pass_all, "(Callable f, Tensor tensor) -> Any", "f(...).", pass_all)
KERNKIT_EXPORT(caught, "(Callable f) -> str",
               "Calls f and returns the kind and the message of the error that f raises.", caught)
KERNKIT_EXPORT(describe, "(Any value) -> str",
               "Describes value: its text, the types to which it converts, and the number that it "
               "holds, or -1.",
               describe)
KERNKIT_EXPORT(keep, "(Any value) -> Any",
               "Stores value and returns the value that the previous call stored.", keep)
KERNKIT_EXPORT(as_tensor, "(Any value) -> Tensor", "value.", as_tensor)
KERNKIT_EXPORT(sum_after, "(float[] values, Callable f) -> float", "Calls f, then returns the sum.",
               sum_after)
KERNKIT_EXPORT(sum_bytes, "(bytes b) -> int", "Returns the sum of all bytes.", sum_bytes)
KERNKIT_EXPORT(repeat, "(bytes b, int times) -> bytes", "b * times.", repeat)
KERNKIT_EXPORT(shape, "(Tensor x) -> int[]", "x's shape.", shape)
KERNKIT_EXPORT(apply_to_shape, "(Callable f, Tensor x) -> Any", "f(x's shape).", apply_to_shape)
KERNKIT_EXPORT(defaults, "() -> (ScalarType, Device)", "Returns float16 and cpu.", defaults)
KERNKIT_EXPORT(adder, "(float n) -> Callable", "Returns f(x, scale) = x + n * scale.", adder)
