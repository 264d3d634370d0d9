// SPDX-License-Identifier: Apache-2.0
// Defines TEST_WITH_ASAN if a test is compiled with AddressSanitizer.
#pragma once

#include "kernkit/base/asan.h"

#if defined(KERNKIT_ASAN)
#define TEST_WITH_ASAN 1
#endif
