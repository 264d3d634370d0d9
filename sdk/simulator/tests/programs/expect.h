// SPDX-License-Identifier: Apache-2.0
// EXPECT(expected, actual) compares a value that a program reads back with the expected value.
// `passed` is false after a difference.
#pragma once

#include "check.h"

inline bool passed = true;

template <class T, class U>
void expect(T expected, U actual, int line) {
  if (expected == actual) return;
  std::printf("line %d: %lld, not %lld\n", line, static_cast<long long>(actual),
              static_cast<long long>(expected));
  passed = false;
}
#define EXPECT(expected, actual) expect(expected, actual, __LINE__)
