// SPDX-License-Identifier: Apache-2.0
// Where the cold half of the SDK, the text of errors and the talk with the host, is compiled.
//
// Headers declare it; kernkit/impl/ defines it. By itself a file that includes kernkit compiles
// what it uses, so an include path is all it takes. A library made by kernkit_add_library() defines
// KERNKIT_COMPILED and compiles all of it once, in sdk/src/kernkit.cc: its kernels then compile in
// about half the time.
#pragma once

#if defined(KERNKIT_COMPILED)
#define KERNKIT_COLD
#else
#define KERNKIT_COLD KERNKIT_LOCAL inline
#endif

// For what must be one per library, also when it is compiled without -fvisibility=hidden: g++ makes
// the statics of inline functions and inline variables one per process, across RTLD_LOCAL.
#define KERNKIT_LOCAL __attribute__((visibility("hidden")))
