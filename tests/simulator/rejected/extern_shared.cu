// expect: dynamic_shared
// SPDX-License-Identifier: Apache-2.0
__global__ void kernel(float* x) {
  extern __shared__ float tile[];
  x[0] = tile[0];
}
