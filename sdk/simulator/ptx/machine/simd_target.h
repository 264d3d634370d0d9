// SPDX-License-Identifier: Apache-2.0
// The SIMD target that a file of loops is compiled for. The loops are compiled a second time for
// processors with AVX2, in a namespace of their own, so that the linker cannot merge the two
// versions.
#pragma once

#if defined(KERNKIT_PTX_AVX2)
#define KERNKIT_PTX_TARGET avx2
#else
#define KERNKIT_PTX_TARGET baseline
#endif
