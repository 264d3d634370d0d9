// SPDX-License-Identifier: Apache-2.0
// CUDADeviceGuard. The destructor never throws.
#pragma once

#include "kernkit/cuda/device_guard.h"
#include "tvm/ffi/extra/cuda/base.h"

KERNKIT_TVM_FFI_BEGIN
/// Makes a device current and, at the end of the scope, restores the previous device, as
/// kernkit::CUDADeviceGuard does.
struct CUDADeviceGuard {
  /// Makes `device` current for this thread. Throws RuntimeError if CUDA fails.
  explicit CUDADeviceGuard(int device)
      : guard(detail::translate([&] { return kernkit::CUDADeviceGuard(device); })) {}
  const kernkit::CUDADeviceGuard guard;  ///< guard whose destructor restores the device
};
KERNKIT_TVM_FFI_END
