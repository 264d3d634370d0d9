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

/// The kind of a failure. A library prints at most one message per Cause and process.
enum class Cause : uint8_t {
  kSettings,      // unsupported value of an environment variable
  kLogFile,       // cannot open the log file
  kLogWrite,      // cannot write a line of the log
  kTraceFile,     // cannot create the trace file
  kTraceOps,      // no room in the trace for another op
  kRecordFolder,  // cannot use the folder of recordings
  kRecordWrite,   // cannot write a recording
  kRecordSize,    // a call exceeds the limit for one recording
  kRecordTotal,   // all recordings reach their common limit
  kRecordDevice,  // cannot read the memory of a tensor
  kRecordTypes,   // a recording cannot contain the type of an argument
  kMemory,        // CPU memory is exhausted
};

/// Blocks SIGPIPE and SIGXFSZ in this thread while the object exists, so that a failed write does
/// not end the process. If failed() was called, the destructor discards the signal that the failed
/// write has raised.
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
  /// Records that a write failed with `error`, a value of errno.
  void failed(int error) { failed_ = error == EPIPE || error == EFBIG; }

 private:
  sigset_t signals_, before_;
  bool is_blocked_ = false;
  bool failed_ = false;
};

/// Writes all bytes to `file`, with a single write() unless a signal interrupts the call. Returns 0
/// or the value of errno.
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

/// Prints "kernkit: <text>" on standard error, unless a message for the same Cause was printed
/// before.
inline void report(Cause cause, const Message& text) {
  static uint32_t printed = 0;
  const uint32_t bit = 1u << static_cast<unsigned>(cause);
  if ((__atomic_fetch_or(&printed, bit, __ATOMIC_RELAXED) & bit) != 0) return;
  Message line;
  line << "kernkit: " << text.c_str() << "\n";
  (void)write_all(STDERR_FILENO, line.c_str(), line.size());
}

/// The text of an errno value, such as "No space left on device".
struct ErrorText {
  char text[128];
  explicit ErrorText(int error) : text{} {
    // GNU's strerror_r() returns a pointer to the text, which may be outside of the buffer.
    const char* found = strerror_r(error, text, sizeof text);
    if (found != text) strncpy(text, found, sizeof text - 1);
  }
};

}  // namespace kernkit::logging
