// SPDX-License-Identifier: Apache-2.0
// KERNKIT_SIMULATOR_INLINE: specifier of a function that must be inlined, since a call in a loop
// over lanes would leave the loop unvectorised.
#pragma once

#if defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_SIMULATOR_INLINE __attribute__((always_inline, flatten)) inline
#else
#define KERNKIT_SIMULATOR_INLINE __attribute__((always_inline)) inline
#endif
