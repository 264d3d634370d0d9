// SPDX-License-Identifier: Apache-2.0
// The rules of an op's CUDA implementation on a GPU, which use public functions of CUDA only. A
// rule creates its own CudaTarget: no other CudaTarget may exist during the call of the rule.
#pragma once

#include "kernkit/testing/contract/cuda_launch_rules.h"
#include "kernkit/testing/contract/example_json.h"
#include "kernkit/testing/hold.h"

namespace kernkit::testing::contract::gpu {

/// Rule RunsOnCuda: checks that the CUDA implementation accepts the example without a fault. Adds
/// the call, and its violation if there is one, to *verdict; adds nothing for an op with
/// cpu_only(). Throws the errors of Call::run() and of CudaTarget.
inline void runs_on_cuda(const Contract& contract, Verdict* verdict) {
  if (!contract.runs_on_cuda()) return;
  CudaTarget target;
  const Outcome outcome = Call(contract, target).run();
  verdict->add(outcome.accepted ? ""
                                : begin_of(contract, target) + outcome.text() +
                                      "; expected that it runs. An op without CUDA implementation "
                                      "declares kernkit::testing::cpu_only()");
}

/// Runs `*call`, whose target is `*target`, as Call::run() does, and returns the outcome; waits for
/// all work of the current device before and after the op. Throws RuntimeError if CUDA fails, and
/// the errors of Call::run().
inline Outcome run_settled(Call* call, CudaTarget* target) {
  call->prepare();
  KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
  target->enter();
  Outcome outcome = call->invoke();
  target->leave();
  KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
  call->collect(&outcome);
  return outcome;
}

/// Rule CallersStream: calls the op while the caller's stream is held (Hold) before an upload of
/// new inputs, and checks that the op returns before the stream continues, and that the results
/// equal the results of a call after the upload. The results differ if the op's work does not
/// follow the upload in the stream. Adds both observations, and their violations if there are any,
/// to *verdict. Does nothing unless accepts_cuda(). Throws RuntimeError if CUDA fails, and the
/// errors of Call::run().
inline void callers_stream(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaTarget target;
  Call call(contract, target);
  (void)run_settled(&call, &target);  // loads the kernels
  call.prepare();
  KERNKIT_CUDA_CHECK(cudaStreamSynchronize(target.stream()));
  Outcome outcome;
  cudaError_t meanwhile = cudaSuccess;
  {
    const Hold hold(target.stream());
    call.renew(1);
    target.enter();
    outcome = call.invoke();
    target.leave();
    meanwhile = cudaStreamQuery(target.stream());
    (void)cudaGetLastError();              // clears "not ready"
    (void)cudaStreamSynchronize(nullptr);  // waits for an op that used the default stream
  }
  call.collect(&outcome);
  const std::string begin = begin_of(contract, target) + "while its stream is delayed: ";
  verdict->add(meanwhile == cudaErrorNotReady
                   ? ""
                   : begin + "it waited; expected that it enqueues its work and returns");
  Call plain = Call::plain(call, target);
  if (!outcome.accepted || !run_settled(&plain, &target).accepted) return;
  const std::string differs = first_difference(call, plain);
  verdict->add(differs.empty() ? "" : begin + differs + "; expected work in the caller's stream");
}

/// Returns the rules of an op's CUDA implementation on a GPU, in the order of their tests. Throws
/// only std::bad_alloc.
inline std::vector<Rule> rules() {
  return {
      {"RunsOnCuda", "the CUDA implementation accepts the example", nullptr, runs_on_cuda},
      {"CallersStream", "work goes to the caller's stream", nullptr, callers_stream},
      {"Capture", "a call can be captured into a graph, and replayed", nullptr, is_captured},
      {"Note", "the example is appended to the file KERNKIT_EXAMPLES", nullptr, note_example},
  };
}

}  // namespace kernkit::testing::contract::gpu
