// SPDX-License-Identifier: Apache-2.0
// The hook of an exported function: log, trace and recordings of calls (kernkit/logging/).
//
// A library that is compiled with KERNKIT_COMPILED has the hook, whose code is in kernkit.cc.
// KERNKIT_NO_CALL_HOOK removes the hook.
#pragma once

#include "kernkit/abi/abi.h"
#include "kernkit/base/cold.h"
#include "kernkit/errors/message.h"
#include "kernkit/schema/schema.h"

namespace kernkit::detail {

/// Description of an exported function; a call passes this object to hooked_call().
struct CallSite {
  const char* name;             // name of the op
  const char* line;             // schema line without the op's name
  schema::Signature signature;  // the parsed line
  KernkitFunction function;     // the exported function
  void* known;                  // data of the call hook (a KnownOp); null before the first call
};

/// Value of the argument `self` with which the call hook calls an exported function, so that the
/// function does not pass the call to the hook again. Other callers pass null as `self`.
inline void* hooked_self() { return reinterpret_cast<void*>(uintptr_t{0xff}); }

#if defined(KERNKIT_COMPILED) && !defined(KERNKIT_NO_CALL_HOOK)
/// Not 0 if an environment variable requests the log, the trace, recordings, or another task of the
/// call hook. The value is set when the library is loaded, and constant from then on.
extern KERNKIT_LOCAL unsigned char call_hook;

/// Appends the last three calls that preceded this thread's current call to the message of a CUDA
/// error: "; earlier calls, the last one first: #2 scale(x=float32[4] cuda:0), #1 ...". Appends
/// nothing if no environment variable requests the call hook, because no calls are then recorded.
[[gnu::cold]] KERNKIT_LOCAL void append_earlier_calls(Message& text) noexcept;

/// Calls the function of a call site, and logs, traces or records the call. Returns what the
/// function returns; a failure to log, trace or record does not affect the call.
[[gnu::cold]] int hooked_call(CallSite* site, const KernkitAny* args, int32_t num_args,
                              KernkitAny* result) noexcept;

/// Returns whether a call is passed to hooked_call(). Takes two instructions if no environment
/// variable requests the call hook.
[[gnu::always_inline]] inline bool is_hooked([[maybe_unused]] void* self) {
#if defined(__clang__)
  return __builtin_expect(call_hook != 0, 0) && self == nullptr;
#else
  // One comparison tests two conditions: the call hook is on, and the caller is not the call hook.
  // For two comparisons, g++ generates code that jumps in the common case.
  return __builtin_expect(call_hook > static_cast<uint8_t>(reinterpret_cast<uintptr_t>(self)), 0);
#endif
}

/// Begins the body of a function exported by KERNKIT_EXPORT_FUNCTION: if the log, the trace or
/// recordings are on, passes the call to the hook and returns its result. `signature` is the parsed
/// `schema_line`.
#define KERNKIT_HOOK_CALL(op, schema_line, signature, function, args, num_args, result)         \
  static ::kernkit::detail::CallSite kernkit_call_site = {op, schema_line, signature, function, \
                                                          nullptr};                             \
  if (::kernkit::detail::is_hooked(kernkit_self)) {                                             \
    return ::kernkit::detail::hooked_call(&kernkit_call_site, args, num_args, result);          \
  }
#else
/// Expands to nothing: the library has no call hook, since it is compiled without KERNKIT_COMPILED
/// or with KERNKIT_NO_CALL_HOOK.
#define KERNKIT_HOOK_CALL(op, schema_line, signature, function, args, num_args, result)
#endif

}  // namespace kernkit::detail
