// SPDX-License-Identifier: Apache-2.0
// Raises an error in the host, or in the library's own slot.
#pragma once

#include "kernkit/host_api/host_error.h"
#include "kernkit/host_api/raise.h"

namespace kernkit::detail {

KERNKIT_COLD Error& last_error() {
  static thread_local Error error("", "");
  return error;
}

KERNKIT_COLD KernkitByteArray byte_array(const Message& text) {
  return {text.c_str(), text.size()};
}

KERNKIT_COLD int raise(const char* name, const char* error_kind, const char* text,
                       SourceLocation location) noexcept {
  Message message;
  message << name << "(): " << text;
  auto* create = host_api::error_create.get();
  auto* set_raised = host_api::error_set_raised.get();
  auto* dec_ref = host_api::object_dec_ref.get();
  if (create != nullptr && set_raised != nullptr && dec_ref != nullptr) {
    Message backtrace;
    if (location.line != 0) {
      backtrace << "  File \"" << location.file << "\", line " << location.line << ", in " << name
                << "\n";
    }
    const KernkitByteArray kind_bytes = {error_kind, strlen(error_kind)};
    const KernkitByteArray message_bytes = byte_array(message);
    const KernkitByteArray backtrace_bytes = byte_array(backtrace);
    void* error = nullptr;
    if (create(&kind_bytes, &message_bytes, &backtrace_bytes, &error) == 0) {
      set_raised(error);
      dec_ref(error);
      return -1;
    }
  }
  last_error() = Error(error_kind, message.c_str(), location);
  return -1;
}

KERNKIT_COLD int raise_error(const char* name, const Error& error,
                             SourceLocation otherwise) noexcept {
  // A HostError holds the error object of a callback, which is raised again unchanged.
  if (const auto* from_host = dynamic_cast<const HostError*>(&error)) {
    if (auto* set_raised = host_api::error_set_raised.get()) {
      set_raised(from_host->object());
      return -1;
    }
  }
  const SourceLocation location = error.location();
  return raise(name, error.kind(), error.message(), location.line != 0 ? location : otherwise);
}

KERNKIT_COLD int raise_current_exception(const char* name, SourceLocation otherwise) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return raise_error(name, error, otherwise);
  } catch (const std::bad_alloc&) {
    return raise(name, kind::MemoryError, "out of memory", otherwise);
  } catch (const std::exception& error) {
    return raise(name, kind::RuntimeError, error.what(), otherwise);
  } catch (...) {
    return raise(name, kind::InternalError, "threw something other than a std::exception",
                 otherwise);
  }
}

}  // namespace kernkit::detail
