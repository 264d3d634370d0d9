// SPDX-License-Identifier: Apache-2.0
// Random sequences of calls of both APIs against a model of memory, contexts and the last error.
#include <deque>
#include <functional>
#include <random>
#include <thread>

#include "../sanitizers.h"
#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

/// A sequence of random API calls by one host thread, checked against a model: the members of this
/// class record the expected memory, streams, events and errors. Each call is made at random
/// through the driver's or the runtime's API. The call's result, its effect on memory and the
/// runtime's last error must equal the model's.
class Sequence {
 public:
  /// `is_alone`: whether no other thread allocates memory, so that a released address remains free.
  Sequence(unsigned seed, CUfunction scale, bool is_alone)
      : random_(seed), scale_(scale), is_alone_(is_alone) {
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary_[0], 0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary_[1], 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent(primary_[0]), CUDA_SUCCESS);
    contexts_.push_back(0);
  }

  void run(int calls) {
    static constexpr void (Sequence::*kCalls[])() = {
        &Sequence::allocate, &Sequence::release, &Sequence::release_twice, &Sequence::fill,
        &Sequence::write,    &Sequence::read,    &Sequence::copy,          &Sequence::launch,
        &Sequence::streams,  &Sequence::events,  &Sequence::contexts,      &Sequence::last_error,
        &Sequence::fill,     &Sequence::read};
    for (int i = 0; i < calls && !::testing::Test::HasFailure(); ++i) {
      (this->*kCalls[below(std::size(kCalls))])();
      ++calls_;
    }
  }

  // Compares all memory with the model, and frees all memory, streams and events of the sequence.
  void end() {
    while (!memory_.empty()) {
      read_all(memory_.back());
      expect(cudaSuccess, cudaFree(pointer(memory_.back().address)));
      memory_.pop_back();
    }
    for (auto stream : streams_) EXPECT_EQ(cuStreamDestroy(stream.handle), CUDA_SUCCESS);
    for (auto event : events_) EXPECT_EQ(cuEventDestroy(event.handle), CUDA_SUCCESS);
    last_error();
    for (size_t i = 0; i < contexts_.size(); ++i) {
      EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
    }
  }

  int calls() const { return calls_; }

 private:
  /// A stream or an event, with the device that was current at its creation.
  template <class Handle>
  struct Owned {
    Handle handle;
    int device;
  };
  struct Memory {
    CUdeviceptr address;
    std::vector<unsigned char> bytes;
    Owned<CUstream> stream;  // stream of all asynchronous work on the memory, or a null handle
    int device;              // device that owns the memory
  };

  static void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  unsigned below(size_t count) { return static_cast<unsigned>(random_() % count); }
  bool coin() { return below(2) == 0; }
  bool is_rare_case() { return below(8) == 0; }
  // Returns a random element of memory_, or null if memory_ is empty. Waits for the memory's stream
  // if the stream belongs to a device that is not current, because the default stream of the
  // current device does not wait for the stream's work.
  Memory* some() {
    if (memory_.empty()) return nullptr;
    Memory* const memory = &memory_[below(memory_.size())];
    order(*memory);
    return memory;
  }
  void order(const Memory& memory) {
    if (memory.stream.handle == nullptr || memory.stream.device == contexts_.back()) return;
    expect(cudaSuccess, cudaDeviceSynchronize());
    expect(cudaSuccess, cuStreamSynchronize(memory.stream.handle));
  }

  void expect(cudaError_t expected, cudaError_t result) {
    EXPECT_EQ(result, expected) << "call " << calls_;
    if (result != cudaSuccess) last_error_ = result;
  }
  void expect(cudaError_t expected, CUresult result) {
    EXPECT_EQ(static_cast<int>(result), static_cast<int>(expected)) << "call " << calls_;
  }

  void allocate() {
    if (memory_.size() > 6) return;
    Memory created{
        0, std::vector<unsigned char>(4 * (1 + below(16))), {nullptr, 0}, contexts_.back()};
    const size_t size = is_rare_case() ? size_t{1} << 40 : created.bytes.size();
    const cudaError_t expected =
        size > created.bytes.size() ? cudaErrorMemoryAllocation : cudaSuccess;
    void* address = nullptr;
    if (coin()) {
      expect(expected, cuMemAlloc(&created.address, size));
    } else {
      expect(expected, cudaMalloc(&address, size));
      created.address = reinterpret_cast<CUdeviceptr>(address);
    }
    if (expected != cudaSuccess) return;
    if (!streams_.empty()) created.stream = streams_[below(streams_.size())];
    EXPECT_EQ(cuMemsetD8(created.address, 0, created.bytes.size()), CUDA_SUCCESS);
    memory_.push_back(created);
  }
  void release() {
    if (memory_.empty() || coin()) return;
    const size_t i = below(memory_.size());
    read_all(memory_[i]);
    free_address(memory_[i].address, cudaSuccess);
    released_ = memory_[i].address;
    memory_.erase(memory_.begin() + static_cast<ptrdiff_t>(i));
  }
  void release_twice() {
    for (const Memory& allocation : memory_) {
      if (allocation.address == released_) return;  // allocated again
    }
    if (is_alone_ && released_ != 0) free_address(released_, cudaErrorInvalidValue);
  }
  void free_address(CUdeviceptr address, cudaError_t expected) {
    if (coin()) {
      expect(expected, cuMemFree(address));
    } else {
      expect(expected, cudaFree(pointer(address)));
    }
  }

  // A range of whole words in memory, which sometimes extends past the memory's end.
  struct Range {
    size_t begin, size;
    cudaError_t expected;
  };
  Range range(const Memory& memory) {
    const size_t words = memory.bytes.size() / 4, begin = below(words),
                 size = 1 + below(words - begin);
    if (is_rare_case()) return {4 * begin, memory.bytes.size() + 4, cudaErrorInvalidValue};
    return {4 * begin, 4 * size, cudaSuccess};
  }

  void fill() {
    Memory* const memory = some();
    if (memory == nullptr) return;
    const Range part = range(*memory);
    const auto value = static_cast<unsigned char>(random_());
    const CUdeviceptr address = memory->address + part.begin;
    switch (below(memory->stream.handle == nullptr ? 2 : 4)) {
      case 0: expect(part.expected, cuMemsetD8(address, value, part.size)); break;
      case 1: expect(part.expected, cudaMemset(pointer(address), value, part.size)); break;
      case 2:
        expect(part.expected, cuMemsetD8Async(address, value, part.size, memory->stream.handle));
        break;
      default:
        expect(part.expected,
               cudaMemsetAsync(pointer(address), value, part.size, memory->stream.handle));
    }
    if (part.expected != cudaSuccess) return;
    std::fill_n(memory->bytes.begin() + static_cast<ptrdiff_t>(part.begin), part.size, value);
  }
  void write() {
    Memory* const memory = some();
    if (memory == nullptr) return;
    const Range part = range(*memory);
    std::vector<unsigned char> source(part.size);
    for (unsigned char& byte : source) byte = static_cast<unsigned char>(random_());
    const CUdeviceptr address = memory->address + part.begin;
    if (coin()) {
      expect(part.expected, cuMemcpyHtoD(address, source.data(), part.size));
    } else {
      expect(part.expected,
             cudaMemcpy(pointer(address), source.data(), part.size, cudaMemcpyHostToDevice));
    }
    if (part.expected != cudaSuccess) return;
    std::copy(source.begin(), source.end(),
              memory->bytes.begin() + static_cast<ptrdiff_t>(part.begin));
  }
  void read() {
    Memory* const memory = some();
    if (memory == nullptr) return;
    const Range part = range(*memory);
    std::vector<unsigned char> target(part.size);
    const CUdeviceptr address = memory->address + part.begin;
    if (coin()) {
      expect(part.expected, cuMemcpyDtoH(target.data(), address, part.size));
    } else {
      expect(part.expected,
             cudaMemcpy(target.data(), pointer(address), part.size, cudaMemcpyDefault));
    }
    if (part.expected != cudaSuccess) return;
    const auto begin = memory->bytes.begin() + static_cast<ptrdiff_t>(part.begin);
    EXPECT_TRUE(std::equal(target.begin(), target.end(), begin)) << "call " << calls_;
  }
  void read_all(const Memory& memory) {
    order(memory);
    std::vector<unsigned char> target(memory.bytes.size());
    EXPECT_EQ(cuMemcpyDtoH(target.data(), memory.address, target.size()), CUDA_SUCCESS);
    EXPECT_EQ(target, memory.bytes) << "call " << calls_;
  }
  // Copies between two allocations. Does nothing if the asynchronous work on the allocations is in
  // different streams.
  void copy() {
    Memory* const from = some();
    Memory* const to = some();
    if (from == nullptr || from == to || from->stream.handle != to->stream.handle) return;
    const size_t size = std::min(from->bytes.size(), to->bytes.size());
    if (from->stream.handle != nullptr && coin()) {
      expect(cudaSuccess, cuMemcpyDtoDAsync(to->address, from->address, size, from->stream.handle));
    } else if (coin()) {
      expect(cudaSuccess, cuMemcpy(to->address, from->address, size));
    } else {
      expect(cudaSuccess, cudaMemcpy(pointer(to->address), pointer(from->address), size,
                                     cudaMemcpyDeviceToDevice));
    }
    std::copy_n(from->bytes.begin(), size, to->bytes.begin());
  }

  // Multiplies the floats of the memory by a factor in a kernel. In rare cases, the launch has no
  // blocks, which is an error.
  void launch() {
    Memory* const memory = some();
    if (memory == nullptr || below(4) != 0) return;
    // The kernel is loaded on device 0 and cannot access the memory of device 1.
    if (contexts_.back() != 0 || memory->device != 0 || memory->stream.device != 0) return;
    const auto words = static_cast<unsigned>(memory->bytes.size() / 4);
    unsigned n = words;
    auto factor = static_cast<float>(below(10));
    std::vector<float> values(words, static_cast<float>(below(100)));
    expect(cudaSuccess, cuMemcpyHtoD(memory->address, values.data(), 4 * words));
    void* arguments[] = {&memory->address, &n, &factor};
    const unsigned blocks = is_rare_case() ? 0 : 1;
    if (coin()) {
      EXPECT_EQ(cuLaunchKernel(scale_, blocks, 1, 1, 32, 1, 1, 0, memory->stream.handle, arguments,
                               nullptr),
                blocks == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    } else {
      expect(blocks == 0 ? cudaErrorInvalidConfiguration : cudaSuccess,
             cudaLaunchKernel(scale_, dim3(blocks), dim3(32), arguments, 0, memory->stream.handle));
    }
    for (float& value : values) value *= blocks == 0 ? 1 : factor;
    std::memcpy(memory->bytes.data(), values.data(), memory->bytes.size());
  }

  // The streams are blocking streams, so that synchronous functions on the default stream wait for
  // the streams' work.
  void streams() {
    if (streams_.size() < 3) {
      CUstream created = nullptr;
      if (coin()) {
        expect(cudaSuccess, cuStreamCreate(&created, CU_STREAM_DEFAULT));
      } else {
        expect(cudaSuccess, cudaStreamCreate(&created));
      }
      return streams_.push_back({created, contexts_.back()});
    }
    const CUstream stream = streams_[below(streams_.size())].handle;
    if (coin()) {
      expect(cudaSuccess, cuStreamSynchronize(stream));
      expect(cudaSuccess, cudaStreamQuery(stream));
    } else {
      expect(cudaSuccess, cudaStreamSynchronize(stream));
      expect(cudaSuccess, cuStreamQuery(stream));
    }
  }
  void events() {
    if (events_.size() < 3) {
      CUevent created = nullptr;
      if (coin()) {
        expect(cudaSuccess, cuEventCreate(&created, CU_EVENT_DISABLE_TIMING));
      } else {
        expect(cudaSuccess, cudaEventCreateWithFlags(&created, cudaEventDisableTiming));
      }
      events_.push_back({created, contexts_.back()});
    }
    const auto [event, device] = events_[below(events_.size())];
    const Owned<CUstream> stream = coin() || streams_.empty()
                                       ? Owned<CUstream>{nullptr, contexts_.back()}
                                       : streams_[below(streams_.size())];
    // An event can be recorded only in a stream of its device.
    const auto recorded = device == stream.device ? cudaSuccess : cudaErrorInvalidResourceHandle;
    float milliseconds = 0;
    switch (below(4)) {
      case 0: expect(recorded, cuEventRecord(event, stream.handle)); break;
      case 1: expect(recorded, cudaEventRecord(event, stream.handle)); break;
      case 2: expect(cudaSuccess, cuEventSynchronize(event)); break;
      default:  // the event was created without timing
        expect(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event, event));
    }
  }

  // Changes the stack of contexts. The top context determines the runtime's current device.
  void contexts() {
    const int device = static_cast<int>(below(2));
    expect(cudaSuccess, cudaDeviceSynchronize());
    switch (below(4)) {
      case 0:
        if (contexts_.size() < 5) {
          expect(cudaSuccess, cuCtxPushCurrent(primary_[device]));
          contexts_.push_back(device);
        }
        break;
      case 1:
        if (contexts_.size() > 1) {
          CUcontext popped = nullptr;
          expect(cudaSuccess, cuCtxPopCurrent(&popped));
          EXPECT_EQ(popped, primary_[contexts_.back()]);
          contexts_.pop_back();
        }
        break;
      case 2:
        expect(cudaSuccess, cudaSetDevice(device));
        contexts_.back() = device;
        break;
      default: expect(cudaErrorInvalidDevice, cudaSetDevice(7)); break;
    }
    int current = -1;
    expect(cudaSuccess, cudaGetDevice(&current));
    EXPECT_EQ(current, contexts_.back());
  }

  void last_error() {
    EXPECT_EQ(cudaPeekAtLastError(), last_error_) << "call " << calls_;
    EXPECT_EQ(cudaGetLastError(), last_error_) << "call " << calls_;
    last_error_ = cudaSuccess;
  }

  std::mt19937 random_;
  CUfunction scale_;
  bool is_alone_;
  CUcontext primary_[2] = {};
  std::vector<int> contexts_;  // devices of the stack, the current context last
  std::deque<Memory> memory_;
  CUdeviceptr released_ = 0;
  std::vector<Owned<CUstream>> streams_;
  std::vector<Owned<CUevent>> events_;
  cudaError_t last_error_ = cudaSuccess;
  int calls_ = 0;
};

using RandomCalls = Driver;

constexpr int kCallsOfSequence = 20;

#ifdef TEST_WITH_ASAN
constexpr unsigned kSequences = 10000;
#else
constexpr unsigned kSequences = 100000;
#endif

TEST_F(RandomCalls, MatchAModel) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  ::testing::internal::CaptureStderr();  // hides the reports of rejected calls
  for (unsigned seed = 0; seed < kSequences && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    runtime().clear();
    runtime().set_seed(seed);
    Sequence sequence(seed, scale, true);
    sequence.run(kCallsOfSequence);
    sequence.end();
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

// Several host threads run sequences at the same time. Each host thread has its own stack of
// contexts and its own last error.
TEST_F(RandomCalls, OfSeveralThreads) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned i = 0; i < kSequences / 40; ++i) {
        Sequence sequence(4 * i + thread, scale, false);
        sequence.run(kCallsOfSequence);
        sequence.end();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace kernkit::simulator
