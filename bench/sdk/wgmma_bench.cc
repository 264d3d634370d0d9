// SPDX-License-Identifier: Apache-2.0
// The speed of wgmma on the simulator: multiply-adds per second of processor time. Rows
// are named <types>/<variant>: "wgmma" adds exact products in float, "device summation" adds as a
// device does, and "loop" is a loop over floats that the C++ compiler optimised, for comparison.
#include <benchmark/benchmark.h>
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"

namespace kernkit::bench {
namespace {

constexpr uint32_t kM = 64, kN = 128;    // rows and columns of D
constexpr uint32_t kBytesOfRow = 128;    // bytes of a row of the tiles of A and B
constexpr uint32_t kBytesOfStep = 32;    // bytes of a row that one wgmma multiplies
constexpr uint32_t kTiles = 32;          // number of tiles along k in a launch
constexpr uint32_t kThreads = 128;       // a warpgroup
constexpr uint32_t kRegisters = kN / 2;  // registers of D of a thread
constexpr uint32_t kStartOfB = kM * kBytesOfRow;
constexpr uint32_t kSharedBytes = kStartOfB + kN * kBytesOfRow;

/// The types of a product.
struct Types {
  const char* names;  ///< types of D, A and B in PTX
  uint32_t bytes;     ///< size of an element of A and of B [bytes]
  uint32_t ones;      ///< a register of elements with the value 1
  bool is_float;      ///< whether the type of D is f32, otherwise s32
};

constexpr Types kTypes[] = {{"f32.f16.f16", 2, 0x3c003c00, true},
                            {"f32.bf16.bf16", 2, 0x3f803f80, true},
                            {"f32.tf32.tf32", 4, 0x3f800000, true},
                            {"f32.e4m3.e4m3", 1, 0x38383838, true},
                            {"s32.s8.s8", 1, 0x01010101, false}};

uint32_t depth(const Types& types) { return kTiles * kBytesOfRow / types.bytes; }
int64_t multiply_adds(const Types& types) { return int64_t{kM} * kN * depth(types); }

// Returns the descriptor of a tile with swizzled rows of 128 bytes that begins at the byte `start`
// of shared memory. The layout is that of PTX ISA, "Matrix-descriptor format" of wgmma.
uint64_t descriptor(uint32_t start) {
  constexpr uint64_t kSwizzle128 = 1, kBytesOfEightRows = 8 * kBytesOfRow;
  return start / 16 | uint64_t{1} << 16 | kBytesOfEightRows / 16 << 32 | kSwizzle128 << 62;
}

// Returns the PTX of a kernel that fills the tiles with ones, multiplies them kTiles times, and
// stores the sum of each register of D.
std::string module_text(const Types& types) {
  std::string registers, zeros, stores;
  for (uint32_t i = 0; i < kRegisters; ++i) {
    const std::string name = "%d" + std::to_string(i);
    registers += (i == 0 ? "" : ", ") + name;
    zeros += "mov.b32 " + name + ", 0;\n";
    stores += "st.global.b32 [%y+" + std::to_string(4 * i) + "], " + name + ";\n";
  }
  std::string products;
  for (uint32_t byte = 0; byte < kBytesOfRow; byte += kBytesOfStep) {
    products += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(kN) + "k" +
                std::to_string(kBytesOfStep / types.bytes) + '.' + types.names + " {" + registers +
                "}, " + std::to_string(descriptor(byte)) + ", " +
                std::to_string(descriptor(kStartOfB + byte)) + ", %p";
    if (types.is_float) products += ", 1, 1";
    if (types.bytes == 2) products += ", 0, 0";
    products += ";\n";
  }
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".visible .entry multiply(.param .u64 y)\n{\n"
         ".reg .b64 %y, %w;\n.reg .b32 %i, %s, %o, %d<" +
         std::to_string(kRegisters) + ">;\n.reg .pred %p, %q;\n.shared .align 1024 .b8 tiles[" +
         std::to_string(kSharedBytes) +
         "];\nld.param.u64 %y, [y];\nmov.u32 %i, %tid.x;\nmul.wide.u32 %w, %i, " +
         std::to_string(4 * kRegisters) + ";\nadd.u64 %y, %y, %w;\nmov.u32 %s, tiles;\n" +
         "shl.b32 %o, %i, 2;\nadd.u32 %o, %o, %s;\nadd.u32 %s, %s, " +
         std::to_string(kSharedBytes) + ";\nfill: st.shared.b32 [%o], " +
         std::to_string(types.ones) + ";\nadd.u32 %o, %o, " + std::to_string(4 * kThreads) +
         ";\nsetp.lt.u32 %q, %o, %s;\n@%q bra fill;\n" + zeros +
         "setp.eq.u32 %p, 1, 1;\nmov.u32 %i, 0;\nfence.proxy.async;\nbar.sync 0;\n"
         "tile: wgmma.fence.sync.aligned;\n" +
         products +
         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
         "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, " +
         std::to_string(kTiles) + ";\n@%q bra tile;\n" + stores + "ret;\n}\n";
}

// Returns whether each element of D is `depth(types)`.
bool is_right(const Types& types, const std::vector<uint32_t>& d) {
  const float expected_float = static_cast<float>(depth(types));
  uint32_t expected = depth(types);
  if (types.is_float) std::memcpy(&expected, &expected_float, sizeof(expected));
  return std::all_of(d.begin(), d.end(), [&](uint32_t x) { return x == expected; });
}

void by_simulator(benchmark::State& state, const Types& types, bool device_summation) {
  simulator::CudaRuntime runtime;
  runtime.run_kernels(true);
  runtime.set_device_summation(device_summation);
  std::vector<uint32_t> d(size_t{kThreads} * kRegisters);
  const size_t bytes = d.size() * sizeof(d[0]);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr y = 0;
  bool is_ready = cuInit(0) == CUDA_SUCCESS &&
                  cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                  cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                  cuModuleLoadData(&module, module_text(types).c_str()) == CUDA_SUCCESS &&
                  cuModuleGetFunction(&kernel, module, "multiply") == CUDA_SUCCESS &&
                  cuMemAlloc(&y, bytes) == CUDA_SUCCESS;
  void* arguments[] = {&y};
  const auto launch = [&] {
    return cuLaunchKernel(kernel, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr) ==
               CUDA_SUCCESS &&
           cuCtxSynchronize() == CUDA_SUCCESS;
  };
  is_ready = is_ready && launch() && cuMemcpyDtoH(d.data(), y, bytes) == CUDA_SUCCESS;
  if (!is_ready || !is_right(types, d)) {
    state.SkipWithError("the kernel cannot run, or its result is wrong");
    return;
  }
  for (auto _ : state) {
    launch();
    runtime.clear();
  }
  state.SetItemsProcessed(state.iterations() * multiply_adds(types));
}

// Multiplies matrices of floats of the size of a launch. B is stored by rows along k, so that the
// compiler can vectorise the loop over the columns.
void by_loop(benchmark::State& state) {
  const uint32_t k = depth(kTypes[0]);
  std::vector<float> a(size_t{kM} * k, 1), b(size_t{k} * kN, 1), d(size_t{kM} * kN);
  for (auto _ : state) {
    for (uint32_t row = 0; row < kM; ++row) {
      std::array<float, kN> sums{};
      for (uint32_t i = 0; i < k; ++i) {
        const float x = a[size_t{row} * k + i];
        const float* of_b = &b[size_t{i} * kN];
        for (uint32_t column = 0; column < kN; ++column) sums[column] += x * of_b[column];
      }
      std::copy(sums.begin(), sums.end(), &d[size_t{row} * kN]);
    }
    benchmark::DoNotOptimize(d.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * multiply_adds(kTypes[0]));
}

void add_row(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->MeasureProcessCPUTime();
}

}  // namespace
}  // namespace kernkit::bench

int main(int argc, char** argv) {
  using namespace kernkit::bench;  // NOLINT(build/namespaces): this is its program
  for (const Types& types : kTypes) {
    const std::string label = std::string("wgmma ") + types.names;
    add_row(label + "/wgmma", [&types](auto& state) { by_simulator(state, types, false); });
    add_row(label + "/device summation",
            [&types](auto& state) { by_simulator(state, types, true); });
  }
  add_row("wgmma f32.f16.f16/loop", by_loop);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
