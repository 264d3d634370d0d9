// SPDX-License-Identifier: Apache-2.0
// KERNKIT_SIMULATOR_INLINE: functions that no loop over lanes may call, since a call in its body
// leaves the loop unvectorised.
#pragma once

#if defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_SIMULATOR_INLINE __attribute__((always_inline, flatten)) inline
#else
#define KERNKIT_SIMULATOR_INLINE __attribute__((always_inline)) inline
#endif
