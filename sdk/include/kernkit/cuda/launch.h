// SPDX-License-Identifier: Apache-2.0
// Launch: device, stream and checks of a kernel launch, taken from the tensors of the call.
#pragma once

#include <cuda_runtime.h>

#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/device_properties.h"
#include "kernkit/cuda/dynamic_shared.h"
#include "kernkit/cuda/launch_config.h"
#include "kernkit/cuda/stream.h"
#include "kernkit/tensor.h"

namespace kernkit::cuda {

namespace detail {

// The type T in a form from which C++ does not deduce T, so that an argument converts to the
// kernel's parameter type.
template <class T>
struct Exactly {
  using type = T;
};

/// A kernel's argument, as messages print it.
struct Argument {
  enum Kind { kSigned, kUnsigned, kFloat, kPointer, kOther };
  const void* value;
  size_t size;
  Kind kind;
};
template <class T>
Argument argument(const T& value) {
  constexpr Argument::Kind kKind = std::is_pointer_v<T>          ? Argument::kPointer
                                   : std::is_floating_point_v<T> ? Argument::kFloat
                                   : !std::is_integral_v<T>      ? Argument::kOther
                                   : std::is_signed_v<T>         ? Argument::kSigned
                                                                 : Argument::kUnsigned;
  return {&value, sizeof(T), kKind};
}

[[noreturn, gnu::cold]] void throw_not_cuda(const DLTensor* x, const char* name);
[[noreturn, gnu::cold]] void throw_other_device(const DLTensor* x, const char* name,
                                                const DLTensor* first, const char* first_name);
[[noreturn, gnu::cold]] void throw_bad_config(const LaunchConfig& config, const void* kernel,
                                              int device);
/// A kernel's static shared memory on a device [bytes per block], queried once. Returns 0 if the
/// query fails; the launch then reports the error.
int64_t static_shared_memory(const void* kernel, int device);
[[noreturn, gnu::cold]] void throw_shared_memory(const LaunchConfig& config, const void* kernel,
                                                 int device);
[[noreturn, gnu::cold]] void throw_launch_error(cudaError_t error, const LaunchConfig& config,
                                                const void* kernel);
[[gnu::cold]] void synchronize(cudaStream_t stream, const LaunchConfig& config, const void* kernel,
                               const Argument* arguments, size_t count);

}  // namespace detail

/// Holds a device guard and the stream during a call, so that the stream is used only while its
/// device is current.
///
///     cuda::Launch launch(y, x);
///     launch(my_kernel<float>, {blocks, threads}, y.data<float>(), x.data<const float>(), n);
///
/// Construction and one launch make two calls of the runtime, cudaGetDevice and
/// cudaLaunchKernelExC. Additional calls: two if another device was current, one for more than 48
/// KiB of static and dynamic shared memory together, one for the first launch of a kernel with
/// dynamic shared memory. A Launch neither allocates nor synchronises, and works during stream
/// capture.
class Launch {
 public:
  /// Makes the device of the tensors current for this thread and reads the stream of the caller's
  /// framework. Every argument is a TensorView, which is only read during construction. Throws
  /// ValueError unless all tensors are on one CUDA device; the message names the tensor. Throws
  /// RuntimeError if the device cannot be made current. Destroy the object in the same thread.
  template <class... Tensors>
  explicit Launch(const TensorView& first, const Tensors&... others)
      : device_(common_device(first, others...)),
        guard_(device_.device_id),
        stream_(get_cuda_stream(device_)) {}

  /// Returns the device of all tensors, such as {kDLCUDA, 1}. Throws nothing.
  DLDevice device() const { return device_; }
  /// Returns the stream of the caller's framework on the device at the construction, see
  /// get_cuda_stream(). The framework owns the stream. Throws nothing.
  cudaStream_t stream() const { return stream_; }
  /// Returns the number of SMs, the shared memory and the limits of the device, valid until the end
  /// of the process. Throws RuntimeError if the runtime fails at the first query, or for a device
  /// above cuda:127.
  const DeviceProperties& properties() const { return device_properties(device_.device_id); }
  /// Returns whether the stream is being captured into a graph; also true for a capture that was
  /// invalidated. Throws RuntimeError if the query fails, for example for the default stream while
  /// another stream that synchronises with the default stream is being captured
  /// (cudaErrorStreamCaptureImplicit). Does not wait.
  bool capturing() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    KERNKIT_CUDA_CHECK(cudaStreamIsCapturing(stream_, &status));
    return status != cudaStreamCaptureStatusNone;
  }

  /// Launches the kernel on the stream; a grid without blocks launches nothing. Arguments convert
  /// implicitly to the kernel's parameter types: a wrong number of arguments, or a pointer to const
  /// where the kernel writes, does not compile.
  ///
  /// Throws ValueError if the device does not support the grid, block, cluster or shared memory,
  /// and RuntimeError if the launch itself fails; the error of an earlier call stays set. With
  /// KERNKIT_SYNC=1 in the environment the launch waits for the kernel, unless the stream is
  /// captured, and the RuntimeError names the kernel and its arguments. Returns without waiting for
  /// the kernel, which receives copies of the arguments: memory to which they point must live until
  /// the kernel ends.
  template <class... Params>
  void operator()(void (*kernel)(Params...), const LaunchConfig& config,
                  typename detail::Exactly<Params>::type... arguments) const {
    if (config.grid.empty()) return;
    const auto* function = reinterpret_cast<const void*>(kernel);
    cudaLaunchAttribute attributes[3];
    cudaLaunchConfig_t native{};
    prepare(config, function, &native, attributes);
    const cudaError_t error = cudaLaunchKernelEx(&native, kernel, arguments...);
    if (__builtin_expect(error != cudaSuccess, 0)) {
      detail::throw_launch_error(error, config, function);
    }
    if (__builtin_expect(detail::sync_each_launch(), 0)) {
      const detail::Argument list[] = {detail::argument(arguments)..., {}};
      detail::synchronize(stream_, config, function, list, sizeof...(Params));
    }
  }

 private:
  template <class... Tensors>
  static DLDevice common_device(const TensorView& first, const Tensors&... others) {
    if (!is_cuda(first.device())) detail::throw_not_cuda(first.get(), first.name());
    (require_same(others, first), ...);
    return first.device();
  }
  static void require_same(const TensorView& x, const TensorView& first) {
    if (__builtin_expect(x.device() != first.device(), 0)) {
      detail::throw_other_device(x.get(), x.name(), first.get(), first.name());
    }
  }

  void prepare(const LaunchConfig& config, const void* kernel, cudaLaunchConfig_t* native,
               cudaLaunchAttribute* attributes) const {
    const DeviceProperties& limits = properties();
    const Extent& block = config.block;
    const bool fits = config.grid.within(limits.max_grid) && block.within(limits.max_block) &&
                      block.x * block.y * block.z <= limits.max_threads_per_block &&
                      config.shared_memory >= 0 &&
                      config.shared_memory <= limits.shared_memory_per_block_opt_in &&
                      (!config.has_cluster() || config.grid.is_multiple_of(config.cluster));
    if (__builtin_expect(!fits, 0)) detail::throw_bad_config(config, kernel, device_.device_id);
    if (config.shared_memory != 0) opt_in_to_shared_memory(config, kernel, limits);
    native->gridDim = config.grid.native();
    native->blockDim = block.native();
    native->dynamicSmemBytes = static_cast<size_t>(config.shared_memory);
    native->stream = stream_;
    native->attrs = attributes;
    native->numAttrs = config.attributes(attributes);
  }

  // Lets a kernel use more than 48 KiB of static and dynamic shared memory together. The limit is
  // always set to the maximum dynamic size, because other threads may launch the kernel with other
  // sizes.
  void opt_in_to_shared_memory(const LaunchConfig& config, const void* kernel,
                               const DeviceProperties& limits) const {
    const int64_t fixed = detail::static_shared_memory(kernel, device_.device_id);
    const int64_t total = fixed + config.shared_memory;
    if (__builtin_expect(total <= limits.shared_memory_per_block, 1)) return;
    const int64_t most = limits.shared_memory_per_block_opt_in;
    if (total > most) detail::throw_shared_memory(config, kernel, device_.device_id);
    KERNKIT_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(most - fixed)));
  }

  DLDevice device_;
  CUDADeviceGuard guard_;
  cudaStream_t stream_;
};

}  // namespace kernkit::cuda

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cuda/impl/launch.h"
#endif
