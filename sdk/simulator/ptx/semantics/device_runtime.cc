// SPDX-License-Identifier: Apache-2.0
// Calls of the device runtime, which nvcc -rdc=true emits for <<<>>> in a kernel. Signatures:
// cuda_device_runtime_api.h. A launched kernel runs after the grid of its caller. This order is
// valid: CUDA 12 and later have no function with which a kernel can wait for a kernel that it
// launched.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/child_launches.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"
#include "ptx/semantics/call_parameters.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint64_t kTailLaunch = 3;      // cudaStreamTailLaunch
constexpr uint64_t kStreamOfKernel = 8;  // handle of every stream that a kernel creates

template <class Body>
void each_lane(const Warp& warp, const Body& body) {
  for (uint32_t left = warp.mask; left != 0; left &= left - 1) body(__builtin_ctz(left));
}

const Function& kernel_at(const Warp& warp, int lane, const Operation& operation,
                          uint64_t address) {
  const Module& module = warp.block->launch.module;
  const Function* found = nullptr;
  if (address >> kWindowShift == kCodeWindow >> kWindowShift) {
    found = module.function_at(static_cast<uint32_t>((address - kCodeWindow) / 16));
  }
  if (found == nullptr || !found->is_kernel) {
    fault(warp, lane, operation,
          "launches an address that is not a kernel of the module; pass the address of a kernel, "
          "taken in device code",
          cudaErrorInvalidDeviceFunction);
  }
  return *found;
}

// Executes void* __cudaCDP2GetParameterBufferV2(void* kernel, dim3 grid, dim3 block, unsigned
// shared).
void get_parameter_buffer(Warp& warp, const Operation& operation) {
  each_lane(warp, [&](int lane) {
    const auto address = parameter<uint64_t>(warp, operation, 0, lane);
    const auto grid = parameter<dim3>(warp, operation, 1, lane);
    const auto block = parameter<dim3>(warp, operation, 2, lane);
    const Function& kernel = kernel_at(warp, lane, operation, address);
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    const uint64_t most = kernel.max_threads == 0 ? 1024 : kernel.max_threads;
    if (threads == 0 || threads > most || uint64_t{grid.x} * grid.y * grid.z == 0) {
      fault(warp, lane, operation,
            "launches " + kernel.name + " with " + std::to_string(threads) +
                " threads in a block; supported are 1 to " + std::to_string(most) +
                " threads in at least one block",
            cudaErrorInvalidConfiguration);
    }
    const auto shared = parameter<uint32_t>(warp, operation, 3, lane);
    set_result(warp, operation, lane,
               warp.block->launch.children->allocate(kernel, grid, block, shared));
  });
}

// Executes cudaError_t __cudaCDP2LaunchDeviceV2(void* buffer, cudaStream_t stream).
void launch_device(Warp& warp, const Operation& operation) {
  each_lane(warp, [&](int lane) {
    const auto buffer = parameter<uint64_t>(warp, operation, 0, lane);
    const auto stream = parameter<uint64_t>(warp, operation, 1, lane);
    if (!warp.block->launch.children->launch(buffer, stream == kTailLaunch)) {
      fault(warp, lane, operation, "launches a kernel with a parameter buffer that does not exist",
            cudaErrorInvalidValue);
    }
    set_result<int32_t>(warp, operation, lane, cudaSuccess);
  });
}

// Executes cudaError_t __cudaCDP2StreamCreateWithFlags(cudaStream_t* stream, unsigned flags).
void create_stream(Warp& warp, const Operation& operation) {
  each_lane(warp, [&](int lane) {
    const auto address = parameter<uint64_t>(warp, operation, 0, lane);
    unsigned char* const stream =
        find_pointer(warp, lane, operation, address, sizeof(kStreamOfKernel), Touch::kStores);
    std::memcpy(stream, &kStreamOfKernel, sizeof(kStreamOfKernel));
    set_result<int32_t>(warp, operation, lane, cudaSuccess);
  });
}

// Executes a function that has no effect and returns cudaSuccess, such as cudaGetLastError(): a
// launch that fails ends the kernel, so there is never a last error.
void succeed(Warp& warp, const Operation& operation) {
  each_lane(warp, [&](int lane) { set_result<int32_t>(warp, operation, lane, cudaSuccess); });
}

// Executes const char* __cudaCDP2GetErrorString(cudaError_t error) and __cudaCDP2GetErrorName().
template <const char* (*kText)(cudaError_t)>
void get_error_text(Warp& warp, const Operation& operation) {
  each_lane(warp, [&](int lane) {
    const auto error = static_cast<cudaError_t>(parameter<int32_t>(warp, operation, 0, lane));
    set_result(warp, operation, lane, warp.block->launch.children->address_of(kText(error)));
  });
}

}  // namespace

Run call_device_runtime(Decoder& d, size_t callee, const std::string& name) {
  struct DeviceFunction {
    std::string_view name;
    size_t parameters;
    uint8_t result_bytes;
    Run run;
  };
  static constexpr DeviceFunction kFunctions[] = {
      {"__cudaCDP2GetParameterBufferV2", 4, 8, get_parameter_buffer},
      {"__cudaCDP2LaunchDeviceV2", 2, 4, launch_device},
      {"__cudaCDP2LaunchDeviceV2_ptsz", 2, 4, launch_device},
      {"__cudaCDP2StreamCreateWithFlags", 2, 4, create_stream},
      {"__cudaCDP2StreamDestroy", 1, 4, succeed},
      {"__cudaCDP2GetErrorString", 1, 8, get_error_text<cudaGetErrorString>},
      {"__cudaCDP2GetErrorName", 1, 8, get_error_text<cudaGetErrorName>},
      {"__cudaCDP2GetLastError", 0, 4, succeed},
      {"__cudaCDP2PeekAtLastError", 0, 4, succeed}};
  const auto* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                            [&](const auto& row) { return row.name == name; });
  if (function == std::end(kFunctions)) return nullptr;
  take_parameters(d, callee, function->parameters, function->result_bytes);
  return function->run;
}

}  // namespace kernkit::simulator::ptx
