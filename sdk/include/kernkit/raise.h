// SPDX-License-Identifier: Apache-2.0
// From a C++ exception to the error of the C ABI. Nothing throws across the C boundary.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api.h"

namespace kernkit::detail {

// Where an error goes when no host is in the process; kernkit_last_error() reads it.
inline Error& last_error() {
  static thread_local Error error("", "");
  return error;
}

inline KernkitByteArray byte_array(const Message& text) { return {text.c_str(), text.size()}; }

/// Sets "name(): text" as the error of this call, in the host if there is one, and returns -1.
/// The backtrace has one frame, where the error was thrown; Python prints it as the last line of
/// the traceback.
[[gnu::cold]] inline int raise(const char* name, const char* error_kind, const char* text,
                               Where where) noexcept {
  Message message;
  message << name << "(): " << text;
  auto* create = host_api::error_create.get();
  auto* set_raised = host_api::error_set_raised.get();
  auto* dec_ref = host_api::object_dec_ref.get();
  if (create != nullptr && set_raised != nullptr && dec_ref != nullptr) {
    Message backtrace;
    if (where.line != 0) {
      backtrace << "  File \"" << where.file << "\", line " << where.line << ", in " << name
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
  last_error() = Error(error_kind, message.c_str(), where);
  return -1;
}

/// To be called in a catch (...) block: raises what is being handled. `otherwise` is where it
/// happened when the exception does not say.
[[gnu::cold]] inline int raise_current_exception(const char* name, Where otherwise) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    const Where where = error.where();
    return raise(name, error.kind(), error.message(), where.line != 0 ? where : otherwise);
  } catch (const std::bad_alloc&) {
    return raise(name, kind::MemoryError, "out of memory", otherwise);
  } catch (const std::exception& error) {
    return raise(name, kind::RuntimeError, error.what(), otherwise);
  } catch (...) {
    return raise(name, kind::InternalError, "threw something that is no std::exception", otherwise);
  }
}

}  // namespace kernkit::detail
