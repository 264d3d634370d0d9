// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cpu/parallel.h"

#include <dlfcn.h>
#include <fenv.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernkit/testing/tensor.h"

// Replaces omp_in_parallel() of OpenMP, by which the loops recognise a parallel region of the
// caller.
static std::atomic<int> in_region{0};
extern "C" int omp_in_parallel() { return in_region; }

namespace kernkit::cpu {
namespace {

class CpuParallel : public ::testing::Test {
 protected:
  void SetUp() override { set_threads(4); }
  void TearDown() override {
    in_region = 0;
    unsetenv("KERNKIT_THREADS");
    unsetenv("OMP_NUM_THREADS");
  }
};

// Waits for a condition set by another thread; gives up after ten seconds.
template <class Condition>
bool becomes_true(const Condition& condition) {
  for (int ms = 0; ms < 10000; ++ms) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

// Calls `function` on the caller's thread and on a helper at the same time. Returns false if no
// helper started.
template <class Function>
bool on_helper(const Function& function) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  parallel_for(2, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() == caller) {
      becomes_true([&] { return helped.load(); });
    } else {
      function();
      helped = true;
    }
  });
  return helped;
}

bool all_on_caller() {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  parallel_for(100, 1, [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    elsewhere += std::this_thread::get_id() != caller;
  });
  return elsewhere == 0;
}

// Runs a loop of 1,000 pieces, in which pieces from index `failing` on throw. Counts the pieces
// that ran, and returns the text of the exception that parallel_for() throws.
std::string failure_of_loop(int64_t failing, std::atomic<int>* pieces) {
  try {
    parallel_for(1000, 1, [&](int64_t begin, int64_t) {
      ++*pieces;
      KERNKIT_CHECK(begin < failing, ValueError) << "index " << begin << " is too large";
    });
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

TEST_F(CpuParallel, AnExceptionReachesTheCaller) {
  for (const int count : {1, 4}) {
    set_threads(count);
    std::atomic<int> pieces{0};
    EXPECT_NE(failure_of_loop(0, &pieces).find("is too large"), std::string::npos);
    EXPECT_LE(pieces, count);  // pieces that have not started are skipped after the exception
    pieces = 0;
    EXPECT_EQ(failure_of_loop(1000, &pieces), "no exception");
    EXPECT_EQ(pieces, 1000);
  }
}

TEST_F(CpuParallel, AnExceptionOfAHelperReachesTheCaller) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  try {
    parallel_for(2, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() == caller) {
        becomes_true([&] { return helped.load(); });
      } else {
        helped = true;
        throw std::runtime_error("on a helper");
      }
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "on a helper");
  }
  EXPECT_TRUE(on_helper([] {}));  // the pool works after an exception
}

TEST_F(CpuParallel, EveryIndexOnce) {
  for (const int64_t n : {0, 1, 6, 7, 8, 1000}) {
    std::vector<int> times(static_cast<size_t>(n));
    for (int round = 0; round < 100; ++round) {
      parallel_for(n, 7, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++times[static_cast<size_t>(i)];
      });
    }
    EXPECT_EQ(times, std::vector<int>(static_cast<size_t>(n), 100));
  }
}

// All pieces of a loop run, whether helpers are awake, falling asleep or asleep when the loop
// starts.
TEST_F(CpuParallel, LoopsBackToBack) {
  for (int round = 0; round < 500; ++round) {
    std::atomic<int64_t> sum{0};
    parallel_for(8, 1, [&](int64_t begin, int64_t) { sum += begin; });
    ASSERT_EQ(sum, 28) << round;
    std::this_thread::sleep_for(std::chrono::microseconds(round % 2 == 0 ? 0 : round / 4));
  }
}

TEST_F(CpuParallel, GrainOfAnySize) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t grain : {kMost, kMost - 5, kMost / 2, int64_t{10}}) {
    std::atomic<int> calls{0};
    parallel_for(10, grain, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, 10);
      ++calls;
    });
    EXPECT_EQ(calls, 1) << grain;
  }
  for (const int64_t grain : {int64_t{1}, int64_t{0}, int64_t{-1}, kLeast}) {
    std::atomic<int> calls{0};
    parallel_for(10, grain, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(end, begin + 1);
      ++calls;
    });
    EXPECT_EQ(calls, 10) << grain;
  }
  std::atomic<int64_t> sum{0};  // sum over two pieces, the second of which ends at INT64_MAX
  parallel_for(kMost, kMost / 2 + 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, kMost);
}

TEST_F(CpuParallel, NothingToDo) {
  for (const int64_t n : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    for (const int64_t grain : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 62}) {
      parallel_for(n, grain, [&](int64_t, int64_t) { ADD_FAILURE() << n << ", " << grain; });
    }
  }
}

TEST_F(CpuParallel, OtherThreadsHelp) {
  EXPECT_TRUE(on_helper([] {}));
}

TEST_F(CpuParallel, OneThreadIsTheCallers) {
  set_threads(1);
  EXPECT_TRUE(all_on_caller());
}

TEST_F(CpuParallel, NotInARegionOfOpenMP) {
  in_region = 1;
  EXPECT_TRUE(all_on_caller());
}

TEST_F(CpuParallel, NotInsideItself) {
  std::atomic<int> elsewhere{0};
  parallel_for(4, 1, [&](int64_t, int64_t) { elsewhere += !all_on_caller(); });
  EXPECT_EQ(elsewhere, 0);
}

// A helper takes no further piece after another thread has entered a loop. All pieces of the second
// loop run on the thread of its caller.
TEST_F(CpuParallel, MakesRoomForASecondCaller) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> second_started{false}, first_done{false};
  std::thread second;
  parallel_for(100, 1, [&](int64_t index, int64_t) {
    if (index == 0) {
      second = std::thread([&] {
        parallel_for(2, 1, [&, me = std::this_thread::get_id()](int64_t, int64_t) {
          EXPECT_EQ(std::this_thread::get_id(), me);
          second_started = true;
          becomes_true([&] { return first_done.load(); });
        });
      });
    }
    becomes_true([&] { return second_started.load(); });
    if (std::this_thread::get_id() != caller) {
      EXPECT_LT(index, 4);  // helpers run only pieces that started before the second loop
    }
  });
  first_done = true;
  second.join();
}

TEST_F(CpuParallel, HelpersHaveTheCallersFloatEnvironment) {
  const int before = fegetround();
  for (const int mode : {FE_UPWARD, FE_TONEAREST}) {
    fesetround(mode);
    int helper_mode = -1;
    EXPECT_TRUE(on_helper([&] { helper_mode = fegetround(); }));
    EXPECT_EQ(helper_mode, mode);
  }
  fesetround(before);
}

TEST_F(CpuParallel, HelpersTakeNoSignals) {
  sigset_t blocked, callers;
  sigemptyset(&blocked);
  EXPECT_TRUE(on_helper([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }));
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  pthread_sigmask(SIG_SETMASK, nullptr, &callers);
  EXPECT_EQ(sigismember(&callers, SIGINT), 0);
}

// A signal raised by an instruction of a helper reaches the handler of the program or of a
// sanitizer.
TEST_F(CpuParallel, HelpersFaultsReachTheHandler) {
  sigset_t blocked;
  sigemptyset(&blocked);
  EXPECT_TRUE(on_helper([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }));
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    EXPECT_EQ(sigismember(&blocked, fault), 0) << strsignal(fault);
  }
#if defined(KERNKIT_UNDER_QEMU)
  GTEST_SKIP() << "qemu-user aborts if a forked child starts a thread";
#endif
#if defined(__aarch64__)
  const int trap = SIGTRAP;
#else
  const int trap = SIGILL;
#endif
  for (const int fault : {SIGSEGV, trap}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(fault, [](int) { _exit(7); });
      void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      on_helper([&] {
        if (fault == SIGSEGV) *static_cast<volatile char*>(page) = 1;
        __builtin_trap();
      });
      _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << strsignal(fault);
  }
}

TEST_F(CpuParallel, AfterFork) {
#if defined(KERNKIT_UNDER_QEMU)
  GTEST_SKIP() << "qemu-user aborts if a forked child starts a thread";
#endif
  EXPECT_TRUE(on_helper([] {}));
  const pid_t child = fork();
  if (child == 0) _exit(on_helper([] {}) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(CpuParallel, CountFromTheEnvironment) {
  setenv("OMP_NUM_THREADS", "3,2", 1);
  EXPECT_EQ(detail::default_threads(), 3);
  setenv("KERNKIT_THREADS", "1", 1);
  EXPECT_EQ(detail::default_threads(), 1);
  setenv("KERNKIT_THREADS", "many", 1);
  EXPECT_EQ(detail::default_threads(), 3);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_GE(detail::default_threads(), 1);
  EXPECT_LE(detail::default_threads(), 8);
}

// Pieces are large enough that the overhead of each piece is small, and small enough that each
// thread gets several pieces. Their size is between 256 KiB and 4 MiB.
TEST_F(CpuParallel, PieceBytes) {
  const size_t kib = 1024, mib = 1024 * kib;
  const auto piece = [&](int count, size_t bytes) {
    set_threads(count);
    return detail::piece_bytes(bytes, 256 * kib);
  };
  EXPECT_EQ(piece(2, 4 * mib), 256 * kib);
  EXPECT_EQ(piece(2, 64 * mib), 2 * mib);
  EXPECT_EQ(piece(8, 64 * mib), 512 * kib);
  EXPECT_EQ(piece(2, 1024 * mib), 4 * mib);
  EXPECT_EQ(piece(256, 1024 * mib), 256 * kib);
}

#if defined(__linux__)
// default_threads() returns at most the number of processors that the process may use, here one in
// a child process.
TEST_F(CpuParallel, CountOfTheProcessorsThatTheProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const int quota = detail::processor_quota("");
  const int most = quota == 0 ? 8 : std::min(quota, 8);
  EXPECT_EQ(detail::default_threads(), std::min(CPU_COUNT(&before), most));
  cpu_set_t processors;
  CPU_ZERO(&processors);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &processors);
  const pid_t child = fork();
  if (child == 0) {
    sched_setaffinity(0, sizeof(processors), &processors);
    _exit(detail::default_threads());
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}
#endif

TEST_F(CpuParallel, CountBelowOne) {
  EXPECT_EQ(testing::error_of([] { set_threads(0); }),
            "ValueError: set_threads: count is 0, which is below 1");
  EXPECT_EQ(threads(), 4);
}

// dlclose() does not unload the library, because helpers sleep in its code.
TEST_F(CpuParallel, LibraryStaysLoaded) {
  void* library = dlopen(KERNKIT_PARALLEL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  reinterpret_cast<void (*)()>(dlsym(library, "sleep_on_threads"))();
  dlclose(library);
  EXPECT_NE(dlopen(KERNKIT_PARALLEL_LIBRARY, RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace kernkit::cpu
