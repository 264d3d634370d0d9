// SPDX-License-Identifier: Apache-2.0
// Exported functions, called as a host calls them: by symbol, with arrays of KernkitAny. No host is
// in the process, so errors are read with kernkit_last_error().
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/optional.h"
#include "kernkit/testing/tensor.h"

namespace ops {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

// What the op under test was called with, as text.
std::string seen;
template <class... T>
void see(const T&... values) {
  kernkit::Message text;
  ((text << values << ";"), ...);
  seen = text.c_str();
}

// The C++ names are others than the schema's: messages must use the schema's.
void mixed(TensorView first, int32_t second, double third, bool fourth) {
  see(first.name(), first, second, third, fourth);
}
void refused(TensorView first, TensorView second) {
  KERNKIT_EXPECT(first).like(second);
  see("ran");
}
void by_reference(const TensorView& first, const int& second) { see(first.name(), second); }
void nothing() { see("nothing"); }

template <class T>
void number(T value) {
  see(value);
}

void throws(int64_t how) {
  switch (how) {
    case 0: KERNKIT_THROW(ValueError) << "how: is " << how;
    case 1: throw std::bad_alloc();
    case 2: throw std::runtime_error("of the library");
    case 3: throw 1;
    case 4: KERNKIT_ICHECK_EQ(1, 2) << "bug"; break;
    default: throw std::length_error("no runtime_error");
  }
}

void defaults(int64_t a, double b, std::string_view c, bool d, Optional<int64_t> e, DLDataType f,
              double g) {
  see(a, b, c, d, e.has_value() ? *e : -1, f, g);
}
void optionals(Optional<TensorView> x, Optional<double> f, Optional<ShapeView> s) {
  see(x ? x->name() : "-", f.value_or(-1), s ? *s : ShapeView(), s.has_value());
}
void lists(ShapeView sizes, ListView<double> factors, ListView<TensorView> tensors) {
  see(sizes, factors.size(), factors.empty() ? -1 : factors[factors.size() - 1], tensors.size(),
      tensors.empty() ? "-" : tensors[0].name());
}
void words(std::string_view view, const std::string& copy) { see(view, copy); }
void things(DLDataType dtype, DLDevice device) { see(dtype, device); }

Tensor kept;
void keep(Tensor x) { kept = x; }
Tensor give_back(Tensor x) { return x; }

int64_t returns_int(int64_t x) { return x + 1; }
float returns_float() { return 2.5f; }
bool returns_bool() { return true; }
std::string returns_str() { return "text"; }
std::tuple<int64_t, Tensor> returns_pair(Tensor x) { return {7, x}; }

}  // namespace ops

KERNKIT_EXPORT(mixed, "(Tensor x, int count, float factor, bool flag) -> ()", "", ops::mixed)
KERNKIT_EXPORT(refused, "(Tensor(a!) y, Tensor x) -> ()", "", ops::refused)
KERNKIT_EXPORT(by_reference, "(Tensor x, int n) -> ()", "", ops::by_reference)
KERNKIT_EXPORT(nothing, "() -> ()", "Does nothing.", ops::nothing)
KERNKIT_EXPORT(int8, "(int n) -> ()", "", ops::number<int8_t>)
KERNKIT_EXPORT(uint8, "(int n) -> ()", "", ops::number<uint8_t>)
KERNKIT_EXPORT(int32, "(int n) -> ()", "", ops::number<int32_t>)
KERNKIT_EXPORT(uint32, "(int n) -> ()", "", ops::number<uint32_t>)
KERNKIT_EXPORT(int64, "(int n) -> ()", "", ops::number<int64_t>)
KERNKIT_EXPORT(uint64, "(int n) -> ()", "", ops::number<uint64_t>)
KERNKIT_EXPORT(float32, "(float f) -> ()", "", ops::number<float>)
KERNKIT_EXPORT(float64, "(float f) -> ()", "", ops::number<double>)
KERNKIT_EXPORT(boolean, "(bool b) -> ()", "", ops::number<bool>)
const int kThrowsLine = __LINE__ + 1;
KERNKIT_EXPORT(throws, "(int how) -> ()", "", ops::throws)
KERNKIT_EXPORT(defaults,
               "(int a, float b=2.5, str c='hi, (you)', bool d=True, int? e=None, "
               "ScalarType f=bfloat16, float g=-inf) -> ()",
               "", ops::defaults)
KERNKIT_EXPORT(optionals, "(Tensor? x, float? f=None, int[]? s=None) -> ()", "", ops::optionals)
KERNKIT_EXPORT(lists, "(int[] sizes, float[] factors, Tensor[] tensors) -> ()", "", ops::lists)
KERNKIT_EXPORT(words, "(str a, str b) -> ()", "", ops::words)
KERNKIT_EXPORT(things, "(ScalarType t, Device d) -> ()", "", ops::things)
KERNKIT_EXPORT(keep, "(Tensor x) -> ()", "", ops::keep)
KERNKIT_EXPORT(give_back, "(Tensor x) -> Tensor", "", ops::give_back)
KERNKIT_EXPORT(returns_int, "(int x) -> int", "", ops::returns_int)
KERNKIT_EXPORT(returns_float, "() -> float", "", ops::returns_float)
KERNKIT_EXPORT(returns_bool, "() -> bool", "", ops::returns_bool)
KERNKIT_EXPORT(returns_str, "() -> str", "", ops::returns_str)
KERNKIT_EXPORT(returns_pair, "(Tensor x) -> (int, Tensor)", "", ops::returns_pair)

namespace kernkit {
namespace {

using testing::HostTensor;
using Args = std::vector<KernkitAny>;

KernkitAny none() { return KernkitAny{}; }
KernkitAny any(int32_t type_index, int64_t value) {
  KernkitAny result{};
  result.type_index = type_index;
  result.v.i64 = value;
  return result;
}
KernkitAny integer(int64_t value) { return any(kKernkitInt, value); }
KernkitAny boolean(bool value) { return any(kKernkitBool, value); }
KernkitAny real(double value) {
  KernkitAny result{};
  result.type_index = kKernkitFloat;
  result.v.f64 = value;
  return result;
}
KernkitAny pointer(int32_t type_index, const void* value) {
  KernkitAny result{};
  result.type_index = type_index;
  result.v.ptr = const_cast<void*>(value);
  return result;
}
KernkitAny raw_str(const char* text) { return pointer(kKernkitRawStr, text); }

// An object as a host lays it out: the header, then the cell.
template <class Cell>
struct Object {
  KernkitObject header{(uint64_t{1} << 32) | 1, 0, 0, nullptr};
  Cell cell{};

  Object(int32_t type_index, Cell content) : cell(content) { header.type_index = type_index; }
  KernkitAny any() const { return pointer(header.type_index, this); }
};
static_assert(offsetof(Object<DLTensor>, cell) == sizeof(KernkitObject));

// 0 becomes "nothing"; -1 becomes the error of this call, never of an earlier one.
std::string error(KernkitFunction function, const Args& args) {
  detail::last_error() = Error("stale", "");
  ops::seen = "not called";
  KernkitAny result = any(-5, 55);
  const int code = function(nullptr, args.data(), static_cast<int32_t>(args.size()), &result);
  if (code == 0) return "nothing";
  EXPECT_EQ(code, -1);
  EXPECT_EQ(ops::seen, "not called");
  EXPECT_EQ(result.type_index, -5) << "the result was touched";
  EXPECT_EQ(result.v.i64, 55) << "the result was touched";
  return kernkit_last_error();
}
// What the op saw, or the error.
std::string seen(KernkitFunction function, const Args& args) {
  const std::string text = error(function, args);
  return text == "nothing" ? ops::seen : text;
}

class Export : public ::testing::Test {
 protected:
  HostTensor<float> x_tensor{{2, 3}};
  KernkitAny x = pointer(kKernkitDLTensorPtr, x_tensor.dl());
};

TEST_F(Export, TensorAsPointer) {
  EXPECT_EQ(seen(__tvm_ffi_mixed, {x, integer(-3), real(2.5), boolean(true)}),
            "x;float32 [2, 3];-3;2.5;true;");
}

TEST_F(Export, TensorAsObject) {
  const Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  EXPECT_EQ(seen(__tvm_ffi_mixed, {object.any(), integer(0), real(0), boolean(false)}),
            "x;float32 [2, 3];0;0;false;");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 1) << "a view takes no reference";
}

TEST_F(Export, TensorFromOtherThings) {
  const auto with = [](KernkitAny first) {
    return error(__tvm_ffi_mixed, {first, integer(0), real(0), boolean(false)});
  };
  const std::string expected = "TypeError: mixed(): x: expected Tensor, got ";
  EXPECT_EQ(with(none()), expected + "None");
  EXPECT_EQ(with(integer(3)), expected + "int 3");
  EXPECT_EQ(with(boolean(true)), expected + "bool true");
  EXPECT_EQ(with(real(0.5)), expected + "float 0.5");
  EXPECT_EQ(with(pointer(kKernkitDLTensorPtr, nullptr)), expected + "a null DLTensor*");
  EXPECT_EQ(with(pointer(kKernkitOpaquePtr, nullptr)), expected + "a raw pointer");
  EXPECT_EQ(with(raw_str("text")), expected + "str \"text\"");
  EXPECT_EQ(with(pointer(kKernkitOpaquePyObject, this)),
            expected + "a Python object that is no tensor");
  EXPECT_EQ(with(pointer(kKernkitFunction, this)), expected + "a function");
  EXPECT_EQ(with(pointer(kKernkitShape, this)), expected + "Shape");
  EXPECT_EQ(with(pointer(kKernkitMap, this)), expected + "a dict");
  EXPECT_EQ(with(pointer(kKernkitBytes, this)), expected + "bytes");
  EXPECT_EQ(with(pointer(130, this)), expected + "an object of type index 130");
  EXPECT_EQ(with(pointer(79, this)), expected + "an object of type index 79");
  KernkitAny dtype{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_float16;
  EXPECT_EQ(with(dtype), expected + "dtype float16");
  KernkitAny device{};
  device.type_index = kKernkitDevice;
  device.v.device = {kDLCUDA, 1};
  EXPECT_EQ(with(device), expected + "device cuda:1");
  const Object<KernkitSeqCell> list(kKernkitArray, {nullptr, 2, 2, nullptr});
  EXPECT_EQ(with(list.any()), expected + "a list of 2");
}

TEST_F(Export, LongTextIsCut) {
  const std::string text(100, 'a');
  EXPECT_EQ(error(__tvm_ffi_int32, {raw_str(text.c_str())}),
            "TypeError: int32(): n: expected int, got str \"" + text.substr(0, 40) + "...\"");
}

TEST_F(Export, References) { EXPECT_EQ(seen(__tvm_ffi_by_reference, {x, integer(4)}), "x;4;"); }

TEST_F(Export, CountOfArguments) {
  EXPECT_EQ(seen(__tvm_ffi_nothing, {}), "nothing;");
  EXPECT_EQ(error(__tvm_ffi_nothing, {integer(1)}),
            "TypeError: nothing(): takes 0 arguments, got 1");
  EXPECT_EQ(error(__tvm_ffi_int8, {}), "TypeError: int8(): takes 1 argument (n), got 0");
  EXPECT_EQ(error(__tvm_ffi_refused, {x}), "TypeError: refused(): takes 2 arguments (y, x), got 1");
  EXPECT_EQ(error(__tvm_ffi_refused, {x, x, x}),
            "TypeError: refused(): takes 2 arguments (y, x), got 3");
  EXPECT_EQ(__tvm_ffi_nothing(nullptr, nullptr, -1, nullptr), -1);
}

TEST_F(Export, IntegersInRange) {
  EXPECT_EQ(seen(__tvm_ffi_int8, {integer(-128)}), "-128;");
  EXPECT_EQ(seen(__tvm_ffi_int8, {integer(127)}), "127;");
  EXPECT_EQ(seen(__tvm_ffi_uint8, {integer(255)}), "255;");
  EXPECT_EQ(seen(__tvm_ffi_int32, {integer(INT32_MIN)}), "-2147483648;");
  EXPECT_EQ(seen(__tvm_ffi_uint32, {integer(UINT32_MAX)}), "4294967295;");
  EXPECT_EQ(seen(__tvm_ffi_int64, {integer(INT64_MIN)}), "-9223372036854775808;");
  EXPECT_EQ(seen(__tvm_ffi_uint64, {integer(INT64_MAX)}), "9223372036854775807;");
  EXPECT_EQ(seen(__tvm_ffi_int64, {boolean(true)}), "1;");
}

TEST_F(Export, IntegersOutOfRange) {
  EXPECT_EQ(error(__tvm_ffi_int8, {integer(128)}),
            "ValueError: int8(): n: int 128 is out of range [-128, 127]");
  EXPECT_EQ(error(__tvm_ffi_int8, {integer(-129)}),
            "ValueError: int8(): n: int -129 is out of range [-128, 127]");
  EXPECT_EQ(error(__tvm_ffi_uint8, {integer(-1)}),
            "ValueError: uint8(): n: int -1 is out of range [0, 255]");
  EXPECT_EQ(error(__tvm_ffi_int32, {integer(int64_t{1} << 31)}),
            "ValueError: int32(): n: int 2147483648 is out of range [-2147483648, 2147483647]");
  EXPECT_EQ(error(__tvm_ffi_int32, {integer(int64_t{1} << 32)}),
            "ValueError: int32(): n: int 4294967296 is out of range [-2147483648, 2147483647]");
  EXPECT_EQ(error(__tvm_ffi_uint32, {integer(-1)}),
            "ValueError: uint32(): n: int -1 is out of range [0, 4294967295]");
  EXPECT_EQ(error(__tvm_ffi_uint64, {integer(-1)}),
            "ValueError: uint64(): n: int -1 is out of range [0, 18446744073709551615]");
  EXPECT_EQ(error(__tvm_ffi_int64, {pointer(kKernkitBigInt, this)}),
            "ValueError: int64(): n: an int beyond 64 bits is out of range [-9223372036854775808, "
            "9223372036854775807]");
}

TEST_F(Export, IntegersFromOtherThings) {
  EXPECT_EQ(error(__tvm_ffi_int32, {real(3.0)}),
            "TypeError: int32(): n: expected int, got float 3");
  EXPECT_EQ(error(__tvm_ffi_int32, {none()}), "TypeError: int32(): n: expected int, got None");
  EXPECT_EQ(error(__tvm_ffi_int32, {x}), "TypeError: int32(): n: expected int, got DLTensor*");
}

TEST_F(Export, Floats) {
  EXPECT_EQ(seen(__tvm_ffi_float64, {real(0.1)}), "0.1;");
  EXPECT_EQ(seen(__tvm_ffi_float64, {integer(-3)}), "-3;");
  EXPECT_EQ(seen(__tvm_ffi_float64, {boolean(true)}), "1;");
  EXPECT_EQ(seen(__tvm_ffi_float32, {real(0.1)}), "0.10000000149011612;");
  EXPECT_EQ(seen(__tvm_ffi_float64, {real(std::nan(""))}), "nan;");
  EXPECT_EQ(seen(__tvm_ffi_float64, {real(-HUGE_VAL)}), "-inf;");
  EXPECT_EQ(error(__tvm_ffi_float64, {none()}),
            "TypeError: float64(): f: expected float, got None");
  EXPECT_EQ(error(__tvm_ffi_float64, {raw_str("1.0")}),
            "TypeError: float64(): f: expected float, got str \"1.0\"");
}

TEST_F(Export, Bools) {
  EXPECT_EQ(seen(__tvm_ffi_boolean, {boolean(true)}), "true;");
  EXPECT_EQ(seen(__tvm_ffi_boolean, {integer(0)}), "false;");
  EXPECT_EQ(seen(__tvm_ffi_boolean, {integer(int64_t{1} << 40)}), "true;");
  EXPECT_EQ(error(__tvm_ffi_boolean, {real(1)}),
            "TypeError: boolean(): b: expected bool, got float 1");
  EXPECT_EQ(error(__tvm_ffi_boolean, {none()}), "TypeError: boolean(): b: expected bool, got None");
}

// A message names arguments as the schema line does, also when the kernel says it.
TEST_F(Export, NamesAreTheSchemas) {
  HostTensor<double> y({2, 3});
  EXPECT_EQ(error(__tvm_ffi_refused, {pointer(kKernkitDLTensorPtr, y.dl()), x}),
            "TypeError: refused(): y: dtype float64 does not match x (float32)");
  EXPECT_EQ(seen(__tvm_ffi_refused, {x, x}), "ran;");
}

TEST_F(Export, FirstWrongArgumentIsReported) {
  EXPECT_EQ(error(__tvm_ffi_refused, {none(), none()}),
            "TypeError: refused(): y: expected Tensor, got None");
  EXPECT_EQ(error(__tvm_ffi_mixed, {x, integer(int64_t{1} << 40), none(), none()}).substr(0, 26),
            "ValueError: mixed(): count");
  EXPECT_EQ(error(__tvm_ffi_mixed, {x, integer(1), none(), none()}),
            "TypeError: mixed(): factor: expected float, got None");
  EXPECT_EQ(error(__tvm_ffi_mixed, {x, integer(1), integer(1), none()}),
            "TypeError: mixed(): flag: expected bool, got None");
}

TEST_F(Export, ExceptionsOfTheKernel) {
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(0)}), "ValueError: throws(): how: is 0");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(1)}), "MemoryError: throws(): out of memory");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(2)}), "RuntimeError: throws(): of the library");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(3)}),
            "InternalError: throws(): threw something that is no std::exception");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(4)}),
            "InternalError: throws(): internal check failed: 1 == 2 (1 vs 2) bug");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(5)}), "RuntimeError: throws(): no runtime_error");
}

// An error about an argument comes from the export's line, one of the kernel from the kernel's.
TEST_F(Export, WhereItHappened) {
  error(__tvm_ffi_throws, {none()});
  EXPECT_EQ(detail::last_error().where().line, kThrowsLine);
  error(__tvm_ffi_throws, {integer(3)});
  EXPECT_EQ(detail::last_error().where().line, kThrowsLine);
  error(__tvm_ffi_throws, {integer(0)});
  EXPECT_LT(detail::last_error().where().line, kThrowsLine);
  EXPECT_GT(detail::last_error().where().line, 0);
}

TEST_F(Export, ThreadsHaveTheirOwnLastError) {
  const std::string mine = error(__tvm_ffi_throws, {integer(0)});
  std::string at_start, theirs;
  std::thread([&] {
    at_start = kernkit_last_error();
    theirs = error(__tvm_ffi_throws, {integer(2)});
  }).join();
  EXPECT_EQ(theirs, "RuntimeError: throws(): of the library");
  EXPECT_EQ(kernkit_last_error(), mine);
  EXPECT_EQ(at_start.find("throws"), std::string::npos);
}

TEST_F(Export, NoErrorIsNoText) {
  std::string at_start = "unset";
  std::thread([&] { at_start = kernkit_last_error(); }).join();
  EXPECT_EQ(at_start, "");
}

TEST_F(Export, SuccessLeavesTheLastErrorAlone) {
  const std::string text = error(__tvm_ffi_throws, {integer(0)});
  EXPECT_EQ(__tvm_ffi_nothing(nullptr, nullptr, 0, nullptr), 0);
  EXPECT_EQ(kernkit_last_error(), text);
}

TEST_F(Export, Defaults) {
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1)}), "1;2.5;hi, (you);true;-1;bfloat16;-inf;");
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1), real(3)}),
            "1;3;hi, (you);true;-1;bfloat16;-inf;");
  KernkitAny dtype{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_bool;
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1), real(3), raw_str("c"), boolean(false), integer(4),
                                      dtype, integer(9)}),
            "1;3;c;false;4;bool;9;");
  EXPECT_EQ(error(__tvm_ffi_defaults, {}),
            "TypeError: defaults(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 0");
  EXPECT_EQ(error(__tvm_ffi_defaults, Args(8, integer(1))),
            "TypeError: defaults(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 8");
  EXPECT_EQ(error(__tvm_ffi_defaults, {integer(1), none()}),
            "TypeError: defaults(): b: expected float, got None");
}

TEST_F(Export, Optionals) {
  EXPECT_EQ(seen(__tvm_ffi_optionals, {none()}), "-;-1;[];false;");
  const int64_t sizes[] = {4, 8};
  const Object<KernkitShapeCell> shape(kKernkitShape, {sizes, 2});
  EXPECT_EQ(seen(__tvm_ffi_optionals, {x, real(2), shape.any()}), "x;2;[4, 8];true;");
  EXPECT_EQ(seen(__tvm_ffi_optionals, {x, none(), none()}), "x;-1;[];false;");
  EXPECT_EQ(error(__tvm_ffi_optionals, {integer(1)}),
            "TypeError: optionals(): x: expected Tensor, got int 1");
  EXPECT_EQ(error(__tvm_ffi_optionals, {x, real(2), integer(3)}),
            "TypeError: optionals(): s: expected a list of int, got int 3");
}

TEST_F(Export, Lists) {
  KernkitAny ints[20], floats[] = {real(0.5), integer(2)}, tensors[] = {x};
  for (int i = 0; i < 20; ++i) ints[i] = integer(i);
  const int64_t sizes[] = {7};
  const Object<KernkitShapeCell> shape(kKernkitShape, {sizes, 1});
  // 16 integers fit without an allocation, 17 do not.
  const Object<KernkitSeqCell> three(kKernkitArray, {ints, 3, 3, nullptr});
  const Object<KernkitSeqCell> sixteen(kKernkitArray, {ints, 16, 16, nullptr});
  const Object<KernkitSeqCell> seventeen(kKernkitList, {ints, 17, 20, nullptr});
  const Object<KernkitSeqCell> two(kKernkitList, {floats, 2, 2, nullptr});
  const Object<KernkitSeqCell> one(kKernkitArray, {tensors, 1, 1, nullptr});
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  const std::string to15 = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15";
  EXPECT_EQ(seen(__tvm_ffi_lists, {shape.any(), two.any(), one.any()}), "[7];2;2;1;tensors;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {three.any(), two.any(), one.any()}), "[0, 1, 2];2;2;1;tensors;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {empty.any(), empty.any(), empty.any()}), "[];0;-1;0;-;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {sixteen.any(), empty.any(), empty.any()}),
            "[" + to15 + "];0;-1;0;-;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {seventeen.any(), empty.any(), empty.any()}),
            "[" + to15 + ", 16];0;-1;0;-;");
}

TEST_F(Export, ListsOfWrongThings) {
  KernkitAny items[20];
  for (KernkitAny& item : items) item = integer(1);
  items[17] = real(0.5);
  const Object<KernkitSeqCell> list(kKernkitArray, {items, 20, 20, nullptr});
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  EXPECT_EQ(error(__tvm_ffi_lists, {list.any(), empty.any(), empty.any()}),
            "TypeError: lists(): sizes[17]: expected int, got float 0.5");
  items[0] = none();
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), list.any(), empty.any()}),
            "TypeError: lists(): factors[0]: expected float, got None");
  EXPECT_EQ(error(__tvm_ffi_lists, {integer(1), empty.any(), empty.any()}),
            "TypeError: lists(): sizes: expected a list of int, got int 1");
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), none(), empty.any()}),
            "TypeError: lists(): factors: expected a list, got None");
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), empty.any(), list.any()}),
            "TypeError: lists(): tensors[0]: expected Tensor, got None");
}

TEST_F(Export, Words) {
  KernkitAny small{};
  small.type_index = kKernkitSmallStr;
  small.small_size = 7;
  memcpy(small.v.small, "seventh", 7);
  const std::string text = "text with a \0 inside";
  const Object<KernkitByteArray> str(kKernkitStr, {text.data(), text.size()});
  EXPECT_EQ(seen(__tvm_ffi_words, {small, raw_str("raw")}), "seventh;raw;");
  EXPECT_EQ(seen(__tvm_ffi_words, {str.any(), small}), text + ";seventh;");
  EXPECT_EQ(error(__tvm_ffi_words, {raw_str("a"), pointer(kKernkitBytes, this)}),
            "TypeError: words(): b: expected str, got bytes");
  EXPECT_EQ(error(__tvm_ffi_words, {none(), none()}),
            "TypeError: words(): a: expected str, got None");
}

TEST_F(Export, DtypesAndDevices) {
  KernkitAny dtype{}, device{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_int8;
  device.type_index = kKernkitDevice;
  device.v.device = {kDLCUDA, 1};
  EXPECT_EQ(seen(__tvm_ffi_things, {dtype, device}), "int8;cuda:1;");
  EXPECT_EQ(seen(__tvm_ffi_things, {raw_str("bfloat16"), device}), "bfloat16;cuda:1;");
  EXPECT_EQ(error(__tvm_ffi_things, {raw_str("floaty"), device}),
            "TypeError: things(): t: expected a dtype, got str \"floaty\"");
  EXPECT_EQ(error(__tvm_ffi_things, {dtype, raw_str("cuda")}),
            "TypeError: things(): d: expected a device, got str \"cuda\"");
}

TEST_F(Export, OwnedTensor) {
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const uint64_t before = object.header.ref_counts;
  EXPECT_EQ(error(__tvm_ffi_keep, {object.any()}), "nothing");
  EXPECT_EQ(object.header.ref_counts, before + 1);
  EXPECT_EQ(ops::kept.use_count(), 2u);
  EXPECT_STREQ(ops::kept.view().name(), "x");
  ops::kept = Tensor();
  EXPECT_EQ(object.header.ref_counts, before);
  EXPECT_EQ(error(__tvm_ffi_keep, {x}),
            "TypeError: keep(): x: expected an owned Tensor, got DLTensor*");
}

TEST_F(Export, Results) {
  KernkitAny result = any(-5, -1);
  const KernkitAny one = integer(41);
  ASSERT_EQ(__tvm_ffi_returns_int(nullptr, &one, 1, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitInt);
  EXPECT_EQ(result.small_size, 0u);
  EXPECT_EQ(result.v.i64, 42);
  ASSERT_EQ(__tvm_ffi_returns_float(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitFloat);
  EXPECT_EQ(result.v.f64, 2.5);
  ASSERT_EQ(__tvm_ffi_returns_bool(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitBool);
  EXPECT_EQ(result.v.i64, 1);
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const KernkitAny tensor = object.any();
  ASSERT_EQ(__tvm_ffi_give_back(nullptr, &tensor, 1, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitTensor);
  EXPECT_EQ(result.v.object, &object.header);
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 2) << "the result owns one reference";
}

TEST_F(Export, ResultsThatNeedAHost) {
  EXPECT_EQ(
      error(__tvm_ffi_returns_str, {}),
      "RuntimeError: returns_str(): returns a str, which only a host can make, and none is in "
      "the process");
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  EXPECT_EQ(
      error(__tvm_ffi_returns_pair, {object.any()}),
      "RuntimeError: returns_pair(): returns a tuple, which only a host can make, and none is "
      "in the process");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 1) << "a reference was lost";
  EXPECT_EQ(error(__tvm_ffi__doc_nothing, {}).substr(0, 24), "RuntimeError: nothing():");
  EXPECT_EQ(error(__tvm_ffi__metadata_nothing, {}).substr(0, 24), "RuntimeError: nothing():");
}

}  // namespace
}  // namespace kernkit

// What a tool reads from the file: each op's line in a section of its own, NUL-terminated.
extern "C" const char __start_kernkit_schema[], __stop_kernkit_schema[];
extern "C" const char __start_kernkit_doc[], __stop_kernkit_doc[];
TEST(ExportSection, HoldsEveryLine) {
  const std::string section(__start_kernkit_schema, __stop_kernkit_schema);
  EXPECT_NE(section.find(std::string("refused(Tensor(a!) y, Tensor x) -> ()") + '\0'),
            std::string::npos);
  EXPECT_NE(section.find(std::string("nothing() -> ()") + '\0'), std::string::npos);
  const std::string docs(__start_kernkit_doc, __stop_kernkit_doc);
  EXPECT_NE(docs.find(std::string("nothing: Does nothing.") + '\0'), std::string::npos);
}
