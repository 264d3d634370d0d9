// SPDX-License-Identifier: Apache-2.0
// From a C++ exception to the error of the C ABI. Nothing throws across the C boundary.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/host_api.h"

namespace kernkit::detail {

/// Where an error goes when no host is in the process; kernkit_last_error() reads it.
Error& last_error();

/// Sets "name(): text" as the error of this call, in the host if there is one, and returns -1.
/// The backtrace has one frame, where the error was thrown; Python prints it as the last line of
/// the traceback.
[[gnu::cold]] int raise(const char* name, const char* error_kind, const char* text,
                        Where where) noexcept;

/// The same for a caught Error. `otherwise` is the place of an error that has none.
[[gnu::cold]] int raise_error(const char* name, const Error& error, Where otherwise) noexcept;

/// To be called in a catch (...) block: raises what is being handled, whatever it is.
[[gnu::cold]] int raise_current_exception(const char* name, Where otherwise) noexcept;

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/raise.h"
#endif
