// SPDX-License-Identifier: Apache-2.0
// Compares the layouts of abi.h with the host's own headers, if they are installed.
#include "kernkit/abi/abi.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#if __has_include(<tvm/ffi/c_api.h>)
#include <tvm/ffi/c_api.h>
#define HAS_HOST_HEADERS 1
#else
#define HAS_HOST_HEADERS 0
#endif

namespace {

// Existing kernel libraries were built with these sizes, so the sizes must not change. These checks
// do not need tvm-ffi's headers.
static_assert(sizeof(KernkitObject) == 24);
static_assert(sizeof(KernkitAny) == 16);
static_assert(sizeof(KernkitByteArray) == 16);
static_assert(sizeof(KernkitShapeCell) == 16);
static_assert(sizeof(KernkitSeqCell) == 32);
static_assert(sizeof(KernkitErrorCell) == 72);
static_assert(sizeof(KernkitFunctionCell) == 16);
static_assert(offsetof(KernkitAny, v) == 8);

#if HAS_HOST_HEADERS

#define EXPECT_SAME_SIZE(actual, reference)       \
  EXPECT_EQ(sizeof(actual), sizeof(reference));   \
  EXPECT_EQ(alignof(actual), alignof(reference)); \
  EXPECT_TRUE(std::is_standard_layout_v<actual>)
#define EXPECT_SAME_FIELD(actual, field, reference, reference_field)        \
  EXPECT_EQ(offsetof(actual, field), offsetof(reference, reference_field)); \
  EXPECT_EQ(sizeof(actual::field), sizeof(reference::reference_field))

TEST(Abi, Object) {
  EXPECT_SAME_SIZE(KernkitObject, TVMFFIObject);
  EXPECT_SAME_FIELD(KernkitObject, ref_counts, TVMFFIObject, combined_ref_count);
  EXPECT_SAME_FIELD(KernkitObject, type_index, TVMFFIObject, type_index);
  EXPECT_SAME_FIELD(KernkitObject, padding, TVMFFIObject, __padding);
  EXPECT_SAME_FIELD(KernkitObject, deleter, TVMFFIObject, deleter);
}

TEST(Abi, Any) {
  EXPECT_SAME_SIZE(KernkitAny, TVMFFIAny);
  EXPECT_SAME_FIELD(KernkitAny, type_index, TVMFFIAny, type_index);
  EXPECT_SAME_FIELD(KernkitAny, small_size, TVMFFIAny, small_str_len);
  EXPECT_SAME_FIELD(KernkitAny, v.i64, TVMFFIAny, v_int64);
  EXPECT_SAME_FIELD(KernkitAny, v.f64, TVMFFIAny, v_float64);
  EXPECT_SAME_FIELD(KernkitAny, v.ptr, TVMFFIAny, v_ptr);
  EXPECT_SAME_FIELD(KernkitAny, v.c_str, TVMFFIAny, v_c_str);
  EXPECT_SAME_FIELD(KernkitAny, v.object, TVMFFIAny, v_obj);
  EXPECT_SAME_FIELD(KernkitAny, v.dtype, TVMFFIAny, v_dtype);
  EXPECT_SAME_FIELD(KernkitAny, v.device, TVMFFIAny, v_device);
  EXPECT_SAME_FIELD(KernkitAny, v.small, TVMFFIAny, v_bytes);
}

TEST(Abi, Cells) {
  EXPECT_SAME_SIZE(KernkitByteArray, TVMFFIByteArray);
  EXPECT_SAME_FIELD(KernkitByteArray, data, TVMFFIByteArray, data);
  EXPECT_SAME_FIELD(KernkitByteArray, size, TVMFFIByteArray, size);

  EXPECT_SAME_SIZE(KernkitShapeCell, TVMFFIShapeCell);
  EXPECT_SAME_FIELD(KernkitShapeCell, data, TVMFFIShapeCell, data);
  EXPECT_SAME_FIELD(KernkitShapeCell, size, TVMFFIShapeCell, size);

  EXPECT_SAME_SIZE(KernkitSeqCell, TVMFFISeqCell);
  EXPECT_SAME_FIELD(KernkitSeqCell, data, TVMFFISeqCell, data);
  EXPECT_SAME_FIELD(KernkitSeqCell, size, TVMFFISeqCell, size);
  EXPECT_SAME_FIELD(KernkitSeqCell, capacity, TVMFFISeqCell, capacity);
  EXPECT_SAME_FIELD(KernkitSeqCell, data_deleter, TVMFFISeqCell, data_deleter);

  EXPECT_SAME_SIZE(KernkitFunctionCell, TVMFFIFunctionCell);
  EXPECT_SAME_FIELD(KernkitFunctionCell, call, TVMFFIFunctionCell, safe_call);
  EXPECT_SAME_FIELD(KernkitFunctionCell, cpp_call, TVMFFIFunctionCell, cpp_call);

  EXPECT_SAME_SIZE(KernkitErrorCell, TVMFFIErrorCell);
  EXPECT_SAME_FIELD(KernkitErrorCell, kind, TVMFFIErrorCell, kind);
  EXPECT_SAME_FIELD(KernkitErrorCell, message, TVMFFIErrorCell, message);
  EXPECT_SAME_FIELD(KernkitErrorCell, backtrace, TVMFFIErrorCell, backtrace);
  EXPECT_SAME_FIELD(KernkitErrorCell, update_backtrace, TVMFFIErrorCell, update_backtrace);
  EXPECT_SAME_FIELD(KernkitErrorCell, cause, TVMFFIErrorCell, cause_chain);
  EXPECT_SAME_FIELD(KernkitErrorCell, extra, TVMFFIErrorCell, extra_context);
}

TEST(Abi, TypeIndices) {
  const int pairs[][2] = {
      {kKernkitNone, kTVMFFINone},
      {kKernkitInt, kTVMFFIInt},
      {kKernkitBool, kTVMFFIBool},
      {kKernkitFloat, kTVMFFIFloat},
      {kKernkitOpaquePtr, kTVMFFIOpaquePtr},
      {kKernkitDataType, kTVMFFIDataType},
      {kKernkitDevice, kTVMFFIDevice},
      {kKernkitDLTensorPtr, kTVMFFIDLTensorPtr},
      {kKernkitRawStr, kTVMFFIRawStr},
      {kKernkitByteArrayPtr, kTVMFFIByteArrayPtr},
      {kKernkitObjectRValueRef, kTVMFFIObjectRValueRef},
      {kKernkitSmallStr, kTVMFFISmallStr},
      {kKernkitSmallBytes, kTVMFFISmallBytes},
      {kKernkitObject, kTVMFFIObject},
      {kKernkitStr, kTVMFFIStr},
      {kKernkitBytes, kTVMFFIBytes},
      {kKernkitError, kTVMFFIError},
      {kKernkitFunction, kTVMFFIFunction},
      {kKernkitShape, kTVMFFIShape},
      {kKernkitTensor, kTVMFFITensor},
      {kKernkitArray, kTVMFFIArray},
      {kKernkitMap, kTVMFFIMap},
      {kKernkitModule, kTVMFFIModule},
      {kKernkitOpaquePyObject, kTVMFFIOpaquePyObject},
      {kKernkitList, kTVMFFIList},
      {kKernkitDict, kTVMFFIDict},
      {kKernkitBigInt, kTVMFFIBigInt},
  };
  for (const auto& [actual, reference] : pairs) EXPECT_EQ(actual, reference);
  EXPECT_EQ(static_cast<int>(kKernkitObject), static_cast<int>(kTVMFFIStaticObjectBegin));
}

// The deleter flags 1 and 2, which owning_tensor.h passes, equal tvm-ffi's deleter flags.
TEST(Abi, DeleterFlags) {
  EXPECT_EQ(kTVMFFIObjectDeleterFlagBitMaskStrong, 1);
  EXPECT_EQ(kTVMFFIObjectDeleterFlagBitMaskWeak, 2);
}

template <class Kernkit, class Tvm>
struct SameFunction;
template <class... Kernkit, class... Tvm>
struct SameFunction<int (*)(Kernkit...), int (*)(Tvm...)> {
  static constexpr bool value =
      sizeof...(Kernkit) == sizeof...(Tvm) && ((sizeof(Kernkit) == sizeof(Tvm)) && ...);
};
static_assert(SameFunction<KernkitFunction, TVMFFISafeCallType>::value);

#else

TEST(Abi, HostHeaders) { GTEST_SKIP() << "there is no tvm/ffi/c_api.h next to dlpack.h"; }

#endif

}  // namespace
