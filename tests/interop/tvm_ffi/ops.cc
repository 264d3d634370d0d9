// SPDX-License-Identifier: Apache-2.0
// Ops written for tvm-ffi according to its guide: compiled by test_tvm_ffi_compat.py against
// kernkit's headers of the same names and against tvm-ffi's own, and called in the same way.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

#include <cstdlib>
#include <sstream>

namespace ffi = tvm::ffi;

// ---- Functions from examples of tvm-ffi's guide: attributes, allocation, DLPack, the stream.

struct CPUNDAlloc {
  void AllocData(DLTensor* tensor) { tensor->data = std::calloc(1, ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

ffi::String attributes(ffi::TensorView x) {
  std::string text =
      std::to_string(x.dim()) + " dims, dtype " + std::string(ffi::DLDataTypeToString(x.dtype()));
  for (int64_t n : x.sizes()) text += " " + std::to_string(n);
  text += " strides";
  for (int64_t n : x.strides()) text += " " + std::to_string(n);
  text += " numel " + std::to_string(x.numel()) + " on " +
          std::to_string(static_cast<int>(x.device().device_type)) + ":" +
          std::to_string(x.device().device_id);
  return text + (x.is_contiguous() ? " contiguous" : " strided");
}
int64_t last_size(ffi::TensorView x) { return x.size(-1); }
int64_t size_at(ffi::TensorView x, int64_t i) { return x.size(i); }
int64_t stride_at(ffi::TensorView x, int64_t i) { return x.stride(i); }
int64_t shape_at(ffi::TensorView x, int64_t i) { return x.shape().at(static_cast<size_t>(i)); }
int64_t numel(ffi::TensorView x) { return x.numel(); }
int64_t address(ffi::TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()); }

ffi::Tensor allocate(ffi::Shape shape, DLDataType dtype) {
  return ffi::Tensor::FromNDAlloc(CPUNDAlloc(), shape, dtype, DLDevice{kDLCPU, 0});
}
ffi::Tensor allocate_braces() {
  ffi::Tensor t = ffi::Tensor::FromNDAlloc(CPUNDAlloc(), {2, 3}, DLDataType{kDLFloat, 32, 1},
                                           DLDevice{kDLCPU, 0});
  for (int64_t i = 0; i < t.numel(); ++i) static_cast<float*>(t.data_ptr())[i] = 0.5f * i;
  return t;
}
ffi::Tensor empty_like(ffi::TensorView x) {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
}
ffi::Tensor through_dlpack(ffi::Tensor x) {
  return ffi::Tensor::FromDLPackVersioned(x.ToDLPackVersioned());
}
ffi::Tensor through_old_dlpack(ffi::Tensor x) { return ffi::Tensor::FromDLPack(x.ToDLPack()); }
ffi::Tensor same(ffi::Tensor x) { return x; }

int64_t stream_of(int32_t type, int32_t id) {
  return reinterpret_cast<int64_t>(TVMFFIEnvGetStream(type, id));
}

// ---- Parameters and results.

void scale(ffi::TensorView y, ffi::TensorView x, double factor) {
  TVM_FFI_CHECK(x.ndim() == 1, ValueError) << "x must be 1D, got " << x.ndim();
  TVM_FFI_ICHECK_EQ(x.size(0), y.size(0)) << "x and y differ";
  TVM_FFI_CHECK(x.dtype() == y.dtype(), TypeError) << "x is " << x.dtype() << ", y " << y.dtype();
  if (x.dtype().bits != 32) TVM_FFI_THROW(TypeError) << "Unsupported " << x.dtype();
  const auto* from = static_cast<const float*>(x.data_ptr());
  auto* to = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < x.size(0); ++i) {
    to[i * y.stride(0)] = static_cast<float>(factor) * from[i * x.stride(0)];
  }
}
double sum_or(ffi::Optional<ffi::TensorView> x, ffi::Optional<double> otherwise) {
  if (!x.has_value()) return otherwise.value_or(-1.0);
  double sum = 0;
  for (int64_t i = 0; i < x.value().numel(); ++i) {
    sum += static_cast<const float*>(x.value().data_ptr())[i];
  }
  return sum;
}
ffi::Optional<int64_t> half(int64_t n) {
  if (n % 2 != 0) return std::nullopt;
  return n / 2;
}
ffi::Array<int64_t> reversed(ffi::Array<int64_t> values) {
  ffi::Array<int64_t> result;
  for (size_t i = values.size(); i > 0; --i) result.push_back(values[static_cast<int64_t>(i) - 1]);
  return result;
}
ffi::Array<int64_t> squares(int64_t n) {
  std::vector<int64_t> values = {1};
  for (int64_t i = 2; i <= n; ++i) values.push_back(i * i);
  if (n == 2) return ffi::Array{values[0], values[1]};
  return ffi::Array(values);
}
int64_t sum_of_lists(ffi::Array<ffi::Array<int64_t>> lists) {
  int64_t sum = 0;
  for (const auto& list : lists) {
    for (int64_t value : list) sum += value;
  }
  return sum;
}
int64_t ranks(const ffi::Array<ffi::Tensor>& tensors) {
  int64_t sum = 0;
  for (const ffi::Tensor& x : tensors) sum = 10 * sum + x.ndim();
  return sum;
}
ffi::Array<ffi::Tensor> twice(ffi::Tensor x) { return {x, x}; }
ffi::Array<int64_t> shared_until_set(ffi::Array<int64_t> a) {
  ffi::Array<int64_t> b = a;
  b.Set(0, 7);
  return {a[0], b[0]};
}
int64_t element(ffi::Array<int64_t> values, int64_t i) { return values[i]; }
ffi::Tuple<int64_t, double, ffi::String> three() {
  return ffi::Tuple<int64_t, double, ffi::String>(1, 0.5, "x");
}
double of_pair(ffi::Tuple<int64_t, double> pair) { return pair.get<0>() + pair.get<1>(); }
ffi::String greet(ffi::String name) { return "hello " + name; }
int64_t length(const std::string& text) { return static_cast<int64_t>(text.size()); }
ffi::Shape grown(ffi::Shape shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  sizes.push_back(shape.Product());
  return ffi::Shape(sizes);
}
bool opposite(bool flag) { return !flag; }
int32_t narrow(int32_t n) { return n; }
DLDataType dtype_of_name(DLDataType dtype) { return dtype; }
DLDevice device_of(ffi::TensorView x) { return x.device(); }
void nothing() {}
float add(float a, float b) { return a + b; }

// ---- Errors.

enum Status { kFine = 0, kBroken = 3 };
struct Point {
  int x, y;
};
std::ostream& operator<<(std::ostream& out, const Point& p) {
  return out << "(" << p.x << ", " << p.y << ")";
}

int64_t fail(const std::string& how) {
  const int64_t three = 3;
  const void* null = nullptr;
  if (how == "check") TVM_FFI_CHECK(three == 4, ValueError) << "three is " << three;
  if (how == "check alone") TVM_FFI_CHECK(three == 4, TypeError);
  if (how == "icheck") TVM_FFI_ICHECK(three > 4) << "text";
  if (how == "icheck eq") TVM_FFI_ICHECK_EQ(three, 4) << "text " << 1.5;
  if (how == "icheck ne") TVM_FFI_ICHECK_NE(three, 3);
  if (how == "icheck lt") TVM_FFI_ICHECK_LT(three, 3) << "";
  if (how == "icheck le") TVM_FFI_ICHECK_LE(three, 2) << "x";
  if (how == "icheck gt") TVM_FFI_ICHECK_GT(three, 3) << "x";
  if (how == "icheck ge") TVM_FFI_ICHECK_GE(three, 4) << "x";
  if (how == "check eq") TVM_FFI_CHECK_EQ(three, 5, IndexError) << "kind";
  if (how == "literal") TVM_FFI_ICHECK_EQ(three, 4) "no << before this";
  if (how == "null") TVM_FFI_ICHECK_NE(null, nullptr) << "null";
  if (how == "not null") TVM_FFI_ICHECK_NOTNULL(null);
  if (how == "throw") TVM_FFI_THROW(RuntimeError) << "thrown " << 1.5f << ' ' << 'c';
  if (how == "other kind") TVM_FFI_THROW(KeyError) << "a key";
  if (how == "log") TVM_FFI_LOG_AND_THROW(ValueError) << "logged";
  if (how == "enum") TVM_FFI_ICHECK_EQ(kBroken, kFine) << kBroken;
  if (how == "class") TVM_FFI_CHECK(false, ValueError) << "at " << Point{1, 2};
  if (how == "std") throw std::runtime_error("of the library");
  if (how == "error") throw ffi::Error("ValueError", "made by hand", "");
  return three;
}
ffi::String caught(const std::string& how) {
  try {
    fail(how);
  } catch (const ffi::Error& error) {
    return error.kind() + "|" + error.message() + "|" + error.what();
  }
  return "nothing";
}
ffi::String caught_index(ffi::TensorView x) {
  try {
    x.size(9);
  } catch (const ffi::Error& error) {
    return error.kind() + "|" + error.message();
  }
  return "nothing";
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(attributes, attributes);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(last_size, last_size);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(size_at, size_at);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stride_at, stride_at);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shape_at, shape_at);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(numel, numel);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address, address);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocate, allocate);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocate_braces, allocate_braces);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(empty_like, empty_like);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(through_dlpack, through_dlpack);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(through_old_dlpack, through_old_dlpack);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(same, same);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stream_of, stream_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum_or, sum_or);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(half, half);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(reversed, reversed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(squares, squares);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum_of_lists, sum_of_lists);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(ranks, ranks);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shared_until_set, shared_until_set);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(element, element);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(three, three);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(of_pair, of_pair);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, greet);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(length, length);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(grown, grown);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opposite, opposite);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(narrow, narrow);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dtype_of_name, dtype_of_name);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(device_of, device_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nothing, nothing);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, fail);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(caught, caught);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(caught_index, caught_index);
