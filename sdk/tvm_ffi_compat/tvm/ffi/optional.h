// SPDX-License-Identifier: Apache-2.0
// Optional: an argument that may be None.
#pragma once

#include "kernkit/optional.h"
#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
using kernkit::Optional;
KERNKIT_TVM_FFI_END
