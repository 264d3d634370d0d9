// SPDX-License-Identifier: Apache-2.0
// Functions that no loop may call, since a call in its body leaves it unvectorised.
#pragma once

// Inlined, with all that it calls itself. clang++ flattens what is called in a function, but not
// what is inlined into it: an op that is too large for its taste would stay a call. g++ does both.
#if defined(__clang__) && defined(__OPTIMIZE__) && !defined(__CUDACC__)
#define KERNKIT_ALL_INLINE __attribute__((always_inline, flatten))
#else
#define KERNKIT_ALL_INLINE __attribute__((always_inline))
#endif
#define KERNKIT_INLINE KERNKIT_ALL_INLINE inline
