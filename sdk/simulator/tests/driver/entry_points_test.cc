// SPDX-License-Identifier: Apache-2.0
// Names and versions of the driver's functions, and its errors.
#include <cudaTypedefs.h>

#include <string>

#include "driver_fixture.h"

// Declares symbol_X() as the function whose symbol is X. In cuda.h, some of these names are macros.
#define KERNKIT_SYMBOL(symbol) extern "C" int symbol_##symbol() __asm__(#symbol);
KERNKIT_SYMBOL(cuCtxCreate_v2)
KERNKIT_SYMBOL(cuCtxCreate_v3)
KERNKIT_SYMBOL(cuCtxCreate_v4)
KERNKIT_SYMBOL(cuGetProcAddress)
KERNKIT_SYMBOL(cuGetProcAddress_v2)
KERNKIT_SYMBOL(cuLaunchKernel)
KERNKIT_SYMBOL(cuLaunchKernel_ptsz)
KERNKIT_SYMBOL(cuMemAlloc)
KERNKIT_SYMBOL(cuMemAlloc_v2)
KERNKIT_SYMBOL(cuMemcpyHtoD_v2_ptds)
KERNKIT_SYMBOL(cuStreamGetCaptureInfo_v3)
#undef KERNKIT_SYMBOL

namespace kernkit::simulator {
namespace {

using DriverEntryPoints = Driver;

#define KERNKIT_ADDRESS(symbol) reinterpret_cast<void*>(symbol_##symbol)

struct EntryPoint {
  CUresult result;
  void* function;
  CUdriverProcAddressQueryResult status;
};
EntryPoint find(const char* name, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  EntryPoint entry_point{};
  entry_point.status = CU_GET_PROC_ADDRESS_SUCCESS;
  entry_point.result =
      cuGetProcAddress(name, &entry_point.function, version, flags, &entry_point.status);
  return entry_point;
}

TEST_F(DriverEntryPoints, AFunctionIsFoundByItsNameAndVersion) {
  EXPECT_EQ(find("cuMemAlloc", 13000).function, KERNKIT_ADDRESS(cuMemAlloc_v2));
  EXPECT_EQ(find("cuMemAlloc", 3020).function, KERNKIT_ADDRESS(cuMemAlloc_v2));
  EXPECT_EQ(find("cuMemAlloc", 2000).function, KERNKIT_ADDRESS(cuMemAlloc));
  EXPECT_EQ(find("cuCtxCreate", 12050).function, KERNKIT_ADDRESS(cuCtxCreate_v4));
  EXPECT_EQ(find("cuCtxCreate", 12040).function, KERNKIT_ADDRESS(cuCtxCreate_v3));
  EXPECT_EQ(find("cuCtxCreate", 11000).function, KERNKIT_ADDRESS(cuCtxCreate_v2));
  EXPECT_EQ(find("cuStreamGetCaptureInfo", 12030).function,
            KERNKIT_ADDRESS(cuStreamGetCaptureInfo_v3));
  EXPECT_EQ(find("cuGetProcAddress", 12000).function, KERNKIT_ADDRESS(cuGetProcAddress_v2));
  const EntryPoint early = find("cuLaunchKernelEx", 11000);
  EXPECT_EQ(early.result, CUDA_SUCCESS);
  EXPECT_EQ(early.function, nullptr);
  EXPECT_EQ(early.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  const EntryPoint unknown = find("cuNoSuchFunction", 13000);
  EXPECT_EQ(unknown.result, CUDA_SUCCESS);
  EXPECT_EQ(unknown.function, nullptr);
  EXPECT_EQ(unknown.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find("cuMemAlloc", 99000).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find(nullptr, 13000).result, CUDA_ERROR_INVALID_VALUE);
  void* function = nullptr;
  const auto without_status =
      reinterpret_cast<PFN_cuGetProcAddress_v11030>(KERNKIT_ADDRESS(cuGetProcAddress));
  EXPECT_EQ(without_status("cuNoSuchFunction", &function, 11030, 0), CUDA_ERROR_NOT_FOUND);
}

TEST_F(DriverEntryPoints, AFlagSelectsTheVariantForPerThreadStreams) {
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_EQ(find("cuLaunchKernel", 12000, kPerThread).function,
            KERNKIT_ADDRESS(cuLaunchKernel_ptsz));
  EXPECT_EQ(find("cuMemcpyHtoD", 12000, kPerThread).function,
            KERNKIT_ADDRESS(cuMemcpyHtoD_v2_ptds));
  EXPECT_EQ(find("cuMemAlloc", 12000, kPerThread).function, KERNKIT_ADDRESS(cuMemAlloc_v2));
  EXPECT_EQ(find("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM).function,
            KERNKIT_ADDRESS(cuLaunchKernel));
  EXPECT_EQ(find("cuLaunchKernel", 12000, 3).result, CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverEntryPoints, PerThreadVariantsUseTheThreadsStream) {
  start();
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const auto read_id = reinterpret_cast<PFN_cuStreamGetId_v12000_ptsz>(
      find("cuStreamGetId", 12000, kPerThread).function);
  const auto fill = reinterpret_cast<PFN_cuMemsetD32Async_v7000_ptsz>(
      find("cuMemsetD32Async", 12000, kPerThread).function);
  const auto copy = reinterpret_cast<PFN_cuMemcpyDtoH_v7000_ptds>(
      find("cuMemcpyDtoH", 12000, kPerThread).function);
  unsigned long long id = 0;
  EXPECT_EQ(cuStreamGetId(nullptr, &id), CUDA_SUCCESS);
  EXPECT_EQ(id, 1u);
  EXPECT_EQ(read_id(nullptr, &id), CUDA_SUCCESS);
  EXPECT_EQ(id, 2u);
  // A capture of a blocking stream forbids calls on the legacy stream only.
  CUstream captured = nullptr;
  CUdeviceptr address = memory({0});
  ASSERT_EQ(cuStreamCreate(&captured, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(fill(address, 5, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(address, 6, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  int read = 0;
  EXPECT_EQ(copy(&read, address, 4), CUDA_SUCCESS);
  EXPECT_EQ(read, 5);
}

TEST_F(DriverEntryPoints, AFunctionReceivesSentencesAboutErrors) {
  start();
  std::string log;
  const auto receive = [](void* data, CUlogLevel level, char* message, size_t length) {
    *static_cast<std::string*>(data) += std::to_string(level) + std::string(message, length) + "\n";
  };
  CUlogsCallbackHandle registration = nullptr;
  ASSERT_EQ(cuLogsRegisterCallback(receive, &log, &registration), CUDA_SUCCESS);
  const CUdeviceptr address = memory({0});
  EXPECT_EQ(cuMemsetD8(address, 0, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(log,
            "0cuMemsetD8(): devPtr: 5 bytes at byte 0 of an allocation of 4 bytes end 1 byte past "
            "its end\n");
  EXPECT_EQ(cuLogsUnregisterCallback(registration), CUDA_SUCCESS);
  EXPECT_EQ(cuLogsUnregisterCallback(registration), CUDA_ERROR_INVALID_VALUE);
  log.clear();
  EXPECT_EQ(cuMemsetD8(address, 0, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(log, "");
  EXPECT_EQ(cuLogsRegisterCallback(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverEntryPoints, ErrorsHaveNamesAndTexts) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_CONTEXT");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid device context");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  // 1000 is not a value of CUresult. The values of CUresult fit into ten bits, so the conversion of
  // a number above 1023 would be undefined behaviour.
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1000), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(DriverEntryPoints, AMissingFunctionReportsItsNameOnce) {
  start();
  CUtexObject texture = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuTexObjectCreate(&texture, nullptr, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuTexObjectCreate(&texture, nullptr, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "kernkit: cuTexObjectCreate() is not supported: it returns CUDA_ERROR_NOT_SUPPORTED; "
            "leave the call out, or run the program on a GPU\n");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(DriverEntryPoints, Devices) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 9);
  // The runtime's API does not define this attribute.
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 2),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 1),
            CUDA_ERROR_INVALID_VALUE);
  size_t bytes = 0;
  EXPECT_EQ(cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(bytes, CudaDevice().memory);
  char name[64] = "";
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_NE(std::string(name).find("sm_90"), std::string::npos);
  char address[16] = "";
  EXPECT_EQ(cuDeviceGetPCIBusId(address, sizeof(address), 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, address), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
}

}  // namespace
}  // namespace kernkit::simulator
