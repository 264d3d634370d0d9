// SPDX-License-Identifier: Apache-2.0
// Messages of launches that are rejected or fail.
#pragma once

#include <cxxabi.h>
#include <stdlib.h>

#include "kernkit/cuda/launch.h"

namespace kernkit::cuda::detail {

KERNKIT_COLD void throw_not_cuda(const DLTensor* x, const char* name) {
  KERNKIT_THROW(ValueError) << (name != nullptr ? name : "tensor") << ": device " << x->device
                            << " is not a CUDA device";
}

KERNKIT_COLD void throw_other_device(const DLTensor* x, const char* name, const DLTensor* first,
                                     const char* first_name) {
  KERNKIT_THROW(ValueError) << (name != nullptr ? name : "tensor") << ": device " << x->device
                            << " does not match "
                            << (first_name != nullptr ? first_name : "the first tensor") << " ("
                            << first->device << ")";
}

/// Appends the kernel's C++ name without return type and parameters, or "kernel" if the name is
/// unknown.
KERNKIT_COLD void append_kernel(Message& text, const void* kernel) {
  const char* mangled = nullptr;
#if CUDART_VERSION >= 12030
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess) mangled = nullptr;
#else
  (void)kernel;
#endif
  if (mangled == nullptr) {
    text << "kernel";
    return;
  }
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
  const char* begin = demangled != nullptr ? demangled : mangled;
  // The demangled name of a template starts with the return type, which is void for every kernel.
  if (strncmp(begin, "void ", 5) == 0) begin += 5;
  // The name ends at the parameters: at the first ( outside <> that does not begin (anonymous
  // namespace).
  size_t size = 0;
  for (int depth = 0; begin[size] != '\0'; ++size) {
    if (begin[size] == '<') ++depth;
    if (begin[size] == '>') --depth;
    if (begin[size] == '(' && depth == 0 && strncmp(begin + size, "(anonymous", 10) != 0) break;
  }
  text.append(begin, size);
  free(demangled);
}

KERNKIT_COLD void append_launch(Message& text, const void* kernel, const LaunchConfig& config) {
  append_kernel(text, kernel);
  text << ", grid " << config.grid << ", block " << config.block;
  if (config.shared_memory != 0) text << ", " << config.shared_memory << " bytes of shared memory";
  if (config.has_cluster()) text << ", cluster " << config.cluster;
}

KERNKIT_COLD void throw_bad_config(const LaunchConfig& config, const void* kernel, int device) {
  const DeviceProperties& limits = device_properties(device);
  const auto extent = [](const int(&limit)[3]) { return Extent(limit[0], limit[1], limit[2]); };
  const Extent& grid = config.grid;
  const Extent& block = config.block;
  Message text;
  text << "launch of ";
  append_kernel(text, kernel);
  text << ": ";
  if (!grid.within(limits.max_grid)) {
    text << "grid " << grid << " is outside [1, 1, 1] to " << extent(limits.max_grid);
  } else if (!block.within(limits.max_block)) {
    text << "block " << block << " is outside [1, 1, 1] to " << extent(limits.max_block);
  } else if (block.x * block.y * block.z > limits.max_threads_per_block) {
    text << "block " << block << " has " << block.x * block.y * block.z << " threads, at most "
         << limits.max_threads_per_block << " fit";
  } else if (config.shared_memory < 0 ||
             config.shared_memory > limits.shared_memory_per_block_opt_in) {
    text << config.shared_memory << " bytes of dynamic shared memory per block, the limit is "
         << limits.shared_memory_per_block_opt_in;
  } else {
    text << "grid " << grid << " is not a multiple of the cluster " << config.cluster;
  }
  text << " on cuda:" << device << " (sm_" << limits.compute_capability << ")";
  throw Error(kind::ValueError, text.c_str(), KERNKIT_HERE);
}

KERNKIT_COLD int64_t static_shared_memory(const void* kernel, int device) {
  // Each slot is written once: the key first, then the size. For a kernel without a free slot, each
  // call queries the size again.
  struct Slot {
    uint64_t key;  // hash of kernel and device; 0: empty
    int64_t size;  // static shared memory [bytes] plus 1; 0: not stored yet
  };
  constexpr uint64_t kSlots = 256, kProbes = 8;
  static Slot slots[kSlots];

  const uint64_t key = (reinterpret_cast<uintptr_t>(kernel) << 7) | static_cast<unsigned>(device);
  Slot* slot = nullptr;
  for (uint64_t i = 0; i < kProbes && slot == nullptr; ++i) {
    Slot& candidate = slots[(((key >> 7) * 0x9e3779b97f4a7c15u >> 32) + key + i) % kSlots];
    uint64_t previous = 0;
    if (__atomic_compare_exchange_n(&candidate.key, &previous, key, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        previous == key) {
      slot = &candidate;
    }
  }
  if (slot != nullptr) {
    const int64_t size = __atomic_load_n(&slot->size, __ATOMIC_RELAXED);
    if (size != 0) return size - 1;
  }
  cudaFuncAttributes attributes{};
  if (!succeeded(cudaFuncGetAttributes(&attributes, kernel))) return 0;
  const auto size = static_cast<int64_t>(attributes.sharedSizeBytes);
  if (slot != nullptr) __atomic_store_n(&slot->size, size + 1, __ATOMIC_RELAXED);
  return size;
}

KERNKIT_COLD void throw_shared_memory(const LaunchConfig& config, const void* kernel, int device) {
  const DeviceProperties& limits = device_properties(device);
  Message text;
  text << "launch of ";
  append_kernel(text, kernel);
  text << ": " << config.shared_memory << " bytes of dynamic and "
       << static_shared_memory(kernel, device)
       << " of static shared memory per block, the limit is "
       << limits.shared_memory_per_block_opt_in << " on cuda:" << device << " (sm_"
       << limits.compute_capability << ")";
  throw Error(kind::ValueError, text.c_str(), KERNKIT_HERE);
}

KERNKIT_COLD void throw_launch_error(cudaError_t error, const LaunchConfig& config,
                                     const void* kernel) {
  Message call;
  call << "cudaLaunchKernelExC(";
  append_launch(call, kernel, config);
  call << ")";
  throw_cuda_error(error, call.c_str(), KERNKIT_HERE);
}

template <class T>
T read(const void* value) {
  T result;
  memcpy(&result, value, sizeof(T));
  return result;
}

KERNKIT_COLD void append_argument(Message& text, const Argument& argument) {
  const void* value = argument.value;
  switch (argument.kind) {
    case Argument::kPointer: text << read<const void*>(value); return;
    case Argument::kFloat:
      argument.size == 4   ? void(text << static_cast<double>(read<float>(value)))
      : argument.size == 8 ? void(text << read<double>(value))
                           : void(text << "float");
      return;
    case Argument::kSigned:
      text << (argument.size == 1   ? read<int8_t>(value)
               : argument.size == 2 ? read<int16_t>(value)
               : argument.size == 4 ? read<int32_t>(value)
                                    : read<int64_t>(value));
      return;
    case Argument::kUnsigned:
      text << (argument.size == 1   ? read<uint8_t>(value)
               : argument.size == 2 ? read<uint16_t>(value)
               : argument.size == 4 ? read<uint32_t>(value)
                                    : read<uint64_t>(value));
      return;
    case Argument::kOther: text << "(" << argument.size << " bytes)"; return;
  }
}

KERNKIT_COLD void synchronize(cudaStream_t stream, const LaunchConfig& config, const void* kernel,
                              const Argument* arguments, size_t count) {
  // Returns without waiting if the stream is being captured, or if the query fails, which may
  // happen during a stream capture in another thread.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (!succeeded(cudaStreamIsCapturing(stream, &status)) || status != cudaStreamCaptureStatusNone) {
    return;
  }
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) return;
  Message text;
  text << "KERNKIT_SYNC: ";
  append_launch(text, kernel, config);
  text << ", arguments (";
  for (size_t i = 0; i < count; ++i) append_argument(i == 0 ? text : text << ", ", arguments[i]);
  text << ")";
  throw_error_of_own_work(error, text.c_str(), KERNKIT_HERE);
}

}  // namespace kernkit::cuda::detail
