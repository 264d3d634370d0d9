// SPDX-License-Identifier: Apache-2.0
// Signals in contract tests: the call is printed, and a new process runs the remaining tests, or
// all tests if a report is written. State that the signal may have left broken (the heap, locks, a
// device) is not used again.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "kernkit/testing/contract/current_call.h"

#if defined(GTEST_FLAG_GET)
#define KERNKIT_GTEST_FLAG(name) GTEST_FLAG_GET(name)
#else  // GoogleTest before 1.12
#define KERNKIT_GTEST_FLAG(name) ::testing::GTEST_FLAG(name)
#endif

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace kernkit::testing::contract {

/// A test that a signal ended in an earlier process.
struct Crash {
  std::string test;  ///< "Contract/scale.Layouts"
  std::string text;  ///< "signal SIGSEGV in scale() with ..."
};

/// Maximum size of the line that a crash adds to the environment variable kCrashes [bytes]. Without
/// the line the crash would repeat.
inline constexpr size_t kMostText = 4096;
/// The environment variable with the earlier crashes, in lines "<test>\t<text>".
inline constexpr char kCrashes[] = "KERNKIT_CONTRACT_CRASHES";

/// Returns the crashes that the environment variable kCrashes lists, in order; none without the
/// variable. A line without a tab gives a crash with an empty text. Throws only std::bad_alloc.
inline std::vector<Crash> earlier_crashes() {
  std::vector<Crash> crashes;
  const char* variable = std::getenv(kCrashes);
  const std::string lines = variable != nullptr ? variable : "";
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    const size_t tab = std::min(line.find('\t'), line.size());
    crashes.push_back({line.substr(0, tab), line.substr(std::min(tab + 1, line.size()))});
    begin = end + 1;
  }
  return crashes;
}

/// Returns the full name of a test: "Contract/scale.Layouts". Throws only std::bad_alloc.
inline std::string name_of(const ::testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}
/// Returns the op in the full name of a contract test: "scale" for "Contract/scale.Layouts" and
/// "Contract/scale/2.Layouts"; "" for other tests. Throws only std::bad_alloc.
inline std::string op_of(const std::string& test) {
  const std::string begin = "Contract/";
  if (test.rfind(begin, 0) != 0) return "";
  return test.substr(begin.size(), test.find_first_of("/.", begin.size()) - begin.size());
}

/// Returns the first crash of the test with this full name, otherwise the first crash of another
/// contract test of its op, otherwise null; valid as long as `crashes`. Throws only std::bad_alloc.
inline const Crash* crash_of(const std::vector<Crash>& crashes, const std::string& test) {
  for (const Crash& crash : crashes) {
    if (crash.test == test) return &crash;
  }
  for (const Crash& crash : crashes) {
    if (!op_of(test).empty() && op_of(crash.test) == op_of(test)) return &crash;
  }
  return nullptr;
}

/// The data of the signal handler, prepared before a signal arrives: the handler allocates nothing.
/// Functions throw nothing and call only functions that a signal handler may call.
struct CrashPlan {
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static constexpr size_t kCount = sizeof(kSignals) / sizeof(*kSignals);

  struct sigaction before[kCount] = {};
  pid_t process = 0;
  std::atomic<bool> is_handling{false};
  bool can_continue = false;
  std::string test, program;
  std::vector<std::string> texts;
  std::vector<char*> arguments, environment;
  char crashes[1 << 16] = {};  // "KERNKIT_CONTRACT_CRASHES=..."
  size_t crashes_size = 0;

  /// Appends `size` bytes to `crashes`, as many as fit before the last byte, which stays NUL.
  void append(const char* text, size_t size) {
    size = std::min(size, sizeof(crashes) - 1 - crashes_size);
    std::memcpy(crashes + crashes_size, text, size);
    crashes_size += size;
  }
  /// Appends a NUL-terminated text to `crashes`, truncated to the space left.
  void append(const char* text) { append(text, std::strlen(text)); }

  /// Prints "kernkit: <test>: <how> in scale() ..." on stderr, "after" in place of "in" if the call
  /// has returned, and appends the line to `crashes` for the next process.
  void print(const char* how) {
    CurrentCall& call = current_call();
    append(test.data(), test.size());
    append("\t");
    const size_t begin = crashes_size;
    append(how);
    append(call.has_returned ? " after " : " in ");
    append(call.text, call.size);
    append("\n");
    write_error("kernkit: ", 9);
    write_error(test.data(), test.size());
    write_error(": ", 2);
    write_error(crashes + begin, crashes_size - begin);
  }
  /// Writes `size` bytes to stderr, ignoring errors.
  static void write_error(const char* text, size_t size) {
    const ssize_t written = write(STDERR_FILENO, text, size);
    static_cast<void>(written);
  }

  /// Replaces the process by a new run of the program with `arguments` and `environment`, and with
  /// no signal blocked. Returns if can_continue is false or execve() fails.
  void continue_in_new_process() const {
    if (!can_continue) return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(program.c_str(), arguments.data(), environment.data());
  }
};
/// Returns the only CrashPlan of the process, which exists until the end of the process. A signal
/// handler must not make the first call. Throws nothing.
inline CrashPlan& crash_plan() {
  static CrashPlan plan;
  return plan;
}

/// Returns a text for one of CrashPlan::kSignals, such as "signal SIGSEGV". Throws nothing.
inline const char* signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "signal SIGSEGV";
    case SIGBUS: return "signal SIGBUS";
    case SIGFPE: return "signal SIGFPE";
    case SIGILL: return "signal SIGILL";
    default: return "signal SIGABRT";
  }
}

/// Returns whether a CrashGuard exists and a call of the op was made since its constructor; false
/// in a child process. `plan` is the object of crash_plan(). Throws nothing.
inline bool is_in_test(const CrashPlan& plan) {
  const CurrentCall& call = current_call();
  return call.is_watched && call.size > 0 && plan.process == getpid();
}

/// Handles a signal of CrashPlan::kSignals: during a test prints the call and, unless another
/// handler was installed before, continues in a new process. If the process was not replaced,
/// restores the earlier handler, which then handles the signal. Throws nothing.
inline void on_crash(int signal, siginfo_t* info, void*) {
  CrashPlan& plan = crash_plan();
  size_t i = 0;
  while (CrashPlan::kSignals[i] != signal) ++i;
  const struct sigaction& before = plan.before[i];
  const bool has_handler = (before.sa_flags & SA_SIGINFO) != 0 ||
                           (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (is_in_test(plan)) {
    while (plan.is_handling.exchange(true)) pause();  // the handling thread ends the process
    plan.print(signal_name(signal));
    // A sanitizer reports first, and then calls on_death().
    if (!has_handler) plan.continue_in_new_process();
  }
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);  // a faulting instruction raises the signal again
}

/// Handles the death callback of a sanitizer, after its report: during a test prints the call
/// unless on_crash() has printed it, and continues in a new process. Throws nothing.
inline void on_death() {
  CrashPlan& plan = crash_plan();
  if (!is_in_test(plan)) return;
  if (!plan.is_handling.exchange(true)) plan.print("a sanitizer's report");
  plan.continue_in_new_process();
}

/// Handles the signals of CrashPlan::kSignals during the lifetime of the object, which is one test.
/// Use one object at a time, in the thread that runs the test.
class CrashGuard {
 public:
  /// Prepares crash_plan() for the current GoogleTest test, and installs on_crash() and on_death().
  /// Throws only std::bad_alloc.
  CrashGuard() {
    prepare();
    CurrentCall& call = current_call();
    call.size = 0;
    call.is_watched = true;
    static char stack[1 << 16];  // the handler's stack: the thread's stack may be exhausted
    stack_t current{};
    sigaltstack(nullptr, &current);
    if ((current.ss_flags & SS_DISABLE) != 0) {
      current = {};
      current.ss_sp = stack;
      current.ss_size = sizeof(stack);
      sigaltstack(&current, nullptr);
    }
    struct sigaction action = {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < CrashPlan::kCount; ++i) {
      sigaction(CrashPlan::kSignals[i], &action, &crash_plan().before[i]);
    }
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(on_death);
  }
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;
  /// Restores the signal handlers that the constructor replaced. Throws nothing.
  ~CrashGuard() {
    for (size_t i = 0; i < CrashPlan::kCount; ++i) {
      sigaction(CrashPlan::kSignals[i], &crash_plan().before[i], nullptr);
    }
    current_call().is_watched = false;
  }

 private:
  static void prepare() {
    CrashPlan& plan = crash_plan();
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    plan.process = getpid();
    plan.test = name_of(test);
    plan.crashes_size = 0;
    std::memset(plan.crashes, 0, sizeof(plan.crashes));
    plan.append(kCrashes);
    plan.append("=");
    if (const char* earlier = std::getenv(kCrashes)) plan.append(earlier);

    // The last process writes the report, so it runs all tests again except those that ended a
    // process, even if no other test is left.
    const bool has_report = !std::string(KERNKIT_GTEST_FLAG(output)).empty();
    bool is_last = true;
    const std::string remaining = filter_of_remaining(test, &is_last);
    const std::string filter = has_report ? std::string(KERNKIT_GTEST_FLAG(filter)) : remaining;
    const bool has_room = plan.crashes_size + kMostText < sizeof(plan.crashes);
    plan.can_continue = (has_report || !is_last) && has_room && filter.size() < 100000 &&
                        KERNKIT_GTEST_FLAG(repeat) == 1 && !KERNKIT_GTEST_FLAG(break_on_failure);
    plan.program = own_path();
    plan.texts.clear();
    for (const std::string& argument : own_arguments()) {
      if (argument.rfind("--gtest_filter", 0) != 0) plan.texts.push_back(argument);
    }
    plan.texts.push_back("--gtest_filter=" + filter);
    plan.arguments.clear();
    for (std::string& argument : plan.texts) plan.arguments.push_back(argument.data());
    plan.arguments.push_back(nullptr);
    plan.environment.clear();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const bool is_of_shards =
          text.rfind("GTEST_TOTAL_SHARDS=", 0) == 0 || text.rfind("GTEST_SHARD_INDEX=", 0) == 0;
      const bool is_left_out = text.rfind(std::string(kCrashes) + "=", 0) == 0 ||
                               // The filter of the remaining tests already excludes the tests of
                               // other shards.
                               (is_of_shards && !has_report);
      if (!is_left_out) plan.environment.push_back(*entry);
    }
    plan.environment.push_back(plan.crashes);
    plan.environment.push_back(nullptr);
  }

  // Returns the filter without the tests that ran and did not fail. The current test stays: it
  // reports its crash. Sets *is_last to false if another test remains.
  static std::string filter_of_remaining(const ::testing::TestInfo& current, bool* is_last) {
    std::string completed;
    const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
      const ::testing::TestSuite& suite = *all.GetTestSuite(s);
      std::string of_suite;
      bool is_done = true;
      for (int t = 0; t < suite.total_test_count(); ++t) {
        const ::testing::TestInfo& test = *suite.GetTestInfo(t);
        const bool is_rest = test.should_run() && (test.result()->start_timestamp() == 0 ||
                                                   test.result()->Failed() || &test == &current);
        if (is_rest && &test != &current) *is_last = false;
        if (is_rest) is_done = false;
        const bool is_left_out = !test.should_run() && !test.is_in_another_shard();
        if (!is_rest && !is_left_out) of_suite += ":" + name_of(test);
      }
      const bool is_whole = is_done && !of_suite.empty();
      completed += is_whole ? std::string(":") + suite.name() + ".*" : of_suite;
    }
    std::string filter = KERNKIT_GTEST_FLAG(filter);
    if (completed.empty()) return filter;
    if (filter.find('-') != std::string::npos) return filter.append(completed);
    return filter.append("-").append(completed, 1);
  }
  static const std::vector<std::string>& own_arguments() {
    static const std::vector<std::string> texts = [] {
      std::vector<std::string> all;
      std::ifstream file("/proc/self/cmdline");
      for (std::string argument; std::getline(file, argument, '\0');) all.push_back(argument);
      return all;
    }();
    return texts;
  }
  static const std::string& own_path() {
    static const std::string path = [] {
      char text[4096];
      const ssize_t size = readlink("/proc/self/exe", text, sizeof(text));
      return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
    }();
    return path;
  }
};

}  // namespace kernkit::testing::contract
