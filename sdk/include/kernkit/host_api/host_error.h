// SPDX-License-Identifier: Apache-2.0
// HostError: an error raised by a function of the host, with the host's own object.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/object_ref.h"

namespace kernkit {

/// Thrown if a call of a Function fails, with the kind and the message of the host's error. If it
/// leaves an exported function, the host's object itself is raised again: the caller gets the error
/// of its own callback, traceback included, and not a copy.
class HostError : public Error {
 public:
  /// Shares the error object, of type index 67 (kKernkitError), which is not null, and copies its
  /// kind and message. Throws nothing: without memory the copy is "MemoryError: out of memory".
  [[gnu::cold]] explicit HostError(detail::ObjectRef object);
  /// The host's error object, borrowed: valid as long as a copy of this error. Never null. Throws
  /// nothing.
  KernkitObject* object() const noexcept { return object_.get(); }

 private:
  detail::ObjectRef object_;
};

namespace detail {
/// Throws the error in the host's slot as a HostError; with an empty slot, RuntimeError
/// "<what> failed without an error message".
[[noreturn, gnu::cold]] void throw_raised(const char* what);
/// Throws the error in the host's slot as an Error of its kind, with the text "<what>: <its text>".
[[noreturn, gnu::cold]] void throw_raised_as(const Message& what);
}  // namespace detail

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/host_error.h"
#endif
