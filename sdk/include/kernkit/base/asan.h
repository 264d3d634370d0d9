// SPDX-License-Identifier: Apache-2.0
// KERNKIT_ASAN: defined if the file is compiled with AddressSanitizer, by g++ or clang++.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
/// 1 in a file that is compiled with AddressSanitizer (g++ or clang++); not defined otherwise.
#define KERNKIT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERNKIT_ASAN 1
#endif
#endif
