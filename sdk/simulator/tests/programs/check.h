// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share. They know nothing of kernkit: each is as its user would
// write it for a GPU, verifies its own result, and returns 1 where that is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(1);
}

/// main()'s value.
inline int verdict(const char* program, bool right) {
  std::printf("%s: %s\n", program, right ? "passed" : "FAILED");
  return right ? 0 : 1;
}
