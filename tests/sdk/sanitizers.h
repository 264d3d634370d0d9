// SPDX-License-Identifier: Apache-2.0
// Whether a test is compiled with AddressSanitizer: TEST_WITH_ASAN.
#pragma once

#include "kernkit/base/asan.h"

#if defined(KERNKIT_ASAN)
#define TEST_WITH_ASAN 1
#endif
