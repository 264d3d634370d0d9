// SPDX-License-Identifier: Apache-2.0
// Rules about what a CUDA half enqueues: failures, uninitialised memory.
#pragma once

#include "kernkit/testing/contract/cuda_capture_rule.h"

namespace kernkit::testing::contract {

/// The calls of the runtime that one call of the op makes, not the first one.
inline std::vector<cuda_on_cpu::CudaCall> calls_of(Call* call, CudaPlace* place) {
  (void)call->run();
  call->prepare();
  place->enter();
  place->runtime.clear();
  (void)call->invoke();
  std::vector<cuda_on_cpu::CudaCall> calls = place->runtime.calls();
  place->leave();
  return calls;
}

inline void reports_what_fails(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  std::vector<cuda_on_cpu::CudaCall> calls;
  {
    CudaPlace place;
    Call call(contract, place);
    calls = calls_of(&call, &place);
  }
  for (size_t k = 0; k < calls.size(); ++k) {
    const std::string& function = calls[k].function;
    const bool works = function.rfind("cudaLaunch", 0) == 0 || function.rfind("cudaMem", 0) == 0;
    if (!works) continue;
    CudaPlace place;
    Call call(contract, place);
    call.prepare();
    place.enter();
    place.runtime.fail("", static_cast<int>(k) + 1, cudaErrorMemoryAllocation);
    const Outcome outcome = call.invoke();
    place.leave();
    (void)cudaGetLastError();
    const bool told = outcome.kind == kind::RuntimeError &&
                      outcome.message.find("cudaErrorMemoryAllocation") != std::string::npos;
    if (!outcome.accepted && outcome.kind.empty()) continue;  // rule CBoundary says so
    verdict->add(told ? ""
                      : begin_of(contract, place) + function + " failed, and " + outcome.text() +
                            "; expected a RuntimeError that says cudaErrorMemoryAllocation");
  }
}

inline void leaves_earlier_errors(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaPlace place;
  Call call(contract, place);
  call.prepare();
  place.enter();
  place.runtime.plant(cuda_on_cpu::CudaFault::kPending, cudaErrorInvalidConfiguration);
  const Outcome outcome = call.invoke();
  place.leave();
  const bool kept = cudaGetLastError() == cudaErrorInvalidConfiguration;
  const std::string begin =
      begin_of(contract, place) + "after an earlier call of the runtime failed, ";
  verdict->add(outcome.accepted ? "" : begin + outcome.text() + "; expected that it runs");
  verdict->add(
      kept ? ""
           : begin + "it cleared that error; expected that cudaGetLastError() still returns it");
}

inline void reads_what_was_written(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  std::vector<Call::Given> first;
  for (const int poison : {0x00, 0xff, 0xa5}) {
    CudaPlace place;
    place.runtime.set_poison(static_cast<unsigned char>(poison));
    Call call(contract, place);
    if (!call.run().accepted) return;
    if (first.empty()) first = call.given();
    for (size_t k = 0; k < first.size(); ++k) {
      const std::string differs = difference(call.given()[k].elements, first[k].elements);
      verdict->add(differs.empty()
                       ? ""
                       : begin_of(contract, place) + "of " + first[k].name + ", " + differs +
                             " when uninitialised memory holds other bytes; "
                             "expected a result that does not depend on them");
    }
  }
}

}  // namespace kernkit::testing::contract
