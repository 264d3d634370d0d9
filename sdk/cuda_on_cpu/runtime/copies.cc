// SPDX-License-Identifier: Apache-2.0
// Copies of memory, and filling it.
#include <cstring>

#include "process/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

void copy(void* to, const void* from, size_t size) {
  const RaceSeen of_device;
  if (size != 0) std::memmove(to, from, size);
  tell_memory(MemoryStep::kCopied, to, size, from);
}
void fill(void* pointer, int value, size_t size) {
  const RaceSeen of_device;
  std::memset(pointer, value, size);
  tell_memory(MemoryStep::kFilled, pointer, size, nullptr);
}

bool is_known(const void* address) {
  return allocation_of(address) != nullptr ||
         (ptx_device_of != nullptr && ptx_device_of(address) >= 0);
}

}  // namespace

// CUDA Runtime API, "API synchronization behavior": memory that CUDA did not allocate is read
// before the call returns, and was written when it returns. In a graph it is read when that runs.
cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  const bool is_captured = knows(stream) && captured(stream) != nullptr;
  const bool reads = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDefault;
  const bool writes = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
  if (reads && !is_captured && !is_known(from) && is_known(to)) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    return enqueue(
        stream,
        [to, staged = std::vector<unsigned char>(bytes, bytes + size)] {
          copy(to, staged.data(), staged.size());
        },
        NodeKind::kMemcpy);
  }
  const cudaError_t error = enqueue(
      stream, [=] { copy(to, from, size); }, NodeKind::kMemcpy);
  if (error == cudaSuccess && writes && !is_captured && !is_known(to) && is_known(from)) {
    drain(device_of(stream), stream);
    return error_of_device(device_of(stream));
  }
  return error;
}

cudaError_t copy_and_wait(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  const cudaError_t refused = refuse_waiting(nullptr);
  if (refused != cudaSuccess) return refused;
  const cudaError_t error = enqueue(
      nullptr, [=] { copy(to, from, size); }, NodeKind::kMemcpy);
  if (kind != cudaMemcpyDeviceToDevice) drain(thread_state().device, nullptr);
  return error != cudaSuccess ? error : error_of_device(thread_state().device);
}

}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return call("cudaMemcpy", Reach::kDevice, [&] { return copy_and_wait(to, from, size, kind); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", Reach::kDevice,
              [&] { return copy_async(to, from, size, kind, stream); });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return call("cudaMemset", Reach::kDevice, [&] {
    const cudaError_t refused = refuse_waiting(nullptr);
    return refused != cudaSuccess ? refused : enqueue(nullptr, [=] { fill(pointer, value, size); });
  });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return call("cudaMemsetAsync", Reach::kDevice, [&] {
    return enqueue(
        stream, [=] { fill(pointer, value, size); }, NodeKind::kMemset);
  });
}

}  // extern "C"
