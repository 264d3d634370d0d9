// SPDX-License-Identifier: Apache-2.0
// Selects the active mutant among the mutants that run.py wrote into the sources: the mutant with
// the number in KERNKIT_MUTANT, or none. KERNKIT_MUTANTS_SEEN names a file for the numbers of the
// reached mutants.
#pragma once

#include <stdio.h>
#include <stdlib.h>

struct KernkitMutants {
  static constexpr int kMost = 10000;
  int alive = -1;
  const char* seen_file = nullptr;
  bool reached[kMost] = {};

  KernkitMutants() {
    if (const char* text = getenv("KERNKIT_MUTANT")) alive = atoi(text);
    seen_file = getenv("KERNKIT_MUTANTS_SEEN");
    if (seen_file != nullptr) atexit(write);
  }
  static void write();
};
inline KernkitMutants& kernkit_mutants() {
  static KernkitMutants mutants;
  return mutants;
}
inline void KernkitMutants::write() {
  FILE* file = fopen(kernkit_mutants().seen_file, "a");
  if (file == nullptr) return;
  for (int n = 0; n < kMost; ++n) {
    if (kernkit_mutants().reached[n]) fprintf(file, "%d\n", n);
  }
  fclose(file);
}
#if defined(__NVCC__)
__host__ __device__
#endif
    inline bool
    kernkit_mutant(int n) {
#if defined(__CUDA_ARCH__)
  return n < 0;  // GPU code has no mutants
#else
  KernkitMutants& mutants = kernkit_mutants();
  if (mutants.seen_file != nullptr) __atomic_store_n(&mutants.reached[n], true, __ATOMIC_RELAXED);
  return n == mutants.alive;
#endif
}
