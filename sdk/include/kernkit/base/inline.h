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

// A large function that flattened functions alone call, such as loops of KERNKIT_VECTORISED, which
// inline it. g++ optimises a function that is always inlined at every level of calls anew, each
// time with all that it calls, and a plain function once. No clone for constant arguments: g++ does
// not flatten clones that are large, and their code would be that of the least processor.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__NO_INLINE__) && !defined(__CUDACC__)
#define KERNKIT_FLATTENED __attribute__((noclone)) inline
#else
#define KERNKIT_FLATTENED KERNKIT_INLINE
#endif
