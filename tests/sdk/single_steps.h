// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of a call, single-stepped in a child process.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace kernkit {

/// Returns the number of instructions that a child process executes for call(), plus a constant
/// number for the start and the end of the child; -1 if the child cannot be traced or fails.
template <class Call>
int64_t single_steps(const Call& call) {
  (void)syscall(SYS_getpid);  // resolves the symbol syscall before fork()
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
