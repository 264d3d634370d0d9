// SPDX-License-Identifier: Apache-2.0
// Defines TEST_WITH_ASAN if a test is compiled with AddressSanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TEST_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_WITH_ASAN 1
#endif
#endif
