// SPDX-License-Identifier: Apache-2.0
// EXPECT(wanted, found): numbers that a program reads back. `right` is false after a difference.
#pragma once

#include "check.h"

inline bool right = true;

template <class T, class U>
void expect(T wanted, U found, int line) {
  if (wanted == found) return;
  std::printf("line %d: %lld, not %lld\n", line, static_cast<long long>(found),
              static_cast<long long>(wanted));
  right = false;
}
#define EXPECT(wanted, found) expect(wanted, found, __LINE__)
