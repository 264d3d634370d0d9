// SPDX-License-Identifier: Apache-2.0
// Whether a test is compiled with AddressSanitizer: TEST_WITH_ASAN.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TEST_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_WITH_ASAN 1
#endif
#endif
