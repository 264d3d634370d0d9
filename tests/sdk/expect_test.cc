// SPDX-License-Identifier: Apache-2.0
// Tests of KERNKIT_EXPECT, compiled twice: as in a library without CUDA, and with KERNKIT_WITH_CUDA
// defined.
#include "kernkit/expect.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unwind.h>

#include "expect_fixture.h"
#include "kernkit/check_macros.h"

static int stops = 0;  // number of destructors at which unwinding stopped

extern "C" void _Unwind_Resume(_Unwind_Exception* exception) {
  ++stops;
  reinterpret_cast<void (*)(_Unwind_Exception*)>(dlsym(RTLD_NEXT, "_Unwind_Resume"))(exception);
  abort();
}

namespace kernkit {
namespace {

using testing::error_of;
using testing::HostTensor;

constexpr DLDevice kCuda1 = {kDLCUDA, 1};
constexpr char kWithoutCuda[] =
    "RuntimeError: x: is on cuda:1, but this library was built without CUDA; rebuild it where nvcc "
    "is found, or pass CPU tensors";

TEST_F(ExpectTest, DtypeOfList) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(floating{}); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<int32_t>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<int8_t, float16>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int8 or float16");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(integral{}); }),
            "TypeError: x: dtype float32 is not supported; expected int8, int16, int32, int64 or "
            "uint8");
  dx->dtype.lanes = 4;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}); }),
            "TypeError: x: dtype float32x4 is not supported; expected float32");
  dx->dtype = {99, 7, 1};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}); }),
            "TypeError: x: dtype dtype(code=99, bits=7) is not supported; expected float32");
}

TEST_F(ExpectTest, DtypeOfValue) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(dl_float32); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(dl_float16); }),
            "TypeError: x: dtype float32 is not supported; expected float16");
}

TEST_F(ExpectTest, Cpu) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }), "nothing");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }),
            "ValueError: x: device cuda:1 is not supported; expected cpu");
  dx->device = {kDLCUDAHost, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }),
            "ValueError: x: device cuda_host:0 is not supported; expected cpu");
}

TEST_F(ExpectTest, Cuda) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }), kWithCuda ? "nothing" : kWithoutCuda);
  dx->device = {kDLROCM, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }),
            "ValueError: x: device rocm:0 is not supported; expected cuda");
}

TEST_F(ExpectTest, CpuOrCuda) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }), "nothing");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }),
            kWithCuda ? "nothing" : kWithoutCuda);
  dx->device = {kDLMetal, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }),
            "ValueError: x: device metal:0 is not supported; expected cpu or cuda");
}

TEST_F(ExpectTest, Device) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device({kDLCPU, 0}); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device(kCuda1); }),
            "ValueError: x: device cpu is not supported; expected cuda:1");
  dx->device = {kDLROCM, 2};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device({kDLROCM, 2}); }), "nothing");
  EXPECT_EQ(error_of([&] {
              KERNKIT_EXPECT(x).device({kDLROCM, 0});
            }),
            "ValueError: x: device rocm:2 is not supported; expected rocm:0");
  dx->device = kCuda1;
  EXPECT_EQ(
      error_of([&] {
        KERNKIT_EXPECT(x).device({kDLCUDA, 0});
      }),
      kWithCuda ? "ValueError: x: device cuda:1 is not supported; expected cuda:0" : kWithoutCuda);
}

TEST_F(ExpectTest, SameDtype) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(x); }), "nothing");
  dy->dtype = dl_float16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(x); }),
            "TypeError: y: dtype float16 does not match x (float32)");
}

TEST_F(ExpectTest, SameDevice) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_device(x); }), "nothing");
  dx->device = {kDLCUDA, 0};
  dy->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_device(x); }),
            "ValueError: y: device cuda:1 does not match x (cuda:0)");
}

TEST_F(ExpectTest, Like) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }), "nothing");
  dy->shape[0] = 3;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "ValueError: y: shape [3, 8] does not match x ([4, 8])");
  dy->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "ValueError: y: device cuda:1 does not match x (cpu)");
  dy->dtype = dl_bool;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "TypeError: y: dtype bool does not match x (float32)");
}

TEST_F(ExpectTest, UnnamedOther) {
  const TensorView other(dx);
  dy->dtype = dl_bool;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(other); }),
            "TypeError: y: dtype bool does not match the other tensor (float32)");
}

TEST_F(ExpectTest, UnnamedTensorIsNamedByItsExpression) {
  const TensorView weights[] = {TensorView(dx)};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(weights[0]).rank(1); }),
            "ValueError: weights[0]: shape [4, 8] has rank 2; expected rank 1");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(dx).rank(1); }),
            "ValueError: dx: shape [4, 8] has rank 2; expected rank 1");
}

// All requirements are checked in their order, in any combination.
TEST_F(ExpectTest, NoRestrictionIsLost) {
  dx->device = {kDLROCM, 0};
  dx->strides[0] = 9;
  EXPECT_EQ(
      error_of([&] { KERNKIT_EXPECT(x).dtype(types<int32_t>{}).dtype(types<float>{}).cpu(); }),
      "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}).dtype(types<int32_t>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}).rank(2).cpu_or_cuda(); }),
            "ValueError: x: device rocm:0 is not supported; expected cpu or cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).contiguous().cpu(); }),
            "ValueError: x: must be contiguous; shape [4, 8] has strides [9, 1]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu().contiguous(); }),
            "ValueError: x: device rocm:0 is not supported; expected cpu");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 8).shape(4, 9).shape(4, 8); }),
            "ValueError: x: shape [4, 8] does not match [4, 9]");
}

// The macros perform the same checks as macros of similar names in common kernel libraries.
TEST_F(ExpectTest, Macros) {
  EXPECT_EQ(error_of([&] {
              KERNKIT_CHECK_CPU(x);
              KERNKIT_CHECK_CONTIGUOUS(x);
              KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x);
              KERNKIT_CHECK_DIM(2, x);
              KERNKIT_CHECK_SHAPE(x, y);
              KERNKIT_CHECK_DTYPE(x, dl_float32);
              KERNKIT_CHECK_SAME_DTYPE(x, y);
              KERNKIT_CHECK_DEVICE(x, y);
            }),
            "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_CUDA(x); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_INPUT(x); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DIM(3, x); }),
            "ValueError: x: shape [4, 8] has rank 2; expected rank 3");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DTYPE(x, dl_bool); }),
            "TypeError: x: dtype float32 is not supported; expected bool");
  dx->strides[1] = 2;
  EXPECT_NE(error_of([&] { KERNKIT_CHECK_CONTIGUOUS(x); }), "nothing");
  EXPECT_NE(error_of([&] { KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x); }), "nothing");
  dy->shape[0] = 5;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_SHAPE(x, y); }),
            "ValueError: x: shape [4, 8] does not match y ([5, 8])");
  dy->dtype = dl_int8;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_SAME_DTYPE(x, y); }),
            "TypeError: x: dtype float32 does not match y (int8)");
  dy->device = {kDLROCM, 1};
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DEVICE(x, y); }),
            "ValueError: x: device cpu does not match y (rocm:1)");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_CPU(y); }),
            "ValueError: y: device rocm:1 is not supported; expected cpu");
}

TEST_F(ExpectTest, RecordsTheLineOfTheCheck) {
  const int line = __LINE__ + 2;
  try {
    KERNKIT_EXPECT(x).rank(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, line);
  }
  try {
    KERNKIT_EXPECT(x).dtype(integral{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, line + 6);
  }
}

template <class Function>
__attribute__((noinline)) void call(const Function& function) {
  function();
  asm("");
}

// Unwinding of an error stops at no destructor of the SDK, because each stop adds a fifth to the
// time of a rejected call. In the first case unwinding stops at the destructor of HostTensor.
TEST_F(ExpectTest, NoDestructorStopsAnError) {
  const auto stops_of = [](auto function) {
    stops = 0;
    try {
      call(function);
    } catch (const Error&) {
      return stops;
    }
    return -1;
  };
  EXPECT_EQ(stops_of([&] {
              HostTensor<int8_t> other({3});
              KERNKIT_EXPECT(x).like(other.view("other"));
            }),
            1);
  HostTensor<int8_t> int8s({3});
  const TensorView other = int8s.view("other");
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).like(other); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).same_dtype(other); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).dtype(dl_float16); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).dtype(integral{}); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).rank(7); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).shape(7); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).cuda(); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).numel_at_most(0); }), 0);
  EXPECT_EQ(stops_of([&] { KERNKIT_EXPECT(x).no_overlap(x); }), 0);
}

}  // namespace
}  // namespace kernkit
