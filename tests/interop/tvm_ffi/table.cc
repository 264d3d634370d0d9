// SPDX-License-Identifier: Apache-2.0
// Small functions for test_tvm_ffi_table.py. The test compiles this file against kernkit's headers
// under tvm-ffi's names and against tvm-ffi's own headers, and calls each function of both
// libraries with the same arguments.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/device.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace ffi = tvm::ffi;
using ffi::Array, ffi::Optional, ffi::Shape, ffi::String, ffi::Tensor, ffi::TensorView, ffi::Tuple;

#define EXPORT(name) TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, name);

// ---- Functions that return their argument: one for each type of parameter and result.

template <class T>
T echo(T value) {
  return value;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_bool, echo<bool>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_int64, echo<int64_t>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_int32, echo<int32_t>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_uint8, echo<uint8_t>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_uint64, echo<uint64_t>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_double, echo<double>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_float, echo<float>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_String, echo<String>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_std_string, echo<std::string>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_DLDataType, echo<DLDataType>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_DLDevice, echo<DLDevice>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Tensor, echo<Tensor>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Shape, echo<Shape>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_int64, echo<Array<int64_t>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_double, echo<Array<double>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_bool, echo<Array<bool>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_String, echo<Array<String>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_Tensor, echo<Array<Tensor>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_Shape, echo<Array<Shape>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_DLDataType, echo<Array<DLDataType>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_DLDevice, echo<Array<DLDevice>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_Optional, echo<Array<Optional<int64_t>>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Array_Array, echo<Array<Array<int64_t>>>);
auto echo_Tuple(Tuple<int64_t, String> x) { return x; }
EXPORT(echo_Tuple)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_bool, echo<Optional<bool>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_int64, echo<Optional<int64_t>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_double, echo<Optional<double>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_String, echo<Optional<String>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_DLDataType, echo<Optional<DLDataType>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_DLDevice, echo<Optional<DLDevice>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_Tensor, echo<Optional<Tensor>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_Shape, echo<Optional<Shape>>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo_Optional_Array, echo<Optional<Array<int64_t>>>);
auto echo_Optional_Tuple(Optional<Tuple<int64_t, String>> x) { return x; }
EXPORT(echo_Optional_Tuple)
auto rank_of_TensorView(TensorView x) { return x.ndim(); }
EXPORT(rank_of_TensorView)
auto rank_of_Optional_TensorView(Optional<TensorView> x) {
  return x.has_value() ? x.value().ndim() : -1;
}
EXPORT(rank_of_Optional_TensorView)

// ---- Names of dtypes.

auto dtype_of_text(std::string text) {
  const DLDataType dtype = ffi::StringToDLDataType(text);
  return Tuple<int64_t, int64_t, int64_t>(dtype.code, dtype.bits, dtype.lanes);
}
EXPORT(dtype_of_text)
auto text_of_dtype(int64_t code, int64_t bits, int64_t lanes) {
  return ffi::DLDataTypeToString(DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits),
                                            static_cast<uint16_t>(lanes)});
}
EXPORT(text_of_dtype)

// ---- Tensors.

struct CPUNDAlloc {
  void AllocData(DLTensor* x) { x->data = std::calloc(1, ffi::GetDataSize(*x) + 1); }
  void FreeData(DLTensor* x) { std::free(x->data); }
};
constexpr DLDevice kCpu = {kDLCPU, 0};
constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

auto is_defined(Tensor x) { return x.defined(); }
EXPORT(is_defined)
auto undefined() { return Tensor(); }
EXPORT(undefined)
auto undefined_in_array() { return Array<Tensor>{Tensor()}; }
EXPORT(undefined_in_array)
auto rank_of_undefined(Tensor x) { return x.defined() ? x.ndim() : TensorView(x).ndim(); }
EXPORT(rank_of_undefined)
auto from_env(Shape shape, DLDataType dtype, DLDevice device) {
  return Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, shape, dtype, device);
}
EXPORT(from_env)
auto from_env_like(TensorView x) {
  return Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
}
EXPORT(from_env_like)
auto from_alloc(Shape shape, DLDataType dtype) {
  return Tensor::FromNDAlloc(CPUNDAlloc(), shape, dtype, kCpu);
}
EXPORT(from_alloc)
auto from_alloc_strided(Shape shape, Shape strides) {
  return Tensor::FromNDAllocStrided(CPUNDAlloc(), shape, strides, kFloat32, kCpu);
}
EXPORT(from_alloc_strided)
auto from_dlpack(Tensor x, int64_t alignment, bool contiguous) {
  return Tensor::FromDLPackVersioned(x.ToDLPackVersioned(), static_cast<size_t>(alignment),
                                     contiguous);
}
EXPORT(from_dlpack)
auto from_old_dlpack(Tensor x, int64_t alignment, bool contiguous) {
  return Tensor::FromDLPack(x.ToDLPack(), static_cast<size_t>(alignment), contiguous);
}
EXPORT(from_old_dlpack)
auto properties(TensorView x) {
  return Array<int64_t>{x.ndim(),
                        x.dim(),
                        x.numel(),
                        x.IsContiguous(),
                        x.is_contiguous(),
                        static_cast<int64_t>(x.byte_offset()),
                        static_cast<int64_t>(ffi::GetDataSize(x))};
}
EXPORT(properties)
auto size_of(TensorView x, int64_t i) { return x.size(i); }
EXPORT(size_of)
auto stride_of(TensorView x, int64_t i) { return x.stride(i); }
EXPORT(stride_of)
auto owned_size_of(Tensor x, int64_t i) { return x.size(i); }
EXPORT(owned_size_of)
auto strided_sum(TensorView x, Shape shape, Shape strides, int64_t offset) {
  const TensorView view = x.as_strided(shape, strides, offset);
  double sum = 0;
  for (int64_t i = 0; i < view.size(0); ++i) {
    sum += static_cast<const float*>(view.data_ptr())[i * view.stride(0)];
  }
  return sum;
}
EXPORT(strided_sum)
auto null_view() {
  const DLTensor* null = nullptr;
  return TensorView(null).ndim();
}
EXPORT(null_view)

auto null_strides() {
  int64_t shape[] = {2, 3};
  const DLTensor x = {nullptr, kCpu, 2, kFloat32, shape, nullptr, 0};
  return TensorView(&x).stride(0);
}
EXPORT(null_strides)
auto address_of_read_only(Tensor x) {
  DLManagedTensorVersioned* managed = x.ToDLPackVersioned();
  managed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  const Tensor read_only = Tensor::FromDLPackVersioned(managed);
  return TensorView(read_only).data_ptr() != nullptr;
}
EXPORT(address_of_read_only)

// ---- Containers.

auto shape_calls(Shape x) {
  return Array<int64_t>{static_cast<int64_t>(x.size()), x.empty(), x.Product(),
                        x.empty() ? -1 : x.front(), x.empty() ? -1 : x.back()};
}
EXPORT(shape_calls)
auto shape_at(Shape x, int64_t i) { return x.at(static_cast<size_t>(i)); }
EXPORT(shape_at)
auto shape_front(Shape x) { return x.front(); }
EXPORT(shape_front)
auto shape_back(Shape x) { return x.back(); }
EXPORT(shape_back)
auto array_at(Array<int64_t> x, int64_t i) { return x[i]; }
EXPORT(array_at)
auto array_front(Array<int64_t> x) { return x.front(); }
EXPORT(array_front)
auto array_back(Array<int64_t> x) { return x.back(); }
EXPORT(array_back)
auto array_set(Array<int64_t> x, int64_t i) {
  x.Set(i, 7);
  return x;
}
EXPORT(array_set)
auto array_resize(Array<int64_t> x, int64_t n) {
  x.reserve(n);
  x.resize(n);
  return static_cast<int64_t>(x.size());
}
EXPORT(array_resize)
auto array_calls(Array<int64_t> x) {
  x.push_back(5);
  x.emplace_back(6);
  Array<int64_t> y = x;
  y.clear();
  return Array<int64_t>{static_cast<int64_t>(x.size()), y.empty(), x.back()};
}
EXPORT(array_calls)
auto string_calls(String x) {
  return Tuple<int64_t, bool, bool, bool, String, int64_t>(
      static_cast<int64_t>(x.size() + x.length()), x.empty(), x == "b", x < String("b"),
      x + "!" + x, x.compare("b") < 0 ? -1 : x.compare("b") > 0);
}
EXPORT(string_calls)
auto string_at(String x, int64_t i) { return static_cast<int64_t>(x.at(static_cast<size_t>(i))); }
EXPORT(string_at)
auto string_substr(String x, int64_t i) { return String(x.substr(static_cast<size_t>(i))); }
EXPORT(string_substr)
auto value_of(Optional<int64_t> x) { return x.value(); }
EXPORT(value_of)
auto value_of_tensor(Optional<Tensor> x) { return x.value(); }
EXPORT(value_of_tensor)
auto value_of_view(Optional<TensorView> x) { return x.value().ndim(); }
EXPORT(value_of_view)

// ---- Values in messages.

template <class T>
String message_of(const T& value) {
  try {
    TVM_FFI_THROW(ValueError) << value;
  } catch (const ffi::Error& error) {
    return error.message();
  }
}

auto message_of_bool(bool x) { return message_of(x); }
EXPORT(message_of_bool)
auto message_of_int64(int64_t x) { return message_of(x); }
EXPORT(message_of_int64)
auto message_of_uint64(int64_t x) { return message_of(static_cast<uint64_t>(x)); }
EXPORT(message_of_uint64)
auto message_of_int8(int64_t x) { return message_of(static_cast<int8_t>(x)); }
EXPORT(message_of_int8)
auto message_of_uint8(int64_t x) { return message_of(static_cast<uint8_t>(x)); }
EXPORT(message_of_uint8)
auto message_of_char(int64_t x) { return message_of(static_cast<char>(x)); }
EXPORT(message_of_char)
auto message_of_double(double x) { return message_of(x); }
EXPORT(message_of_double)
auto message_of_float(float x) { return message_of(x); }
EXPORT(message_of_float)
auto message_of_String(String x) { return message_of(x); }
EXPORT(message_of_String)
auto message_of_std_string(std::string x) { return message_of(x); }
EXPORT(message_of_std_string)
auto message_of_Shape(Shape x) { return message_of(x); }
EXPORT(message_of_Shape)
auto message_of_dtype(int64_t code, int64_t bits, int64_t lanes) {
  return message_of(DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits),
                               static_cast<uint16_t>(lanes)});
}
EXPORT(message_of_dtype)

// ---- Members of a class, one on each line: "Ints.size()".

template <class T, class F>
const char* named(const char* name, F) {
  return std::is_invocable_v<F, T&> ? name : "";
}
#define HAS(Class, call)                          \
  named<decltype(Class())>(#Class "." #call "\n", \
                           [](auto& x) -> decltype(static_cast<void>(x.call)) {})

using Ints = Array<int64_t>;
using Pair = Tuple<int64_t, double>;

int64_t plus_one(int64_t i) { return i + 1; }
String members() {
  std::string out;
  out += HAS(Ints, push_back(1));
  out += HAS(Ints, emplace_back(1));
  out += HAS(Ints, insert(x.begin(), 1));
  out += HAS(Ints, pop_back());
  out += HAS(Ints, erase(x.begin()));
  out += HAS(Ints, resize(1));
  out += HAS(Ints, reserve(1));
  out += HAS(Ints, clear());
  out += HAS(Ints, Set(0, 1));
  out += HAS(Ints, size());
  out += HAS(Ints, empty());
  out += HAS(Ints, capacity());
  out += HAS(Ints, at(0));
  out += HAS(Ints, front());
  out += HAS(Ints, back());
  out += HAS(Ints, begin());
  out += HAS(Ints, end());
  out += HAS(Ints, rbegin());
  out += HAS(Ints, rend());
  out += HAS(Ints, Map(plus_one));
  out += HAS(Ints, MutateByApply(plus_one));
  out += HAS(Ints, Assign(x.begin(), x.end()));
  out += HAS(Ints, CopyOnWrite());
  out += HAS(Ints, use_count());
  out += HAS(Ints, unique());
  out += HAS(Ints, same_as(x));
  out += HAS(Ints, defined());
  out += HAS(Ints, get());
  out += HAS(Shape, size());
  out += HAS(Shape, empty());
  out += HAS(Shape, at(0));
  out += HAS(Shape, front());
  out += HAS(Shape, back());
  out += HAS(Shape, begin());
  out += HAS(Shape, end());
  out += HAS(Shape, data());
  out += HAS(Shape, Product());
  out += HAS(Shape, StridesFromShape(x));
  out += HAS(Shape, use_count());
  out += HAS(Shape, same_as(x));
  out += HAS(Shape, defined());
  out += HAS(String, size());
  out += HAS(String, length());
  out += HAS(String, empty());
  out += HAS(String, data());
  out += HAS(String, c_str());
  out += HAS(String, at(0));
  out += HAS(String, compare(x));
  out += HAS(String, find(x));
  out += HAS(String, substr(0));
  out += HAS(String, starts_with(x));
  out += HAS(String, ends_with(x));
  out += HAS(String, swap(x));
  out += HAS(String, Split(' '));
  out += HAS(Tensor, data_ptr());
  out += HAS(Tensor, device());
  out += HAS(Tensor, ndim());
  out += HAS(Tensor, dim());
  out += HAS(Tensor, dtype());
  out += HAS(Tensor, shape());
  out += HAS(Tensor, sizes());
  out += HAS(Tensor, strides());
  out += HAS(Tensor, size(0));
  out += HAS(Tensor, stride(0));
  out += HAS(Tensor, numel());
  out += HAS(Tensor, byte_offset());
  out += HAS(Tensor, IsContiguous());
  out += HAS(Tensor, is_contiguous());
  out += HAS(Tensor, IsAligned(1));
  out += HAS(Tensor, as_strided(x.shape(), x.strides()));
  out += HAS(Tensor, ToDLPack());
  out += HAS(Tensor, ToDLPackVersioned());
  out += HAS(Tensor, GetDLTensorPtr());
  out += HAS(Tensor, defined());
  out += HAS(Tensor, use_count());
  out += HAS(Tensor, unique());
  out += HAS(Tensor, same_as(x));
  out += HAS(Tensor, operator->());
  out += HAS(Optional<int64_t>, value());
  out += HAS(Optional<int64_t>, value_or(1));
  out += HAS(Optional<int64_t>, has_value());
  out += HAS(Optional<int64_t>, same_as(x));
  out += HAS(Optional<int64_t>, operator*());
  out += HAS(Pair, size());
  out += HAS(Pair, use_count());
  out += HAS(Pair, same_as(x));
  out += HAS(Pair, defined());
  return out;
}
EXPORT(members)

// ---- Errors.

auto is_below(int64_t x, int64_t y) {
  try {
    TVM_FFI_ICHECK_LT(x, static_cast<uint64_t>(y));
  } catch (const ffi::Error&) {
    return false;
  }
  return true;
}
EXPORT(is_below)

auto throws(std::string what) {
  if (what == "bad_alloc") throw std::bad_alloc();
  if (what == "runtime_error") throw std::runtime_error("text");
  if (what == "out_of_range") throw std::out_of_range("text");
  if (what == "invalid_argument") throw std::invalid_argument("text");
  if (what == "vector") (void)std::vector<int>().at(3);
  if (what == "exception") throw std::exception();
  if (what == "kind") throw ffi::Error("MyError", "text", "");
  if (what == "no_kind") throw ffi::Error("", "text", "");
  if (what == "empty") throw ffi::Error("ValueError", "", "");
  if (what == "lines") throw ffi::Error("ValueError", "two\nlines\n", "");
  if (what == "zero") throw ffi::Error("ValueError", std::string("a\0b", 3), "");
  if (what == "long") throw ffi::Error("ValueError", std::string(5000, 'x'), "");
}
EXPORT(throws)
