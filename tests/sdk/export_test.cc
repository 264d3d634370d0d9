// SPDX-License-Identifier: Apache-2.0
// Exported functions: calls and errors.
#include <new>
#include <stdexcept>
#include <thread>

#include "export_fixture.h"
#include "kernkit/expect.h"

namespace ops {

using kernkit::TensorView;
using Text = std::string;

// The names of the C++ parameters differ from the names in the schema line, so that the tests show
// which names the messages use.
void mixed(TensorView first, int32_t second, double third, bool fourth) {
  record(first.name(), first, second, third, fourth);
}

void rejected(TensorView first, TensorView second) {
  KERNKIT_EXPECT(first).like(second);
  record("ran");
}

void scale_vector(TensorView y, TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::floating{}).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  const float* from = x.data<const float>();
  float* to = y.data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i];
  record("ran", x.numel());
}

void by_reference(const TensorView& first, const int& second) { record(first.name(), second); }
void defaults(int64_t n, Text text) { record(n, text.c_str()); }
void nothing() { record("nothing"); }
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

}  // namespace ops

KERNKIT_EXPORT(mixed, "(Tensor x, int count, float factor, bool flag) -> ()", "", ops::mixed)
KERNKIT_EXPORT(rejected, "(Tensor(a!) y, Tensor x) -> ()", "", ops::rejected)
KERNKIT_EXPORT(scale_vector, "(Tensor(a!) y, Tensor x) -> ()", "", ops::scale_vector)
KERNKIT_EXPORT(defaults, "(int n=1, str text=\"a\") -> ()", "", ops::defaults)
KERNKIT_EXPORT(by_reference, "(Tensor x, int n) -> ()", "", ops::by_reference)
KERNKIT_EXPORT(nothing, "() -> ()", "Does nothing.", ops::nothing)
const int kThrowsLine = __LINE__ + 1;
KERNKIT_EXPORT(throws, "(int how) -> ()", "", ops::throws)

namespace kernkit {
namespace {

TEST_F(Export, TensorAsPointer) {
  EXPECT_EQ(received(__tvm_ffi_mixed, {x, integer(-3), real(2.5), boolean(true)}),
            "x;float32 [2, 3];-3;2.5;true;");
}

TEST_F(Export, TensorAsObject) {
  const Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  EXPECT_EQ(received(__tvm_ffi_mixed, {object.any(), integer(0), real(0), boolean(false)}),
            "x;float32 [2, 3];0;0;false;");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 1) << "a view must not add a reference";
}

TEST_F(Export, TensorFromOtherTypes) {
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
            expected + "a Python object that is not a tensor");
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
  KernkitAny items[2] = {};
  const Object<KernkitSeqCell> list(kKernkitArray, {items, 2, 2, nullptr});
  EXPECT_EQ(with(list.any()), expected + "a list of 2");
}

// Invalid tensor arguments: null pointers, and DLTensors that cannot be read.
TEST_F(Export, TensorWithoutObject) {
  EXPECT_EQ(error(__tvm_ffi_scale_vector, {x, pointer(kKernkitTensor, nullptr)}),
            "TypeError: scale_vector(): x: expected Tensor, got a null Tensor");
  EXPECT_EQ(error(__tvm_ffi_scale_vector, {pointer(kKernkitTensor, nullptr), none()}),
            "TypeError: scale_vector(): y: expected Tensor, got a null Tensor");
}

TEST_F(Export, TensorWithoutSizes) {
  const auto with = [&](int32_t ndim, int64_t* shape) {
    DLTensor tensor = *x_tensor.dl();
    tensor.ndim = ndim;
    tensor.shape = shape;
    const Object<DLTensor> object(kKernkitTensor, tensor);
    const std::string as_object = error(__tvm_ffi_scale_vector, {x, object.any()});
    EXPECT_EQ(error(__tvm_ffi_scale_vector, {x, pointer(kKernkitDLTensorPtr, &tensor)}), as_object);
    return as_object;
  };
  int64_t sizes[] = {2, 3};
  EXPECT_EQ(with(-1, sizes), "ValueError: scale_vector(): x: ndim is -1");
  EXPECT_EQ(with(INT32_MIN, sizes), "ValueError: scale_vector(): x: ndim is -2147483648");
  EXPECT_EQ(with(-1, nullptr), "ValueError: scale_vector(): x: ndim is -1");
  EXPECT_EQ(with(1, nullptr), "ValueError: scale_vector(): x: shape is null, ndim is 1");
  EXPECT_EQ(with(2, nullptr), "ValueError: scale_vector(): x: shape is null, ndim is 2");
  // The shape of a tensor of rank 0 may be null.
  DLTensor scalar = *x_tensor.dl();
  scalar.ndim = 0;
  scalar.shape = nullptr;
  EXPECT_EQ(received(__tvm_ffi_mixed,
                     {pointer(kKernkitDLTensorPtr, &scalar), integer(1), real(1), boolean(true)}),
            "x;float32 [];1;1;true;");
}

// A tensor with null data, such as a fake tensor of PyTorch, is rejected unless it has no elements.
TEST_F(Export, TensorWithoutMemory) {
  const auto with = [&](std::vector<int64_t> sizes, bool y_too) {
    HostTensor<float> y(sizes);
    DLTensor tensor = *y.dl();
    tensor.data = nullptr;
    const KernkitAny fake = pointer(kKernkitDLTensorPtr, &tensor);
    return received(__tvm_ffi_scale_vector,
                    {y_too ? fake : pointer(kKernkitDLTensorPtr, y.dl()), fake});
  };
  const std::string text = "ValueError: scale_vector(): x: data is null, shape is [3]";
  EXPECT_EQ(with({3}, false), text);
  EXPECT_EQ(with({3}, true), text);
  EXPECT_EQ(with({2, 3}, true), "ValueError: scale_vector(): x: data is null, shape is [2, 3]");
  EXPECT_EQ(with({}, true), "ValueError: scale_vector(): x: data is null, shape is []");
  EXPECT_EQ(with({0}, true), "ran;0;");
  EXPECT_EQ(with({2, 0}, false), "ran;0;");
  HostTensor<float> good({3});
  DLTensor tensor = *good.dl();
  tensor.data = nullptr;
  EXPECT_EQ(error(__tvm_ffi_scale_vector,
                  {pointer(kKernkitDLTensorPtr, &tensor), pointer(kKernkitDLTensorPtr, good.dl())}),
            "ValueError: scale_vector(): y: data is null, shape is [3]");
  // Tensors without memory do not overlap, so the error is about the missing data.
  tensor.byte_offset = 4;
  DLTensor without_offset = tensor;
  without_offset.byte_offset = 0;
  EXPECT_EQ(error(__tvm_ffi_scale_vector, {pointer(kKernkitDLTensorPtr, &tensor),
                                           pointer(kKernkitDLTensorPtr, &without_offset)}),
            "ValueError: scale_vector(): x: data is null, shape is [3]");
}

TEST_F(Export, TensorWithSizesThatCannotBe) {
  const auto with = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    float data[4] = {};
    DLTensor tensor = *x_tensor.dl();
    tensor.data = data;
    tensor.ndim = static_cast<int32_t>(sizes.size());
    tensor.shape = sizes.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    DLTensor shifted = tensor;
    shifted.data = data + 1;
    return error(__tvm_ffi_scale_vector,
                 {pointer(kKernkitDLTensorPtr, &shifted), pointer(kKernkitDLTensorPtr, &tensor)});
  };
  const std::string bad = " has a negative size or more than 2^63 - 1 elements";
  EXPECT_EQ(with({-1}, {}), "ValueError: scale_vector(): x: shape [-1]" + bad);
  EXPECT_EQ(with({INT64_MIN}, {1}),
            "ValueError: scale_vector(): y: shape [-9223372036854775808]" + bad);
  EXPECT_EQ(with({-2, -2}, {}), "ValueError: scale_vector(): y: shape [-2, -2]" + bad);
  EXPECT_EQ(with({INT64_MAX, 2}, {}),
            "ValueError: scale_vector(): y: shape [9223372036854775807, 2]" + bad);
  EXPECT_EQ(with({2}, {INT64_MIN}),
            "ValueError: scale_vector(): x: must be contiguous; shape [2] has strides "
            "[-9223372036854775808]");
}

TEST_F(Export, References) { EXPECT_EQ(received(__tvm_ffi_by_reference, {x, integer(4)}), "x;4;"); }

TEST_F(Export, CountOfArguments) {
  EXPECT_EQ(received(__tvm_ffi_nothing, {}), "nothing;");
  EXPECT_EQ(error(__tvm_ffi_nothing, {integer(1)}),
            "TypeError: nothing(): takes 0 arguments, got 1");
  EXPECT_EQ(error(__tvm_ffi_throws, {}), "TypeError: throws(): takes 1 argument (how), got 0");
  EXPECT_EQ(error(__tvm_ffi_rejected, {x}),
            "TypeError: rejected(): takes 2 arguments (y, x), got 1");
  EXPECT_EQ(error(__tvm_ffi_rejected, {x, x, x}),
            "TypeError: rejected(): takes 2 arguments (y, x), got 3");
  EXPECT_EQ(__tvm_ffi_nothing(nullptr, nullptr, -1, nullptr), -1);
}

TEST_F(Export, NoArgumentsNeedNoArray) {
  KernkitAny result = none();
  EXPECT_EQ(__tvm_ffi_defaults(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(ops::received, "1;a;");
  EXPECT_EQ(__tvm_ffi_nothing(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(__tvm_ffi_scale_vector(nullptr, nullptr, 0, &result), -1);
  EXPECT_EQ(__tvm_ffi_scale_vector(nullptr, nullptr, INT32_MIN, &result), -1);
  EXPECT_STREQ(kernkit_last_error(),
               "TypeError: scale_vector(): takes 2 arguments (y, x), got -2147483648");
}

// Messages, also of errors that the kernel throws, name arguments as the schema line does.
TEST_F(Export, NamesAreTheSchemas) {
  HostTensor<double> y({2, 3});
  EXPECT_EQ(error(__tvm_ffi_rejected, {pointer(kKernkitDLTensorPtr, y.dl()), x}),
            "TypeError: rejected(): y: dtype float64 does not match x (float32)");
  EXPECT_EQ(received(__tvm_ffi_rejected, {x, x}), "ran;");
}

TEST_F(Export, FirstWrongArgumentIsReported) {
  EXPECT_EQ(error(__tvm_ffi_rejected, {none(), none()}),
            "TypeError: rejected(): y: expected Tensor, got None");
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
            "InternalError: throws(): threw something other than a std::exception");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(4)}),
            "InternalError: throws(): internal check failed: 1 == 2 (1 vs 2) bug");
  EXPECT_EQ(error(__tvm_ffi_throws, {integer(5)}), "RuntimeError: throws(): no runtime_error");
}

// An error about an argument records the line of the export; an error of the kernel records the
// line of the kernel.
TEST_F(Export, ErrorsRecordTheLineThatThrew) {
  error(__tvm_ffi_throws, {none()});
  EXPECT_EQ(detail::last_error().location().line, kThrowsLine);
  error(__tvm_ffi_throws, {integer(3)});
  EXPECT_EQ(detail::last_error().location().line, kThrowsLine);
  error(__tvm_ffi_throws, {integer(0)});
  EXPECT_LT(detail::last_error().location().line, kThrowsLine);
  EXPECT_GT(detail::last_error().location().line, 0);
}

TEST_F(Export, ThreadsHaveTheirOwnLastError) {
  const std::string own_error = error(__tvm_ffi_throws, {integer(0)});
  std::string at_start, error_of_thread;
  std::thread([&] {
    at_start = kernkit_last_error();
    error_of_thread = error(__tvm_ffi_throws, {integer(2)});
  }).join();
  EXPECT_EQ(error_of_thread, "RuntimeError: throws(): of the library");
  EXPECT_EQ(kernkit_last_error(), own_error);
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

}  // namespace
}  // namespace kernkit

// Tools read an op's schema line, documentation and parsed schema line from sections of the
// library's file. In each section an op has a separate entry, which ends with NUL.
extern "C" const char __start_kernkit_schema[], __stop_kernkit_schema[];
extern "C" const char __start_kernkit_doc[], __stop_kernkit_doc[];
extern "C" const char __start_kernkit_parsed[], __stop_kernkit_parsed[];
TEST(ExportSection, HoldsEveryLine) {
  const std::string section(__start_kernkit_schema, __stop_kernkit_schema);
  EXPECT_NE(section.find(std::string("rejected(Tensor(a!) y, Tensor x) -> ()") + '\0'),
            std::string::npos);
  EXPECT_NE(section.find(std::string("nothing() -> ()") + '\0'), std::string::npos);
  const std::string docs(__start_kernkit_doc, __stop_kernkit_doc);
  EXPECT_NE(docs.find(std::string("nothing: Does nothing.") + '\0'), std::string::npos);
  const std::string parsed(__start_kernkit_parsed, __stop_kernkit_parsed);
  const std::string of_rejected =
      R"(rejected: {"version":1,"parameters":[{"type":"Tensor","name":"y","alias":"a!"},)"
      R"({"type":"Tensor","name":"x"}],"results":[]})";
  EXPECT_NE(parsed.find(of_rejected + '\0'), std::string::npos);
}
