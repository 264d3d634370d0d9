// SPDX-License-Identifier: Apache-2.0
// CUDADeviceGuard. The destructor never throws.
#pragma once

#include "kernkit/cuda/device_guard.h"
#include "tvm/ffi/extra/cuda/base.h"

KERNKIT_TVM_FFI_BEGIN
struct CUDADeviceGuard {
  explicit CUDADeviceGuard(int device)
      : guard(detail::translate([&] { return kernkit::CUDADeviceGuard(device); })) {}
  const kernkit::CUDADeviceGuard guard;
};
KERNKIT_TVM_FFI_END
