// SPDX-License-Identifier: Apache-2.0
// The hook of the library's calls: reads the settings, and passes each call to the log.
#pragma once

#include <dlfcn.h>

#include "kernkit/logging/impl/log.h"

#if defined(KERNKIT_COMPILED) && !defined(KERNKIT_NO_CALL_HOOK)

namespace kernkit::logging {

/// What the hook keeps for the process's lifetime.
class Hook {
 public:
  static Hook& get() {
    // Never destroyed: other threads call ops until the process ends.
    alignas(Hook) static unsigned char memory[sizeof(Hook)];
    static Hook* hook = new (memory) Hook;
    return *hook;
  }

  int run(detail::CallSite* site, const KernkitAny* args, int32_t num_args, KernkitAny* result) {
    KnownOp* op =
        known_op(site, [&](KnownOp* known) { known->is_logged = log_.selects(site->name); });
    const Call call = {site, op, args, num_args};
    if (op == nullptr) {
      report(Cause::kMemory, Message().stream() << "no memory to log a call");
      return plain(call, result);
    }
    uint64_t number = 0;
    if (op->is_logged) number = log_.begin(call);
    const int64_t begin = op->is_logged ? nanoseconds() : 0;
    const int code = plain(call, result);
    if (op->is_logged) log_.end(call, number, code, nanoseconds() - begin);
    return code;
  }

 private:
  Hook() : log_(library_name()) { (void)pthread_atfork(nullptr, nullptr, after_fork); }

  static void after_fork() { get().log_.after_fork(); }

  static int plain(const Call& call, KernkitAny* result) {
    return call.site->function(detail::hooked_self(), call.args, call.num_args, result);
  }

  /// The name of the library's file without folders.
  static const char* library_name() {
    Dl_info info{};
    if (dladdr(&detail::call_hook, &info) == 0 || info.dli_fname == nullptr) return "the program";
    const char* slash = strrchr(info.dli_fname, '/');
    return slash == nullptr ? info.dli_fname : slash + 1;
  }

  Log log_;
};

}  // namespace kernkit::logging

namespace kernkit::detail {

unsigned char call_hook = 0;

// Runs when the library is loaded, so that no call reads the byte while another thread writes it.
[[gnu::constructor]] static void read_call_hook() { call_hook = logging::is_requested() ? 1 : 0; }

int hooked_call(CallSite* site, const KernkitAny* args, int32_t num_args,
                KernkitAny* result) noexcept {
  return logging::Hook::get().run(site, args, num_args, result);
}

}  // namespace kernkit::detail

#endif  // the library has the hook
