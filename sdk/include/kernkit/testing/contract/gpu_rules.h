// SPDX-License-Identifier: Apache-2.0
// The rules of an op's CUDA implementation on a GPU, which need no look into the runtime.
#pragma once

#include "kernkit/testing/contract/cuda_launch_rules.h"
#include "kernkit/testing/contract/example_json.h"
#include "kernkit/testing/hold.h"

namespace kernkit::testing::contract::gpu {

/// Rule RunsOnCuda: checks that the CUDA implementation accepts the example. Adds each call, and
/// its violation if there is one, to *verdict. Throws RuntimeError if CUDA fails.
inline void runs_on_cuda(const Contract& contract, Verdict* verdict) {
  if (!contract.runs_on_cuda()) return;
  CudaTarget target;
  const Outcome outcome = Call(contract, target).run();
  verdict->add(outcome.accepted ? ""
                                : begin_of(contract, target) + outcome.text() +
                                      "; expected that it runs. An op without CUDA implementation "
                                      "declares kernkit::testing::cpu_only()");
}

/// Calls after the inputs are uploaded, waits for all work of the device, and returns the outcome.
/// Throws RuntimeError if CUDA fails.
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

/// Rule CallersStream: uploads new inputs after a hold on the stream. If the op does not wait for
/// them, or its work is not ordered before the copy of the results, the results differ. Checks also
/// that the call does not wait. Adds each call, and its violation if there is one, to *verdict.
/// Throws RuntimeError if CUDA fails.
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
    (void)cudaStreamSynchronize(nullptr);  // waits for work that went to the default stream instead
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

/// Returns the rules of an op's CUDA implementation on a GPU. Throws only std::bad_alloc.
inline std::vector<Rule> rules() {
  return {
      {"RunsOnCuda", "the CUDA implementation accepts the example", nullptr, runs_on_cuda},
      {"CallersStream", "work goes to the caller's stream", nullptr, callers_stream},
      {"Capture", "a call can be captured into a graph, and replayed", nullptr, is_captured},
      {"Note", "the example is appended to the file KERNKIT_EXAMPLES", nullptr, note_example},
  };
}

}  // namespace kernkit::testing::contract::gpu
