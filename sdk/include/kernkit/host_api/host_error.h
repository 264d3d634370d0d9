// SPDX-License-Identifier: Apache-2.0
// HostError: an error raised by a function of the host, with the host's own object.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/object_ref.h"

namespace kernkit {

/// Thrown if a call of a Function fails, with the kind and the message of the host's error object.
/// If a HostError leaves an exported function, that error object is raised again, not a copy, so
/// that the caller receives the error of its callback with the traceback of the callback.
class HostError : public Error {
 public:
  /// Shares the error object, which must have type index 67 (kKernkitError) and must not be null,
  /// and copies the kind and the message of the object. Throws nothing: if memory is exhausted,
  /// kind and message are "MemoryError: out of memory".
  [[gnu::cold]] explicit HostError(detail::ObjectRef object);
  /// The host's error object, borrowed: valid as long as this HostError or a copy of it. Never
  /// null. Throws nothing.
  KernkitObject* object() const noexcept { return object_.get(); }

 private:
  detail::ObjectRef object_;
};

namespace detail {
/// Throws the error in the host's slot as a HostError; if the slot is empty, throws RuntimeError
/// "<what> failed without an error message".
[[noreturn, gnu::cold]] void throw_raised(const char* what);
/// Throws the error in the host's slot as an Error of the same kind, with the message "<what>:
/// <message of the error>".
[[noreturn, gnu::cold]] void throw_raised_as(const Message& what);
}  // namespace detail

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/host_error.h"
#endif
