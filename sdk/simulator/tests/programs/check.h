// SPDX-License-Identifier: Apache-2.0
// Functions that the programs of this folder share. The programs do not use kernkit: each program
// is written for a GPU, verifies its own result and returns 1 if the result is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(1);
}

/// Prints the verdict and returns main()'s exit code.
inline int verdict(const char* program, bool passed) {
  std::printf("%s: %s\n", program, passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}
