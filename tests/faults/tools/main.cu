// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "faults.h"

int main(int count, char** words) {
  for (const Fault* one = all_faults; one != nullptr; one = one->next) {
    if (count == 2 && std::strcmp(words[1], one->name) != 0) continue;
    one->run(count == 2);
    const cudaError_t error = cudaDeviceSynchronize();
    if (count == 1 && error != cudaSuccess)
      std::printf("%s: %s\n", one->name, cudaGetErrorName(error));
  }
}
