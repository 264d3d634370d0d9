// SPDX-License-Identifier: Apache-2.0
// A device of the simulator, for Python: its tensors, a stream, and the recorded launches.
#include "kernkit/cuda/allocator.h"
#include "kernkit/cuda/check.h"
#include "kernkit/export.h"
#include "kernkit/simulator/runtime.h"

namespace {

using kernkit::Tensor;
using kernkit::TensorView;

kernkit::simulator::CudaRuntime& runtime() {
  static kernkit::simulator::CudaRuntime one;
  one.run_kernels(true);
  return one;
}

void copy(TensorView to, TensorView from) {
  KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
  KERNKIT_CUDA_CHECK(cudaMemcpy(to.data_ptr(), from.data_ptr(), kernkit::GetDataSize(*to.get()),
                                cudaMemcpyDefault));
}
Tensor on_device(TensorView x) {
  (void)runtime();
  Tensor y = Tensor::FromNDAlloc(kernkit::CUDANDAlloc(), x.sizes(), x.dtype(), {kDLCUDA, 0});
  copy(y, x);
  return y;
}
int64_t new_stream() {
  (void)runtime();
  cudaStream_t stream = nullptr;
  KERNKIT_CUDA_CHECK(cudaStreamCreate(&stream));
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(stream));
}
/// Begins the capture of a stream and returns 0, or ends the capture and returns the number of
/// captured nodes.
int64_t capture(int64_t stream, bool begin) {
  auto* const handle = reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(stream));
  if (begin) {
    KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal));
    return 0;
  }
  cudaGraph_t graph = nullptr;
  size_t nodes = 0;
  KERNKIT_CUDA_CHECK(cudaStreamEndCapture(handle, &graph));
  KERNKIT_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  KERNKIT_CUDA_CHECK(cudaGraphDestroy(graph));
  return static_cast<int64_t>(nodes);
}
int64_t launches(int64_t stream) {
  int64_t count = 0;
  for (const auto& launch : runtime().launches()) {
    if (reinterpret_cast<uintptr_t>(launch.stream) != static_cast<uintptr_t>(stream)) count = -99;
    ++count;
  }
  const std::vector<std::string> faults = runtime().faults();
  KERNKIT_CHECK(faults.empty(), RuntimeError) << faults[0].c_str();
  runtime().clear();
  return count;
}

}  // namespace

KERNKIT_EXPORT(on_device, "(Tensor x) -> Tensor", "Returns a copy of x.", on_device)
KERNKIT_EXPORT(copy, "(Tensor(a!) to, Tensor from) -> ()", "", copy)
KERNKIT_EXPORT(new_stream, "() -> int", "", new_stream)
KERNKIT_EXPORT(capture, "(int stream, bool begin) -> int",
               "Begins or ends a capture. At the end, returns the number of captured nodes.",
               capture)
KERNKIT_EXPORT(launches, "(int stream) -> int",
               "Returns the number of kernels that were launched since the last call; a negative "
               "number if a kernel was launched on a stream other than `stream`.",
               launches)
