// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tvm/ffi/dtype.h"
