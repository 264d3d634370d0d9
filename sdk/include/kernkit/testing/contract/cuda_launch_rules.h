// SPDX-License-Identifier: Apache-2.0
// Rules on the work that a CUDA implementation enqueues: graphs, failures, uninitialised memory. On
// a GPU, only the rule on graphs is tried. A rule creates its own CudaTargets: no other CudaTarget
// may exist during the call of the rule.
#pragma once

#include "kernkit/testing/contract/cuda_target.h"
#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// Returns the beginning of a violation, the op and the target: "scale() on cuda:1: ", "scale(): "
/// for the CPU. Throws only std::bad_alloc.
inline std::string begin_of(const Contract& contract, const Target& target) {
  return contract.callee().name() + "()" + target.suffix() + ": ";
}

/// Runs the example on cuda:0 and returns whether the op accepts it; returns false without a call
/// for an op with cpu_only(). Rule RunsOnCuda reports a rejection. Throws the errors of Call::run()
/// and of CudaTarget.
inline bool accepts_cuda(const Contract& contract) {
  if (!contract.runs_on_cuda()) return false;
  CudaTarget target;
  return Call(contract, target).run().accepted;
}

/// Rule Capture: checks that a call can be captured into a graph and writes nothing before the
/// graph runs, and that the graph, run twice with other inputs, gives the results of a call. Adds
/// the capture and each run of the graph, and their violations if there are any, to *verdict.
/// Does nothing unless accepts_cuda(). Throws RuntimeError if CUDA fails, and the errors of
/// Call::run().
inline void is_captured(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaTarget target;
  Call call(contract, target);
  call.prepare();
  const std::string begin = begin_of(contract, target) + "while its stream is captured, ";
  KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(target.stream(), cudaStreamCaptureModeGlobal));
  target.enter();
  Outcome outcome = call.invoke();
  target.leave();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(target.stream(), &graph);
  if (!outcome.accepted || ended != cudaSuccess) {
    (void)cudaGetLastError();
    verdict->add(begin + (outcome.accepted ? "it invalidated the capture" : outcome.text()) +
                 "; expected a graph");
    return;
  }
  call.collect(&outcome);
  const std::string written = call.any_write();
  verdict->add(written.empty() ? ""
                               : begin + written + " was written; expected nothing before replay");
  cudaGraphExec_t replay = nullptr;
  KERNKIT_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  for (unsigned round = 1; round <= 2; ++round) {
    call.renew(round);
    KERNKIT_CUDA_CHECK(cudaGraphLaunch(replay, target.stream()));
    call.collect(&outcome);
    Call plain = Call::plain(call, target);
    if (!plain.run().accepted) continue;
    const std::string differs = first_difference(call, plain);
    verdict->add(differs.empty() ? ""
                                 : begin_of(contract, target) + "replayed with other inputs: " +
                                       differs + "; expected what a call with them gives");
  }
  (void)cudaGraphExecDestroy(replay);
  (void)cudaGraphDestroy(graph);
}

#if !defined(KERNKIT_ON_GPU)
/// Runs `*call`, then calls the op again and returns the calls of the simulator's runtime that the
/// op makes in this second call, in order. `*target` is the target of `*call`. Deletes the earlier
/// records of the runtime. Throws the errors of Call::run().
inline std::vector<simulator::CudaCall> calls_of(Call* call, CudaTarget* target) {
  (void)call->run();
  call->prepare();
  target->enter();
  target->runtime.clear();
  (void)call->invoke();
  std::vector<simulator::CudaCall> calls = target->runtime.calls();
  target->leave();
  return calls;
}

/// Rule FailedLaunch: for each call of a runtime function whose name begins with cudaLaunch or
/// cudaMem (launches, copies, fills) that the op makes, calls the op with this call failing, and
/// checks that the op raises a RuntimeError that names the CUDA error. Adds each call of the op,
/// and its violation if there is one, to *verdict, except failures without an error in the host.
/// Does nothing unless accepts_cuda(). Throws the errors of Call::run().
inline void reports_what_fails(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  std::vector<simulator::CudaCall> calls;
  {
    CudaTarget target;
    Call call(contract, target);
    calls = calls_of(&call, &target);
  }
  for (size_t k = 0; k < calls.size(); ++k) {
    const std::string& function = calls[k].function;
    const bool works = function.rfind("cudaLaunch", 0) == 0 || function.rfind("cudaMem", 0) == 0;
    if (!works) continue;
    CudaTarget target;
    Call call(contract, target);
    call.prepare();
    target.enter();
    target.runtime.fail("", static_cast<int>(k) + 1, cudaErrorMemoryAllocation);
    const Outcome outcome = call.invoke();
    target.leave();
    (void)cudaGetLastError();
    const bool is_named = outcome.kind == kind::RuntimeError &&
                          outcome.message.find("cudaErrorMemoryAllocation") != std::string::npos;
    if (!outcome.accepted && outcome.kind.empty()) continue;  // rule CBoundary reports this failure
    verdict->add(is_named
                     ? ""
                     : begin_of(contract, target) + function + " failed, and " + outcome.text() +
                           "; expected a RuntimeError that names cudaErrorMemoryAllocation");
  }
}

/// Rule EarlierErrors: checks that the op accepts its example after a failed call of the runtime,
/// and that cudaGetLastError() then still returns the error of that call. Adds both observations,
/// and their violations if there are any, to *verdict. Does nothing unless accepts_cuda(). Throws
/// the errors of Call::run().
inline void leaves_earlier_errors(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaTarget target;
  Call call(contract, target);
  call.prepare();
  target.enter();
  target.runtime.plant(simulator::CudaFault::kPending, cudaErrorInvalidConfiguration);
  const Outcome outcome = call.invoke();
  target.leave();
  const bool is_preserved = cudaGetLastError() == cudaErrorInvalidConfiguration;
  const std::string begin =
      begin_of(contract, target) + "after an earlier call of the runtime failed, ";
  verdict->add(outcome.accepted ? "" : begin + outcome.text() + "; expected that it runs");
  verdict->add(
      is_preserved
          ? ""
          : begin + "it cleared that error; expected that cudaGetLastError() still returns it");
}

/// Rule Uninitialised: runs the example three times, with the bytes 0x00, 0xff and 0xa5 in
/// uninitialised memory (CudaRuntime::set_poison()), and compares the results by difference(). Adds
/// each result of each call, and its violation if there is one, to *verdict. Does nothing
/// unless accepts_cuda(). Throws the errors of Call::run().
inline void reads_what_was_written(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  std::vector<Call::Result> first;
  for (const int poison : {0x00, 0xff, 0xa5}) {
    CudaTarget target;
    target.runtime.set_poison(static_cast<unsigned char>(poison));
    Call call(contract, target);
    if (!call.run().accepted) return;
    if (first.empty()) first = call.results();
    for (size_t k = 0; k < first.size(); ++k) {
      const std::string differs = difference(call.results()[k].elements, first[k].elements);
      verdict->add(differs.empty() ? ""
                                   : begin_of(contract, target) + first[k].name + ": " + differs +
                                         " when uninitialised memory holds other bytes; "
                                         "expected a result that does not depend on them");
    }
  }
}

#endif
}  // namespace kernkit::testing::contract
