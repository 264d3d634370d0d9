// SPDX-License-Identifier: Apache-2.0
// Messages of the hook about its own failures: one line on standard error for each cause, since a
// failure of the hook never makes an op fail.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernkit/errors/message.h"

namespace kernkit::logging {

/// What can fail. A process prints one message for each cause and library.
enum class Cause : uint8_t {
  kSettings,      // a variable of the environment has a value that is not supported
  kLogFile,       // the log's file cannot be opened
  kLogWrite,      // a line cannot be written
  kTraceFile,     // the trace's file cannot be made
  kTraceOps,      // the trace has no room for another op
  kRecordFolder,  // the folder of recordings cannot be used
  kRecordWrite,   // a recording cannot be written
  kRecordSize,    // a call exceeds the limit of one recording
  kRecordTotal,   // the limit of all recordings is reached
  kRecordDevice,  // a tensor's memory cannot be read
  kRecordTypes,   // an argument has a type that a recording cannot contain
  kMemory,        // the host's memory is exhausted
};

/// Blocks SIGPIPE and SIGXFSZ in this thread for a scope, so that a failed write does not end the
/// process. Removes a signal that arrived in the scope.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGPIPE);
    sigaddset(&signals_, SIGXFSZ);
    sigset_t pending;
    if (sigpending(&pending) == 0) {
      for (const int signal : {SIGPIPE, SIGXFSZ}) {
        if (sigismember(&pending, signal) == 1) sigdelset(&signals_, signal);
      }
    }
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &signals_, &before_) == 0;
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() {
    if (!is_blocked_) return;
    const timespec none = {};
    if (failed_) (void)sigtimedwait(&signals_, nullptr, &none);
    (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  /// Records that a write failed with this value of errno.
  void failed(int error) { failed_ = error == EPIPE || error == EFBIG; }

 private:
  sigset_t signals_, before_;
  bool is_blocked_ = false;
  bool failed_ = false;
};

/// Writes all bytes, in one write() unless a signal interrupts it. Returns 0 or the value of errno.
inline int write_all(int file, const void* data, size_t size) {
  BlockedSignals signals;
  auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(file, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      signals.failed(error);
      return error;
    }
    next += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

/// Prints "kernkit: <text>" on standard error, unless a message of this cause was printed before.
inline void report(Cause cause, const Message& text) {
  static uint32_t printed = 0;
  const uint32_t bit = 1u << static_cast<unsigned>(cause);
  if ((__atomic_fetch_or(&printed, bit, __ATOMIC_RELAXED) & bit) != 0) return;
  Message line;
  line << "kernkit: " << text.c_str() << "\n";
  (void)write_all(STDERR_FILENO, line.c_str(), line.size());
}

/// Holds the text of an errno value, such as "No space left on device".
struct ErrorText {
  char text[128];
  explicit ErrorText(int error) : text{} {
    // GNU's strerror_r() returns the text, which need not be in the buffer.
    const char* found = strerror_r(error, text, sizeof text);
    if (found != text) strncpy(text, found, sizeof text - 1);
  }
};

}  // namespace kernkit::logging
