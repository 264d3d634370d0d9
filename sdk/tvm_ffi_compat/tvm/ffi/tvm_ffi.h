// SPDX-License-Identifier: Apache-2.0
// All supported headers except those in extra/.
#pragma once

#include "tvm/ffi/container/tuple.h"
#include "tvm/ffi/device.h"
#include "tvm/ffi/function.h"
