// SPDX-License-Identifier: Apache-2.0
// Compilation of the cold part of the SDK: texts of errors and calls of the host.
//
// Headers declare the cold functions; kernkit/impl/ defines them. A file that includes kernkit
// compiles the definitions that it uses, so it needs only an include path. A library made by
// kernkit_add_library() defines KERNKIT_COMPILED and compiles all definitions once, in
// sdk/src/kernkit.cc: its kernels then compile in about half the time.
#pragma once

#if defined(KERNKIT_COMPILED)
#define KERNKIT_COLD
#else
/// Begins the definition of a cold function: inline, and local to the file's library. Empty with
/// KERNKIT_COMPILED: the library then compiles all cold functions once, in sdk/src/kernkit.cc.
#define KERNKIT_COLD KERNKIT_LOCAL inline
#endif

/// Attribute of an entity that must exist once per library, even if the library is compiled without
/// -fvisibility=hidden: by default, g++ lets all libraries of a process share an inline variable or
/// a static variable of an inline function, even libraries loaded with RTLD_LOCAL.
#define KERNKIT_LOCAL __attribute__((visibility("hidden")))
