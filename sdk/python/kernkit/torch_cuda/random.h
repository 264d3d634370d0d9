// SPDX-License-Identifier: Apache-2.0
// Random numbers: the states of CUDA generators, and the numbers of the CPU.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <mutex>

namespace kernkit::torch_cuda {

/// Returns the number by which an operator with `count` random elements advances the Philox offset.
/// As in PyTorch's distribution kernels, the number is 4 for each iteration of a thread
/// (DistributionTemplates.h).
inline uint64_t advance_of(int64_t count) {
  constexpr int64_t kThreads = 256, kUnroll = 4;
  static const int64_t most_blocks = [] {
    int sms = 0, threads = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    return std::max<int64_t>(1, int64_t{sms} * (threads / kThreads));
  }();
  if (count <= 0) return kUnroll;
  const int64_t blocks = std::min(most_blocks, (count + kThreads - 1) / kThreads);
  return static_cast<uint64_t>(((count - 1) / (kThreads * blocks * kUnroll) + 1) * kUnroll);
}

/// Advances a CUDA generator for `count` random elements, and returns its state before the advance.
/// During a graph capture the state refers to memory that each replay of the graph fills.
inline at::PhiloxCudaState take_state(const at::Generator& generator, int64_t count) {
  auto* const of_device = at::check_generator<at::CUDAGeneratorImpl>(generator);
  const std::lock_guard<std::mutex> lock(of_device->mutex_);
  return of_device->philox_cuda_state(advance_of(count));
}

/// Returns the seed for a CPU generator that replaces a CUDA generator in this state.
inline uint64_t seed_of(const at::PhiloxCudaState& state) {
  const auto seed = state.captured_ ? static_cast<uint64_t>(*state.seed_.ptr) : state.seed_.val;
  const auto offset = state.captured_
                          ? static_cast<uint64_t>(*state.offset_.ptr) + state.offset_intragraph_
                          : state.offset_.val;
  uint64_t mixed = seed + 0x9e3779b97f4a7c15u * (offset + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

inline at::Generator cpu_generator(const at::PhiloxCudaState& state) {
  return at::make_generator<at::CPUGeneratorImpl>(seed_of(state));
}

/// Seeds the CPU's default generator, for operators that have no argument for a generator. The
/// destructor restores the state of the generator.
class DefaultGeneratorSeeded {
 public:
  explicit DefaultGeneratorSeeded(const at::PhiloxCudaState& state)
      : lock_(mutex()), generator_(at::globalContext().defaultGenerator(c10::kCPU)) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    before_ = generator_.get_state();
    generator_.set_current_seed(seed_of(state));
  }
  ~DefaultGeneratorSeeded() {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(before_);
  }
  DefaultGeneratorSeeded(const DefaultGeneratorSeeded&) = delete;
  DefaultGeneratorSeeded& operator=(const DefaultGeneratorSeeded&) = delete;

 private:
  static std::mutex& mutex() {
    static auto& the_mutex = *new std::mutex;
    return the_mutex;
  }
  std::lock_guard<std::mutex> lock_;
  at::Generator generator_;
  at::Tensor before_;
};

}  // namespace kernkit::torch_cuda
