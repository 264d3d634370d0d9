// SPDX-License-Identifier: Apache-2.0
// The cost of allocating a tensor and of passing a tensor through DLPack, compared with tvm-ffi's
// own headers, in one process whose host is the real libtvm_ffi. Tensors have 4 KiB, which are
// never accessed.
#include <benchmark/benchmark.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <cstdlib>

#include "harness/libraries.h"
#include "kernkit/cpu/allocator.h"
#include "kernkit/owning_tensor.h"

namespace kernkit::bench {
namespace {

namespace ffi = tvm::ffi;

constexpr DLDevice kCpu = {kDLCPU, 0};
constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};
constexpr size_t kBytes = 4096;

// Allocators by std::malloc(), as in tvm-ffi's guide. OurMalloc computes the size by kernkit's
// GetDataSize(), PeerMalloc by tvm-ffi's GetDataSize().
struct OurMalloc {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(kernkit::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};
struct PeerMalloc {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};
// An allocator for tensors of tvm-ffi that uses std::aligned_alloc() and std::free(), with the
// alignment of CPUNDAlloc.
struct PeerAligned : PeerMalloc {
  void AllocData(DLTensor* tensor) {
    tensor->data = std::aligned_alloc(64, ffi::GetDataSize(*tensor));
  }
};

Tensor our_env_alloc() {
  return Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {32, 32}, kFloat32, kCpu);
}
// Queries the allocator of the caller's framework; without such an allocator, allocates CPU memory.
Tensor our_alloc_tensor() { return alloc_tensor({32, 32}, kFloat32, kCpu); }
ffi::Tensor peer_env_alloc() {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {32, 32}, kFloat32, kCpu);
}
template <class Alloc>
Tensor our_nd_alloc() {
  return Tensor::FromNDAlloc(Alloc(), {32, 32}, kFloat32, kCpu);
}
template <class Alloc>
ffi::Tensor peer_nd_alloc() {
  return ffi::Tensor::FromNDAlloc(Alloc(), {32, 32}, kFloat32, kCpu);
}

// Sets a minimal allocator in tvm_ffi, as a framework does, while the object exists.
struct Framework {
  static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void*,
                      void (*)(void*, const char*, const char*)) {
    struct Block {
      DLManagedTensorVersioned managed;
      int64_t shape[2], strides[2];
    };
    auto* block = new Block{};
    DLTensor& tensor = block->managed.dl_tensor;
    block->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor = *prototype;
    for (int i = 0; i < 2; ++i) block->shape[i] = prototype->shape[i];
    block->strides[0] = block->shape[1];
    block->strides[1] = 1;
    tensor.shape = block->shape;
    tensor.strides = block->strides;
    tensor.data = std::malloc(kBytes);
    block->managed.deleter = [](DLManagedTensorVersioned* self) {
      std::free(self->dl_tensor.data);
      delete reinterpret_cast<Block*>(self);
    };
    *out = &block->managed;
    return 0;
  }
  Framework() { TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, nullptr); }
  ~Framework() { TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr); }
};

// Measures the host's C functions alone, without kernkit's code; tvm-ffi's headers call the same
// functions.
void round_trip_in_c(benchmark::State& state) {
  static float data[1024];
  static int64_t shape[] = {32, 32}, strides[] = {32, 1};
  DLManagedTensorVersioned managed{};
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.dl_tensor = {data, kCpu, 2, kFloat32, shape, strides, 0};
  for (auto _ : state) {
    void* object = nullptr;
    DLManagedTensorVersioned* out = nullptr;
    TVMFFITensorFromDLPackVersioned(&managed, 0, 0, &object);
    TVMFFITensorToDLPackVersioned(object, &out);
    KernkitObjectDecRef(static_cast<KernkitObject*>(object));
    benchmark::DoNotOptimize(out->dl_tensor.data);
    out->deleter(out);
  }
}
void nd_alloc_in_c(benchmark::State& state) {
  struct Block {
    DLManagedTensorVersioned managed;
    int64_t shape[2], strides[2];
  };
  for (auto _ : state) {
    auto* block = static_cast<Block*>(std::malloc(sizeof(Block)));
    *block = {{}, {32, 32}, {32, 1}};
    block->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    block->managed.dl_tensor = {std::malloc(kBytes), kCpu,           2, kFloat32,
                                block->shape,        block->strides, 0};
    block->managed.deleter = [](DLManagedTensorVersioned* self) {
      std::free(self->dl_tensor.data);
      std::free(self);
    };
    void* object = nullptr;
    TVMFFITensorFromDLPackVersioned(&block->managed, 0, 0, &object);
    benchmark::DoNotOptimize(object);
    KernkitObjectDecRef(static_cast<KernkitObject*>(object));
  }
}

void only_malloc(benchmark::State& state) {
  for (auto _ : state) {
    void* data = std::malloc(kBytes);
    benchmark::DoNotOptimize(data);
    std::free(data);
  }
}

template <class Make>
void make(benchmark::State& state, Make* make) {
  const Framework framework;
  if (make().numel() != 1024) return state.SkipWithError("the tensor is wrong");
  for (auto _ : state) {
    auto tensor = make();
    benchmark::DoNotOptimize(tensor);
  }
}

template <class Tensor>
void round_trip(benchmark::State& state) {
  static float data[1024];
  static int64_t shape[] = {32, 32}, strides[] = {32, 1};
  static int deleted;
  DLManagedTensorVersioned managed{};
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
  managed.dl_tensor = {data, kCpu, 2, kFloat32, shape, strides, 0};
  const auto once = [&] {
    DLManagedTensorVersioned* out = Tensor::FromDLPackVersioned(&managed).ToDLPackVersioned();
    benchmark::DoNotOptimize(out->dl_tensor.data);
    out->deleter(out);
  };
  deleted = 0;
  once();
  if (deleted != 1) return state.SkipWithError("the deleter was not called exactly once");
  for (auto _ : state) once();
}

template <class Kernkit, class TvmFfi>
void add_makers(const char* label, Kernkit kernkit_make, TvmFfi tvm_ffi_make) {
  add_pair(label, "scale", [=](benchmark::State& state, const std::string& library) {
    if (library == "scale_kernkit") {
      make(state, kernkit_make);
    } else {
      make(state, tvm_ffi_make);
    }
  });
}

[[maybe_unused]] const bool registered = [] {
  benchmark::RegisterBenchmark(("malloc/" + std::string(kCompiler) + "/malloc").c_str(),
                               only_malloc)
      ->UseRealTime();
  add_makers("FromNDAlloc with malloc", our_nd_alloc<OurMalloc>, peer_nd_alloc<PeerMalloc>);
  add_makers("FromNDAlloc, aligned", our_nd_alloc<CPUNDAlloc>, peer_nd_alloc<PeerAligned>);
  add_makers("FromEnvAlloc", our_env_alloc, peer_env_alloc);
  add_makers("alloc_tensor", our_alloc_tensor, peer_env_alloc);
  const auto add_in_c = [](const char* label, void (*run)(benchmark::State&)) {
    const std::string name = std::string(label) + "/" + kCompiler + "/host in C";
    benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime();
  };
  add_in_c("DLPack round trip", round_trip_in_c);
  add_in_c("FromNDAlloc with malloc", nd_alloc_in_c);
  add_pair("DLPack round trip", "scale", [](benchmark::State& state, const std::string& library) {
    library == "scale_kernkit" ? round_trip<Tensor>(state) : round_trip<ffi::Tensor>(state);
  });
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
