// expect: kernkit: inline PTX (asm) is not supported on the CPU
// SPDX-License-Identifier: Apache-2.0
__global__ void kernel(unsigned* x) {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  x[0] = lane;
}
