// SPDX-License-Identifier: Apache-2.0
// Memory, copies, fills and attributes of pointers by the driver's API.
#include <cstdint>
#include <numeric>

#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

using DriverMemory = Driver;

TEST_F(DriverMemory, AttributesOfPointers) {
  start();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 1000), CUDA_SUCCESS);
  CUdeviceptr begin = 0;
  size_t size = 0;
  EXPECT_EQ(cuMemGetAddressRange(&begin, &size, address + 999), CUDA_SUCCESS);
  EXPECT_EQ(begin, address);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange(&begin, &size, 16), CUDA_ERROR_NOT_FOUND);
  CUmemorytype type{};
  int device = -1;
  CUdeviceptr on_device = 0;
  unsigned managed = 7;
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* results[] = {&type, &device, &on_device, &managed};
  ASSERT_EQ(cuPointerGetAttributes(4, attributes, results, address + 8), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(on_device, address + 8);
  EXPECT_EQ(managed, 0u);
  int on_stack = 0;
  const auto foreign = reinterpret_cast<CUdeviceptr>(&on_stack);
  ASSERT_EQ(cuPointerGetAttributes(4, attributes, results, foreign), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<int>(type), 0);
  EXPECT_EQ(device, -2);
  EXPECT_EQ(on_device, 0u);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, foreign),
            CUDA_ERROR_INVALID_VALUE);
  void* host = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemAllocHost(&host, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(host)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
}

TEST_F(DriverMemory, AllocationsHaveASizeAndFlags) {
  start();
  CUdeviceptr address = 7;
  void* host = nullptr;
  EXPECT_EQ(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocHost(&host, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&address, 4, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&address, 4, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(address, 7u);  // a rejected call does not change the address
  ASSERT_EQ(cuMemAllocManaged(&address, 4, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(DriverMemory, FillsOfElements) {
  start();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(address, 0x01020304, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16(address + 4, 0x0506, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(address + 8, 7, 4), CUDA_SUCCESS);
  uint32_t read[4] = {};
  ASSERT_EQ(cuMemcpyDtoH(read, address, 16), CUDA_SUCCESS);
  EXPECT_EQ(read[0], 0x01020304u);
  EXPECT_EQ(read[1], 0x05060506u);
  EXPECT_EQ(read[2], 0x07070707u);
  EXPECT_EQ(read[3], 0x01020304u);
  EXPECT_EQ(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);  // misaligned
  EXPECT_EQ(cuMemsetD32(address, 0, 5), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemsetD2D16(address, 8, 0, 1, 2), CUDA_SUCCESS);  // fills bytes 0, 1, 8 and 9
  ASSERT_EQ(cuMemcpyDtoH(read, address, 16), CUDA_SUCCESS);
  EXPECT_EQ(read[0], 0x01020000u);
  EXPECT_EQ(read[1], 0x05060506u);
  EXPECT_EQ(read[2], 0x07070000u);
}

TEST_F(DriverMemory, CopiesOfRowsAndSlices) {
  start();
  CUdeviceptr address = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&address, &pitch, 12, 6, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch % 512, 0u);
  std::vector<int> host(3 * 6), back(4, -1);
  std::iota(host.begin(), host.end(), 0);
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = host.data();
  rows.srcPitch = 12;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = address;
  rows.dstPitch = pitch;
  rows.WidthInBytes = 12;
  rows.Height = 6;
  ASSERT_EQ(cuMemcpy2D(&rows), CUDA_SUCCESS);
  // Copies columns 1 and 2 of row 1 in slices 1 and 2; a slice has two rows.
  CUDA_MEMCPY3D slices{};
  slices.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  slices.srcDevice = address;
  slices.srcPitch = pitch;
  slices.srcHeight = 2;
  slices.srcXInBytes = 4;
  slices.srcY = 1;
  slices.srcZ = 1;
  slices.dstMemoryType = CU_MEMORYTYPE_HOST;
  slices.dstHost = back.data();
  slices.dstPitch = 8;
  slices.dstHeight = 1;
  slices.WidthInBytes = 8;
  slices.Height = 1;
  slices.Depth = 2;
  ASSERT_EQ(cuMemcpy3D(&slices), CUDA_SUCCESS);
  EXPECT_EQ(back, (std::vector<int>{10, 11, 16, 17}));
  rows.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2D(&rows), CUDA_ERROR_NOT_SUPPORTED);
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcPitch = 8;
  EXPECT_EQ(cuMemcpy2D(&rows), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, PoolsAreThoseOfTheRuntime) {
  start();
  CUmemoryPool pool = nullptr, current = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&address, 100, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address),
            CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
  cuuint64_t used = 0;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_GE(used, 100u);
  CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_EQ(cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &device, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
  EXPECT_EQ(cuMemGetDefaultMemPool(&current, &device, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  EXPECT_NE(current, pool);
  EXPECT_EQ(cudaFreeAsync(reinterpret_cast<void*>(address), nullptr), cudaSuccess);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, PoolsOfTheHostAreNotSupported) {
  start();
  CUmemoryPool pool = nullptr;
  CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  EXPECT_EQ(cuMemGetMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace kernkit::simulator
