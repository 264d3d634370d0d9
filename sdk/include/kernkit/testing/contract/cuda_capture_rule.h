// SPDX-License-Identifier: Apache-2.0
// The rule of graphs, on a GPU as with CUDA on the CPU.
#pragma once

#include "kernkit/testing/contract/cuda_place.h"
#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// "scale() on cuda:1: "
inline std::string begin_of(const Contract& contract, const Place& place) {
  return contract.callee().name() + "()" + place.suffix() + ": ";
}

/// Whether the op runs its example on a device; it is rule RunsOnCuda that says so when it does
/// not.
inline bool accepts_cuda(const Contract& contract) {
  if (!contract.runs_on_cuda()) return false;
  CudaPlace place;
  return Call(contract, place).run().accepted;
}

inline void is_captured(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaPlace place;
  Call call(contract, place);
  call.prepare();
  const std::string begin = begin_of(contract, place) + "while its stream is captured, ";
  KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(place.stream(), cudaStreamCaptureModeGlobal));
  place.enter();
  Outcome outcome = call.invoke();
  place.leave();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(place.stream(), &graph);
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
    KERNKIT_CUDA_CHECK(cudaGraphLaunch(replay, place.stream()));
    call.collect(&outcome);
    Call plain = Call::plain(call, place);
    if (!plain.run().accepted) continue;
    const std::string differs = first_difference(call, plain);
    verdict->add(differs.empty() ? ""
                                 : begin_of(contract, place) + "replayed with other inputs, " +
                                       differs + "; expected what a call with them gives");
  }
  (void)cudaGraphExecDestroy(replay);
  (void)cudaGraphDestroy(graph);
}

}  // namespace kernkit::testing::contract
