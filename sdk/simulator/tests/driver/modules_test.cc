// SPDX-License-Identifier: Apache-2.0
// Modules from PTX text, libraries, launches and attributes of kernels by the driver's API.
#include <algorithm>
#include <cstring>

#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

using DriverModules = Driver;

TEST_F(DriverModules, AKernelOfPtxTextRuns) {
  start();
  const CUmodule module = load(kScale);
  const CUfunction scale = function(module, "scale");
  CUdeviceptr x = memory({1, 2, 3, 4, 5});
  unsigned n = 4;
  float factor = 2;
  void* arguments[] = {&x, &n, &factor};
  ASSERT_EQ(cuLaunchKernel(scale, 3, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(values(x, 5), (std::vector<float>{2, 4, 6, 8, 5}));

  CUdeviceptr bias = 0;
  size_t size = 0;
  ASSERT_EQ(cuModuleGetGlobal(&bias, &size, module, "bias"), CUDA_SUCCESS);
  EXPECT_EQ(size, sizeof(float));
  ASSERT_EQ(cuMemsetD32(bias, 0x3f800000, 1), CUDA_SUCCESS);  // 1.0f
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(values(x, 5), (std::vector<float>{6, 12, 18, 24, 5}));
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverModules, ArgumentsAreInOneBuffer) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  struct {
    CUdeviceptr x;
    unsigned n;
    float factor;
  } buffer{memory({1, 2}), 2, 3};
  size_t size = sizeof(buffer);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  ASSERT_EQ(cuLaunchKernelEx(&config, scale, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(values(buffer.x, 2), (std::vector<float>{3, 6}));
  size = 12;  // too small for the last argument
  EXPECT_EQ(cuLaunchKernelEx(&config, scale, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  void* arguments[] = {&buffer.x, &buffer.n, &buffer.factor};
  EXPECT_EQ(cuLaunchKernelEx(&config, scale, arguments, extra), CUDA_ERROR_INVALID_VALUE);
  size_t offset = 0;
  EXPECT_EQ(cuFuncGetParamInfo(scale, 2, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(size, sizeof(float));
  EXPECT_EQ(cuFuncGetParamInfo(scale, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverModules, InvalidPtxIsAnErrorOfTheLoad) {
  start();
  CUmodule module = nullptr;
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* option_values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  const char* text = ".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry k( {\n";
  EXPECT_EQ(cuModuleLoadDataEx(&module, text, 2, options, option_values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "line 4"), nullptr) << log;
  EXPECT_EQ(reinterpret_cast<size_t>(option_values[1]), std::strlen(log));
  EXPECT_EQ(cuModuleLoadData(&module, "\177ELF"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, "/no/such/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  CUfunction handle = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&handle, load(kScale), "scal"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&handle, nullptr, "scale"), CUDA_ERROR_INVALID_HANDLE);
}

// A program may free a fat binary after loading it, for example after reading the fat binary from a
// file.
TEST_F(DriverModules, AModuleOutlivesItsFatBinary) {
  start();
  const std::string text = kScale;
  const size_t size = text.size() + 1;
  std::vector<unsigned char> binary(80 + size);
  const auto put = [&](size_t at, auto value) { std::memcpy(&binary[at], &value, sizeof(value)); };
  put(0, uint32_t{0xba55ed50});
  put(4, uint16_t{1});
  put(6, uint16_t{16});
  put(8, uint64_t{64 + size});
  put(16, uint16_t{1});  // PTX
  put(20, uint32_t{64});
  put(24, uint64_t{size});
  put(44, uint32_t{80});
  std::memcpy(&binary[80], text.c_str(), size);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, binary.data()), CUDA_SUCCESS);
  std::fill(binary.begin(), binary.end(), static_cast<unsigned char>(0));
  CUdeviceptr x = memory({1, 2});
  unsigned n = 2;
  float factor = 3;
  void* arguments[] = {&x, &n, &factor};
  const CUfunction scale = function(module, "scale");
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(values(x, 2), (std::vector<float>{3, 6}));
}

TEST_F(DriverModules, ALibraryIsAModule) {
  start();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction of_kernel = nullptr;
  CUmodule module = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, kScale, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(cuKernelGetFunction(&of_kernel, kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  EXPECT_EQ(function(module, "scale"), of_kernel);
  CUlibrary owner = nullptr;
  EXPECT_EQ(cuKernelGetLibrary(&owner, kernel), CUDA_SUCCESS);
  EXPECT_EQ(owner, library);
  const char* name = nullptr;
  EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  EXPECT_STREQ(name, "scale");
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(DriverModules, AttributesAndOccupancyAreThoseOfTheRuntime) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, scale), CUDA_SUCCESS);
  EXPECT_EQ(value, 80);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000),
            CUDA_SUCCESS);
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, scale), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 100000);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
  int blocks = 0, of_runtime = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 50000), CUDA_SUCCESS);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_runtime, scale, 256, 50000),
            cudaSuccess);
  EXPECT_EQ(blocks, of_runtime);
  EXPECT_EQ(blocks, 4);
  CUlaunchAttribute of_two{};
  of_two.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  of_two.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 2;
  config.blockDimX = 256;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = 50000;
  config.attrs = &of_two;
  config.numAttrs = 1;
  int clusters = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 2 * CudaDevice().sm_count);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&clusters, scale, &config), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 8);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, scale, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(nullptr, scale, &config), CUDA_ERROR_INVALID_VALUE);
  int threads = 0;
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, scale, nullptr, 0, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(blocks, 2 * CudaDevice().sm_count);
  const auto all_of = [](int size) { return static_cast<size_t>(size) * 400; };
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, scale, all_of, 0, 512),
            CUDA_SUCCESS);
  // A multiprocessor has 228 KiB: two blocks of 288 threads, with 113.5 KiB each, fit.
  EXPECT_EQ(threads, 288);
  EXPECT_EQ(blocks, 2 * CudaDevice().sm_count);
}

TEST_F(DriverModules, ALaunchBeyondALimitIsAnError) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({1});
  unsigned n = 1;
  float factor = 1;
  void* arguments[] = {&x, &n, &factor};
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared_memory) {
    return cuLaunchKernel(scale, grid, 1, 1, block, 1, 1, shared_memory, nullptr, arguments,
                          nullptr);
  };
  EXPECT_EQ(launch(0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0), CUDA_SUCCESS);
}

TEST_F(DriverModules, AnOutOfBoundsStoreIsAnErrorOfTheContext) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({1, 2});
  unsigned n = 3;
  float factor = 1;
  void* arguments[] = {&x, &n, &factor};
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the runtime's last error is unchanged
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

constexpr const char* kCaller = R"(.version 8.7
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 x);
.visible .entry put(.param .u64 y)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [y];
  mov.b32 %r1, 21;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r1;
  call.uni (b), twice, (a);
  ld.param.b32 %r2, [b]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
constexpr const char* kCallee = R"(// a comment; with a semicolon
.version 8.7
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST_F(DriverModules, TheLinkerJoinsPtx) {
  start();
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (const char* text : {kCaller, kCallee}) {
    ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                            "a.ptx", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  }
  char cubin[] = "\177ELF";
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, cubin, 4, "b.cubin", 0, nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  void* code = nullptr;
  size_t size = 0;
  ASSERT_EQ(cuLinkComplete(link, &code, &size), CUDA_SUCCESS);
  CUlinkState twice = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &twice), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuLinkAddData(twice, CU_JIT_INPUT_PTX, const_cast<char*>(kCallee),
                            std::strlen(kCallee), "b.ptx", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(cuLinkComplete(twice, &code, &size), CUDA_ERROR_INVALID_PTX);  // two definitions
  EXPECT_EQ(cuLinkDestroy(twice), CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(link, &code, &size), CUDA_SUCCESS);
  EXPECT_EQ(size, std::strlen(static_cast<const char*>(code)) + 1);
  const CUfunction put = function(load(static_cast<const char*>(code)), "put");
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
  CUdeviceptr y = 0;
  ASSERT_EQ(cuMemAllocManaged(&y, 4, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  void* arguments[] = {&y};
  ASSERT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<const int*>(y), 42);
}

// Thread 0 of each block writes the block's number + 1 and, after the grid's barrier, copies what
// the next block wrote.
constexpr const char* kGridBarrier = R"(.version 8.7
.target sm_80
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry rotate(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  setp.ne.u32 %p1, %r3, 0;
  add.u32 %r4, %r1, 1;
  @!%p1 st.global.u32 [%rd4], %r4;
  { .param .b32 a; .param .b64 b; st.param.b32 [a], 1;
    call.uni (b), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %rd5, [b]; }
  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %rd5; st.param.b32 [b], 0;
    call.uni (c), cudaCGSynchronize, (a, b); ld.param.b32 %r5, [c]; }
  rem.u32 %r6, %r4, %r2;
  mul.wide.u32 %rd6, %r6, 4;
  add.u64 %rd6, %rd1, %rd6;
  ld.global.u32 %r7, [%rd6];
  add.u64 %rd7, %rd2, %rd3;
  add.u32 %r7, %r7, %r5;
  @!%p1 st.global.u32 [%rd7], %r7;
  ret;
}
)";

TEST_F(DriverModules, ALinkedDeviceRuntimeSynchronisesAGrid) {
  start();
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  char archive[] = "!<arch>\n";
  for (const char* name : {"libcudadevrt.a", "/usr/lib/libcudadevrt.a"}) {
    ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, 8, name, 0, nullptr, nullptr),
              CUDA_SUCCESS);
  }
  ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kGridBarrier),
                          std::strlen(kGridBarrier), "a.ptx", 0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, 8, "liba.a", 0, nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  void* code = nullptr;
  size_t size = 0;
  ASSERT_EQ(cuLinkComplete(link, &code, &size), CUDA_SUCCESS);
  const CUfunction rotate = function(load(static_cast<const char*>(code)), "rotate");
  constexpr unsigned kBlocks = 5;
  CUdeviceptr x = 0, y = 0;
  ASSERT_EQ(cuMemAllocManaged(&x, kBlocks * sizeof(int), CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&y, kBlocks * sizeof(int), CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  for (int launch = 0; launch < 3; ++launch) {  // the counter keeps its value between launches
    ASSERT_EQ(cuMemsetD32(x, 0, kBlocks), CUDA_SUCCESS);
    void* arguments[] = {&x, &y};
    ASSERT_EQ(cuLaunchCooperativeKernel(rotate, kBlocks, 1, 1, 64, 1, 1, 0, nullptr, arguments),
              CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    for (unsigned i = 0; i < kBlocks; ++i) {
      EXPECT_EQ(reinterpret_cast<const unsigned*>(y)[i], (i + 1) % kBlocks + 1);
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator
