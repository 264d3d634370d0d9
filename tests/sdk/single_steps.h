// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of a call: a child process makes it, step by step.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace kernkit {

/// Instructions of call(), together with those of the child's beginning and end, which are the same
/// for each call; -1 where no process may trace another.
template <class Call>
int64_t single_steps(const Call& call) {
  (void)syscall(SYS_getpid);  // so that the child need not find syscall()
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    call();
    syscall(SYS_exit_group, 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
  int64_t steps = 0;
  while (!WIFEXITED(status)) {
    const bool stepped = ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0;
    if (!stepped || waitpid(child, &status, 0) != child || WIFSIGNALED(status)) return -1;
    ++steps;
  }
  return WEXITSTATUS(status) == 0 ? steps : -1;
}

}  // namespace kernkit
