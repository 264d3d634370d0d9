// SPDX-License-Identifier: Apache-2.0
// Conversion of a C++ exception to an error of the C ABI. No exception crosses the C boundary.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/host_api.h"

namespace kernkit::detail {

/// Returns the slot that holds the thread's error if no host is in the process.
/// kernkit_last_error() reads the slot.
Error& last_error();

/// Stores an error with the message "<name>(): <text>" as the error of this call, in the host or,
/// without a host, in last_error(), and returns -1. The backtrace has one frame, the location at
/// which the error was thrown; Python prints this frame as the last line of the traceback.
[[gnu::cold]] int raise(const char* name, const char* error_kind, const char* text,
                        SourceLocation location) noexcept;

/// Raises a caught Error as raise() does. `otherwise` is the location for an error that has no line
/// number.
[[gnu::cold]] int raise_error(const char* name, const Error& error,
                              SourceLocation otherwise) noexcept;

/// Raises the current exception, of any type, as raise() does. Call the function in a catch (...)
/// block.
[[gnu::cold]] int raise_current_exception(const char* name, SourceLocation otherwise) noexcept;

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/raise.h"
#endif
