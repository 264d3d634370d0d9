// SPDX-License-Identifier: Apache-2.0
// Ops whose names, defaults and documentation are awkward in Python. Built by test_bindings.py.
#include <string>
#include <string_view>
#include <tuple>

#include "kernkit/any_view.h"
#include "kernkit/bytes.h"
#include "kernkit/export.h"
#include "kernkit/function.h"
#include "kernkit/optional.h"

namespace {

using kernkit::AnyView;
using kernkit::BytesView;
using kernkit::Function;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::TensorView;

std::string defaults(int64_t i, double e, double big, double low, double whole, bool flag,
                     std::string_view words, std::string_view none, DLDataType dtype,
                     Optional<int64_t> n, Optional<ShapeView> sizes) {
  kernkit::Message text;
  text << i << ' ' << e << ' ' << big << ' ' << low << ' ' << whole << ' ' << flag << ' ' << words
       << none << ' ' << dtype << ' ' << n.has_value() << sizes.has_value();
  return text.c_str();
}

int64_t keywords(int64_t a, int64_t b, int64_t c) { return 100 * a + 10 * b + c; }
int64_t one(int64_t n) { return n; }
std::string text(std::string_view text) { return std::string(text); }
int64_t size(BytesView data) { return static_cast<int64_t>(data.size()); }
std::tuple<int64_t, double> pair() { return {1, 2.5}; }
std::tuple<int64_t, int64_t> divided(int64_t a, int64_t b) { return {a / b, a % b}; }
void written(TensorView, Optional<TensorView>) {}
int64_t either(AnyView, AnyView) { return 1; }
double applied(const Function& f, AnyView x) { return f(x).cast<double>(); }

}  // namespace

KERNKIT_EXPORT(defaults,
               "(int i=-007, float e=1e-6, float big=inf, float low=-inf, float whole=1, "
               "bool flag=True, str words='it\\s \"so\"', str none='', "
               "ScalarType dtype=bfloat16, int? n=None, int[]? sizes=None) -> str",
               "Has a parameter with a default of every type.", defaults)
KERNKIT_EXPORT(lambda, "(int from, int lambda_, int lambda=3) -> int",
               "Parameters with names that are Python keywords.", keywords)
KERNKIT_EXPORT(lambda_, "(int n) -> int",
               "An op with the name that the Python function of op lambda would have.", one)
KERNKIT_EXPORT(library, "(int _library) -> int",
               "An op and a parameter with names that the generated module uses.", one)
KERNKIT_EXPORT(_library, "(int tvm_ffi, int os, int Tensor) -> int", "", keywords)
KERNKIT_EXPORT(str, "(str str) -> str", "An op with the name of a Python type.", text)
KERNKIT_EXPORT(bytes, "(bytes bytes) -> int", "An op with the name of a Python type.", size)
KERNKIT_EXPORT(Any, "() -> (int, float)", "An op with the name of typing.Any.", pair)
KERNKIT_EXPORT(kind, "(int a, int b) -> (int, int)",
               "An op with the name of an attribute of tvm_ffi.Module.", divided)
KERNKIT_EXPORT(written, "(Tensor(a!) y, Tensor? x=None) -> ()",
               "Ends a text: \"\"\" \\ \a\n\n\tindented, then a last \"", written)
KERNKIT_EXPORT(any, "(Any tuple, Any hasattr) -> int",
               "An op with the name of a builtin that the generated module uses.", either)
KERNKIT_EXPORT(applied, "(Callable f, Any x) -> float", "f(x).", applied)
