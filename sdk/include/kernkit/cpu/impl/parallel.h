// SPDX-License-Identifier: Apache-2.0
// A pool of threads that sleep between loops and are never joined.
#pragma once

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#if defined(__GLIBC__)
#include <link.h>
#endif

#include "kernkit/cpu/impl/processor_quota.h"
#include "kernkit/cpu/parallel.h"

namespace kernkit::cpu {

namespace detail {

inline constexpr int kDefaultThreads = 8;  // more threads seldom increase the memory throughput
inline constexpr int kMaxThreads = 256;

// The loop that the pool's threads run now. The Job is on the stack of the caller, which waits for
// the active helpers.
struct Job {
  Piece piece;
  const void* context;
  int64_t pieces;
  int64_t next;        // atomic
  fenv_t environment;  // the caller's rounding mode, and whether subnormal numbers are flushed
};

// The helper threads of a process. Never freed, since the threads never end. A forked process has
// no helper threads and creates its own pool.
struct Pool {
  pid_t process;
  int callers = 0;  // atomic: number of threads that run a loop; helpers join the first only
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;       // protects the members below
  pthread_cond_t job_added = PTHREAD_COND_INITIALIZER;     // signalled for a new job
  pthread_cond_t helpers_done = PTHREAD_COND_INITIALIZER;  // signalled when the last helper leaves
  Job* job = nullptr;
  int seats = 0, helping = 0;  // atomic: number of helpers that may still join, and at work
  int helpers = 0;  // number of helpers, including failed creations, which are not retried
};

KERNKIT_COLD int number_from(const char* variable) noexcept {
  const char* text = getenv(variable);
  const long number = text == nullptr ? 0 : strtol(text, nullptr, 10);
  return number < 1 ? 0 : number < kMaxThreads ? static_cast<int>(number) : kMaxThreads;
}

KERNKIT_COLD int default_threads() noexcept {
  int count = number_from("KERNKIT_THREADS");
  if (count == 0) count = number_from("OMP_NUM_THREADS");
  if (count != 0) return count;
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) count = CPU_COUNT(&allowed);
#else
  count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
#endif
  const int quota = processor_quota("");
  if (quota != 0 && quota < count) count = quota;
  return count < 1 ? 1 : count < kDefaultThreads ? count : kDefaultThreads;
}

KERNKIT_COLD int& chosen_threads() noexcept {
  static int chosen = default_threads();
  return chosen;
}

// Helpers sleep in this library's code, so the library must stay loaded, even if the library was
// linked without -z nodelete.
KERNKIT_COLD bool keep_library() noexcept {
#if defined(__GLIBC__)
  Dl_info info;
  link_map* map = nullptr;
  const auto address = reinterpret_cast<void*>(keep_library);
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return false;
  if (map->l_name[0] == '\0') return true;  // linked into the program, which is never unloaded
  return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
#else
  return true;  // musl never unloads a library
#endif
}

KERNKIT_COLD void work_on(Job& job, const Pool& pool, bool is_caller) noexcept {
  for (;;) {
    // Helpers return if another thread runs a loop as well, which needs the processors.
    if (!is_caller && __atomic_load_n(&pool.callers, __ATOMIC_RELAXED) > 1) return;
    const int64_t index = __atomic_fetch_add(&job.next, 1, __ATOMIC_RELAXED);
    if (index >= job.pieces) return;
    job.piece(job.context, index);
  }
}

// Unlocks the mutex, spins for at most about 100 us until `number` is 0 or, if `any` is true, not
// 0, and locks the mutex again. Spinning avoids the longer wake-up of a sleeping thread.
KERNKIT_COLD void stay_awake(Pool& pool, const int& number, bool any) noexcept {
  pthread_mutex_unlock(&pool.mutex);
  for (int i = 0; i < 4000 && (__atomic_load_n(&number, __ATOMIC_RELAXED) != 0) != any; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();  // not sched_yield(): another program may then run for milliseconds
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  pthread_mutex_lock(&pool.mutex);
}

KERNKIT_COLD void* help(void* pool_of_all) noexcept {
  Pool& pool = *static_cast<Pool*>(pool_of_all);
  pthread_mutex_lock(&pool.mutex);
  for (;;) {
    while (pool.seats == 0) pthread_cond_wait(&pool.job_added, &pool.mutex);
    Job& job = *pool.job;
    __atomic_fetch_sub(&pool.seats, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool.helping, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool.mutex);
    fesetenv(&job.environment);
    work_on(job, pool, false);
    pthread_mutex_lock(&pool.mutex);
    if (__atomic_sub_fetch(&pool.helping, 1, __ATOMIC_RELAXED) == 0)
      pthread_cond_signal(&pool.helpers_done);
    stay_awake(pool, pool.seats, true);
  }
}

// Creates helper threads until the pool has `num_helpers`. Requires that the caller holds the
// pool's mutex.
KERNKIT_COLD void make_helpers(Pool& pool, int num_helpers) noexcept {
  if (pool.helpers >= num_helpers) return;
  if (!keep_library()) pool.helpers = kMaxThreads;
  // Blocks asynchronous signals in helpers, so that the program's own threads handle these signals.
  // Synchronous signals stay unblocked: a blocked synchronous signal would end the process without
  // a call of the program's or a sanitizer's handler.
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&blocked, fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  for (; pool.helpers < num_helpers; ++pool.helpers) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, help, &pool) == 0) pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Returns the pool of this process, which the first call creates; null if memory is exhausted.
KERNKIT_COLD Pool* this_process_pool() noexcept {
  static Pool* shared = nullptr;
  const pid_t process = getpid();
  Pool* pool = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
  if (pool != nullptr && pool->process == process) return pool;
  Pool* created = new (std::nothrow) Pool{process};
  if (created == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(&shared, &pool, created, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return created;
  }
  delete created;
  return pool;
}

KERNKIT_COLD bool in_openmp_region() noexcept {
  const auto in_parallel = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  return in_parallel != nullptr && in_parallel() != 0;
}

KERNKIT_COLD void run_alone(int64_t pieces, Piece piece, const void* context) noexcept {
  for (int64_t i = 0; i < pieces; ++i) piece(context, i);
}

KERNKIT_COLD void run_pieces(int threads, int64_t pieces, Piece piece,
                             const void* context) noexcept {
  if (threads > pieces) threads = static_cast<int>(pieces);
  Pool* pool = threads <= 1 || in_openmp_region() ? nullptr : this_process_pool();
  if (pool == nullptr) return run_alone(pieces, piece, context);
  if (__atomic_fetch_add(&pool->callers, 1, __ATOMIC_ACQUIRE) == 0) {
    Job job{piece, context, pieces, 0, {}};
    fegetenv(&job.environment);
    pthread_mutex_lock(&pool->mutex);
    make_helpers(*pool, threads - 1);
    pool->job = &job;
    __atomic_store_n(&pool->seats, threads - 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 1; i < threads; ++i) pthread_cond_signal(&pool->job_added);
    work_on(job, *pool, true);
    pthread_mutex_lock(&pool->mutex);
    __atomic_store_n(&pool->seats, 0, __ATOMIC_RELAXED);  // no helper may join the job any more
    stay_awake(*pool, pool->helping, false);
    while (pool->helping != 0) pthread_cond_wait(&pool->helpers_done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
  } else {
    run_alone(pieces, piece, context);
  }
  __atomic_fetch_sub(&pool->callers, 1, __ATOMIC_RELEASE);
}

KERNKIT_COLD size_t piece_bytes(size_t all, size_t least) noexcept {
  constexpr size_t kTurns = 16, kMost = size_t{4} << 20;
  const size_t share = all / (static_cast<size_t>(threads()) * kTurns);
  return share < least ? least : share < kMost ? share : kMost;
}

static_assert(sizeof(std::exception_ptr) == sizeof(void*));

// run_pieces() synchronises with the helpers before it returns, so rethrow() in the caller reads
// the stored exception.
KERNKIT_COLD void PieceFailure::keep_current() noexcept {
  if (__atomic_exchange_n(&occurred_, true, __ATOMIC_RELAXED)) return;
  new (&exception_) std::exception_ptr(std::current_exception());
}

KERNKIT_COLD void PieceFailure::rethrow() {
  auto* stored = reinterpret_cast<std::exception_ptr*>(&exception_);
  const std::exception_ptr exception = std::move(*stored);
  stored->~exception_ptr();
  std::rethrow_exception(exception);
}

}  // namespace detail

KERNKIT_COLD int threads() noexcept {
  return __atomic_load_n(&detail::chosen_threads(), __ATOMIC_RELAXED);
}

KERNKIT_COLD void set_threads(int count) {
  KERNKIT_CHECK(count >= 1, ValueError)
      << "set_threads: count is " << count << ", which is below 1";
  __atomic_store_n(&detail::chosen_threads(),
                   count < detail::kMaxThreads ? count : detail::kMaxThreads, __ATOMIC_RELAXED);
}

}  // namespace kernkit::cpu
