// SPDX-License-Identifier: Apache-2.0
// Attributes of functions in loops that must be vectorised: a call in the body prevents this.
#pragma once

/// Attribute of a function that is inlined into its callers together with all functions that it
/// calls. clang++ flattens functions called in a function, but not functions inlined into it: an op
/// that exceeds its size limit would remain a call. g++ flattens both.
#if defined(__clang__) && defined(__OPTIMIZE__) && !defined(__CUDACC__)
#define KERNKIT_ALL_INLINE __attribute__((always_inline, flatten))
#else
/// Attribute of a function that is always inlined; the functions that it calls are not flattened.
#define KERNKIT_ALL_INLINE __attribute__((always_inline))
#endif
/// Begins the definition of an inline function with the attribute KERNKIT_ALL_INLINE.
#define KERNKIT_INLINE KERNKIT_ALL_INLINE inline

/// Begins the definition of a large function that only flattened functions call, such as loops of
/// KERNKIT_VECTORISED, and that is inlined there. g++ would optimise an always_inline function
/// again at each level of calls, with all its callees; it optimises a plain function once. No
/// clones for constant arguments: g++ does not flatten large clones, whose code would be for the
/// baseline instruction set.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__NO_INLINE__) && !defined(__CUDACC__)
#define KERNKIT_FLATTENED __attribute__((noclone)) inline
#else
/// Begins the definition of a function that is inlined into a flattened function.
#define KERNKIT_FLATTENED KERNKIT_INLINE
#endif
