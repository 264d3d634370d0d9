// SPDX-License-Identifier: Apache-2.0
#include "runtime/forked_process.h"

#include <pthread.h>

#include <new>
#include <string>
#include <utility>

#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

bool is_forked = false, is_reported = false;

// The thread that calls fork() holds the mutex during the call. Otherwise the child could inherit a
// state that another thread was changing, and a locked mutex that no thread of the child releases.
void begin_fork() { state().mutex.lock(); }
void end_fork() { state().mutex.unlock(); }

void begin_child() {
  new (&state().mutex) std::recursive_mutex;  // the owner of the old mutex is the parent's thread
  is_forked = is_forked || state().driver_started;
}

}  // namespace

void detect_forks() { (void)pthread_atfork(begin_fork, end_fork, begin_child); }

bool is_forked_process() { return is_forked; }

cudaError_t reject_forked_process() {
  if (!is_forked) return cudaSuccess;
  if (!std::exchange(is_reported, true)) {
    note_fault(std::string(thread_state().function) +
               "(): fork() created this process after its parent had called CUDA; create the "
               "process before, or start a new program, as multiprocessing of Python does with "
               "\"spawn\"");
  }
  return cudaErrorInitializationError;
}

}  // namespace kernkit::simulator
