// SPDX-License-Identifier: Apache-2.0
// Attributes of functions that vectorised loops use. The functions are inlined, because compilers
// do not vectorise a loop that contains a call.
#pragma once

/// Attribute of a function that is inlined into its callers together with all functions that it
/// calls. With clang++, a caller's flatten attribute does not apply to calls inside the functions
/// that are inlined into the caller, so that a large op would remain a call; this function
/// therefore has a flatten attribute of its own. With g++, the caller's attribute applies to these
/// calls as well.
#if defined(__clang__) && defined(__OPTIMIZE__) && !defined(__CUDACC__)
#define KERNKIT_ALL_INLINE __attribute__((always_inline, flatten))
#else
/// Attribute of a function that is always inlined; the functions that it calls are not flattened.
#define KERNKIT_ALL_INLINE __attribute__((always_inline))
#endif
/// Begins the definition of an inline function with the attribute KERNKIT_ALL_INLINE.
#define KERNKIT_INLINE KERNKIT_ALL_INLINE inline

/// Begins the definition of a large function that only flattened functions call, such as a function
/// of KERNKIT_VECTORISED, and that is inlined into these callers. With always_inline, g++ would
/// optimise the function and all its callees again at each level of calls; a plain function is
/// optimised once. noclone prevents clones for constant arguments: g++ does not flatten large
/// clones, and would compile them for the baseline instruction set.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__NO_INLINE__) && !defined(__CUDACC__)
#define KERNKIT_FLATTENED __attribute__((noclone)) inline
#else
/// Begins the definition of a function that is inlined into a flattened function.
#define KERNKIT_FLATTENED KERNKIT_INLINE
#endif
