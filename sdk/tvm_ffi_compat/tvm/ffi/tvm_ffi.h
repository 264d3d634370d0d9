// SPDX-License-Identifier: Apache-2.0
// All that is served, but for extra/.
#pragma once

#include "tvm/ffi/container/tuple.h"
#include "tvm/ffi/device.h"
#include "tvm/ffi/function.h"
