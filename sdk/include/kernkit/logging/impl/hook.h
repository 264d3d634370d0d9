// SPDX-License-Identifier: Apache-2.0
// The hook of the library's calls: reads the settings, and passes each call to the log and the
// trace.
#pragma once

#include <dlfcn.h>

#include "kernkit/logging/impl/earlier_calls.h"
#include "kernkit/logging/impl/log.h"
#include "kernkit/logging/impl/nvtx.h"
#include "kernkit/logging/impl/recorder.h"
#include "kernkit/logging/impl/sync.h"
#include "kernkit/logging/impl/trace.h"

#if defined(KERNKIT_COMPILED) && !defined(KERNKIT_NO_CALL_HOOK)

namespace kernkit::logging {

/// The log, the trace and the recorder of a library, which exist until the process ends.
class Hook {
 public:
  static Hook& get() {
    // The hook is never destroyed, because other threads call ops until the process ends.
    alignas(Hook) static unsigned char memory[sizeof(Hook)];
    static Hook* hook = new (memory) Hook;
    return *hook;
  }

  int run(detail::CallSite* site, const KernkitAny* args, int32_t num_args, KernkitAny* result) {
    KnownOp* op = known_op(site, [&](KnownOp* known) {
      known->is_logged = log_.selects(site->name);
      known->trace_index = trace_.add_op(site);
      known->is_recorded = recorder_.selects(site->name);
    });
    const Call call = {site, op, args, num_args};
    if (op == nullptr) {
      report(Cause::kMemory, Message().stream() << "no memory to log, trace or record a call");
      return plain(call, result);
    }
    const uint64_t traced = op->trace_index >= 0 ? trace_.begin(call) : 0;
    const bool is_plain = !op->is_logged && !op->is_recorded;
    const int code = is_plain ? plain(call, result) : observed(call, result);
    if (traced != 0) trace_.end(traced, code);
    return code;
  }

  /// Appends the library's last calls to a message, or "; no earlier call" before the library's
  /// first call.
  static void append_earlier_calls(Message& text) {
    if (const Hook* hook = made()) {
      append_earlier(text, hook->trace_);
    } else {
      text << "; no earlier call";
    }
  }

 private:
  Hook()
      : log_(library_name()),
        trace_(library_name()),
        recorder_(library_name()),
        ranges_(library_name()) {
    __atomic_store_n(&made(), this, __ATOMIC_RELEASE);
    (void)pthread_atfork(nullptr, nullptr, after_fork);
  }

  /// Returns a reference to the pointer to the hook, which is null before the hook's construction.
  /// Unlike get(), made() takes no lock: at a fork, another thread could hold the lock.
  static Hook*& made() {
    static Hook* hook = nullptr;
    return hook;
  }

  static void after_fork() {
    if (Hook* hook = made()) {
      hook->log_.after_fork();
      hook->trace_.after_fork();
    }
  }

  int observed(const Call& call, KernkitAny* result) {
    Recording recording;
    if (call.op->is_recorded) recording = recorder_.begin(call);
    // If the recorder deletes the recordings of successful calls, only the log line after a failed
    // call contains the folder's name.
    const bool is_kept = recorder_.keeps_calls_that_succeed();
    const char* name = recording.folder >= 0 ? recording.name : nullptr;
    const uint64_t number = call.op->is_logged ? log_.begin(call, is_kept ? name : nullptr) : 0;
    const int64_t begin = nanoseconds();
    const int code = plain(call, result);
    const int64_t duration = nanoseconds() - begin;
    const int error = errno;
    if (call.op->is_logged) {
      log_.end(call, number, code, duration, is_kept || code == 0 ? nullptr : name);
    }
    recorder_.end(recording, call, *result, code, duration);
    errno = error;
    return code;
  }

  int plain(const Call& call, KernkitAny* result) const {
    ranges_.begin(call);
    int code = call.site->function(detail::hooked_self(), call.args, call.num_args, result);
    if (code == 0 && is_synced_) code = wait_for_work(call, result);
    ranges_.end();
    return code;
  }

  /// Returns the file name of the library, without its folders.
  static const char* library_name() {
    Dl_info info{};
    if (dladdr(&detail::call_hook, &info) == 0 || info.dli_fname == nullptr) return "the program";
    const char* slash = strrchr(info.dli_fname, '/');
    return slash == nullptr ? info.dli_fname : slash + 1;
  }

  Log log_;
  Trace trace_;
  Recorder recorder_;
  Ranges ranges_;
  const bool is_synced_ = is_synced();
};

}  // namespace kernkit::logging

namespace kernkit::detail {

unsigned char call_hook = 0;

// Sets call_hook when the library is loaded, before any call of the library: a write during a call
// would be a data race.
[[gnu::constructor]] static void read_call_hook() {
  using namespace logging;
  call_hook = is_observed() || is_synced() || is_profiled() ? 1 : 0;
}

void append_earlier_calls(Message& text) noexcept {
  if (call_hook != 0) logging::Hook::append_earlier_calls(text);
}

int hooked_call(CallSite* site, const KernkitAny* args, int32_t num_args,
                KernkitAny* result) noexcept {
  return logging::Hook::get().run(site, args, num_args, result);
}

}  // namespace kernkit::detail

#endif  // whether the library has the call hook
