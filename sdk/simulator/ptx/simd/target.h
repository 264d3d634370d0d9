// SPDX-License-Identifier: Apache-2.0
// Way: what a file of loops is compiled for. The same loops are compiled once more for processors
// with AVX2, and the linker must not take one for the other.
#pragma once

#if defined(KERNKIT_PTX_AVX2)
#define KERNKIT_PTX_WAY avx2
#else
#define KERNKIT_PTX_WAY baseline
#endif
