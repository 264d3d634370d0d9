// SPDX-License-Identifier: Apache-2.0
// Launch: everything a kernel launch needs, made from the tensors of the call.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"
#include "kernkit/tensor.h"

namespace kernkit::cuda {

namespace detail {
// Names T without deducing it, so that an argument converts to the kernel's parameter type.
template <class T>
struct Exactly {
  using type = T;
};
}  // namespace detail

/// Owns device guard and stream for the length of a call. All tensors must be on one CUDA device,
/// or it is a ValueError; so no stream is touched without its device being current.
///
///     cuda::Launch launch(y, x);
///     launch(my_kernel<float>, grid, block, y.data<float>(), x.data<const float>(), n);
class Launch {
 public:
  template <class... Tensors>
  explicit Launch(const TensorView& first, const Tensors&... others)
      : device_(common_device(first, others...)),
        guard_(device_.device_id),
        stream_(get_cuda_stream(device_)) {}

  DLDevice device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

  /// Launches on the stream. Arguments convert implicitly to the kernel's parameter types: a wrong
  /// number of them, or a pointer to const where the kernel writes, does not compile. Throws
  /// RuntimeError with the launch's own error; never synchronises, never allocates.
  template <class... Params>
  void operator()(void (*kernel)(Params...), dim3 grid, dim3 block,
                  typename detail::Exactly<Params>::type... arguments) const {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
    KERNKIT_CUDA_CHECK(
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, 0, stream_));
  }

 private:
  template <class... Tensors>
  static DLDevice common_device(const TensorView& first, const Tensors&... others) {
    if (!is_cuda(first.device())) throw_device(first);
    const bool same = ((others.device() == first.device()) && ... && true);
    if (!same) ((others.device() == first.device() ? void() : throw_mixed(first, others)), ...);
    return first.device();
  }
  [[noreturn, gnu::cold]] static void throw_device(const TensorView& tensor) {
    KERNKIT_THROW(ValueError) << kernkit::detail::name_or(tensor, "tensor") << ": device "
                              << tensor.device() << " is not a CUDA device";
  }
  [[noreturn, gnu::cold]] static void throw_mixed(const TensorView& first,
                                                  const TensorView& other) {
    KERNKIT_THROW(ValueError) << kernkit::detail::name_or(other, "tensor") << ": device "
                              << other.device() << " does not match "
                              << kernkit::detail::name_or(first, "the first tensor") << " ("
                              << first.device() << ")";
  }

  DLDevice device_;
  CUDADeviceGuard guard_;
  cudaStream_t stream_;
};

}  // namespace kernkit::cuda
