// SPDX-License-Identifier: Apache-2.0
// The rules of an op's CUDA implementation in the simulator; cuda_launch_rules.h contains further
// rules. A rule creates its own CudaTargets: no other CudaTarget may exist during the call of the
// rule.
#pragma once

#include "kernkit/testing/contract/cuda_launch_rules.h"
#include "kernkit/testing/contract/memory_rules.h"

namespace kernkit::testing::contract {

/// Rule RunsOnCuda: checks that the CUDA implementation accepts the example and, except with
/// cuda_only(), gives the results of the CPU implementation (difference()). Adds the call, and its
/// violation if there is one, to *verdict; adds nothing for an op with cpu_only(), or if the CPU
/// implementation rejects the example. Throws the errors of Call::run() and of CudaTarget.
inline void runs_on_cuda(const Contract& contract, Verdict* verdict) {
  if (!contract.runs_on_cuda()) return;
  CudaTarget target;
  Call call(contract, target);
  const Outcome outcome = call.run();
  const std::string begin = begin_of(contract, target);
  if (!outcome.accepted) {
    verdict->add(begin + outcome.text() +
                 "; expected that it runs. An op without CUDA implementation "
                 "declares kernkit::testing::cpu_only()");
    return;
  }
  if (!contract.runs_on_cpu()) return verdict->add("");
  Target cpu;
  Call on_cpu = Call::plain(call, cpu);
  if (!on_cpu.run().accepted) return;
  const std::string differs = first_difference(call, on_cpu);
  verdict->add(differs.empty() ? "" : begin + differs + "; expected what the CPU gives");
}

/// Rule CallersStream: runs the example with the seeds 0 to 12 (every seed except 0 delays
/// streams). Checks that no kernel is launched on a default stream, and that the results equal the
/// results of a second run with dense and aligned tensors. Adds each launch and each comparison,
/// with its violation if there is one, to *verdict; stops after the launches of a seed if *verdict
/// has violations. Does nothing unless accepts_cuda(). Throws the errors of Call::run().
inline void callers_stream(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  for (unsigned seed = 0; seed <= 12; ++seed) {
    CudaTarget target(0, seed);
    Call call(contract, target);
    const Outcome outcome = call.run();
    const std::string begin = begin_of(contract, target);
    for (const simulator::CudaLaunch& launch : target.runtime.launches()) {
      const bool is_default = launch.stream == nullptr || launch.stream == cudaStreamLegacy ||
                              launch.stream == cudaStreamPerThread;
      verdict->add(is_default ? begin + "it launched " + launch.kernel +
                                    " on the default stream; expected the caller's"
                              : "");
    }
    if (!verdict->violations.empty()) return;
    Call plain = Call::plain(call, target);
    if (!outcome.accepted || !plain.run().accepted) continue;
    const std::string differs = first_difference(call, plain);
    verdict->add(differs.empty()
                     ? ""
                     : begin + differs + ", with delayed streams (seed " + std::to_string(seed) +
                           "); expected all work in the caller's stream, or in streams that "
                           "events order with the caller's stream");
  }
}

/// Rule TensorsDevice: calls the op with tensors on cuda:1 while cuda:0 is current, and on cuda:0
/// while cuda:2 is current, each also with a failing cudaLaunchKernelExC(). Checks that the op
/// accepts the calls without a failure, launches on the tensors' device only, and leaves the
/// current device unchanged. Adds each observation, and its violation if there is one, to *verdict.
/// Does nothing unless accepts_cuda(). Device 0 is current afterwards. Throws RuntimeError if CUDA
/// fails, and the errors of Call::run().
inline void tensors_device(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  const std::pair<int, int> cases[] = {{1, 0}, {0, 2}};
  for (const auto& [device, current] : cases) {
    for (const bool fails : {false, true}) {
      CudaTarget target(device);
      KERNKIT_CUDA_CHECK(cudaSetDevice(current));
      Call call(contract, target);
      call.prepare();
      target.enter();
      if (fails) target.runtime.fail("cudaLaunchKernelExC", 1, cudaErrorMemoryAllocation);
      Outcome outcome = call.invoke();
      target.leave();
      int after = -1;
      KERNKIT_CUDA_CHECK(cudaGetDevice(&after));
      KERNKIT_CUDA_CHECK(cudaSetDevice(0));
      const std::string begin = begin_of(contract, target) +
                                "with cuda:" + std::to_string(current) + " current" +
                                (fails ? " and a launch that fails, " : ", ");
      verdict->add(
          fails || outcome.accepted
              ? ""
              : begin + outcome.text() +
                    "; expected that it runs on the tensors' device, whichever is current");
      for (const simulator::CudaLaunch& launch : target.runtime.launches()) {
        verdict->add(launch.device == device
                         ? ""
                         : begin + "it launched on cuda:" + std::to_string(launch.device) +
                               "; expected the tensors' device");
      }
      verdict->add(after == current
                       ? ""
                       : begin + "it left cuda:" + std::to_string(after) +
                             " current; expected that it restores the caller's device");
    }
  }
}

/// Returns the function of the first of `calls` whose function is one of `names`; "" if there is
/// none. Throws only std::bad_alloc.
inline std::string called(const std::vector<simulator::CudaCall>& calls,
                          const std::vector<std::string>& names) {
  for (const simulator::CudaCall& call : calls) {
    if (std::count(names.begin(), names.end(), call.function) > 0) return call.function;
  }
  return "";
}

/// Returns the unchanged example, and then the variations of in_place(), with which an op may call
/// other functions of the runtime. Their texts are beginnings of a clause, "" and "with y in the
/// memory of x, ". Throws only std::bad_alloc.
inline Variations example_and_in_place(const Contract& contract) {
  Variations variations = in_place(contract, cpu_target());
  for (Variation& variation : variations) variation.what += ", ";
  variations.insert(variations.begin(), {"", May::kGiveSame, "", {}, [](Call&) {}});
  return variations;
}

/// Returns the violation for a forbidden call of the runtime: `begin`, the name `call` of the
/// called function, and `expected`, a clause that begins with a semicolon; "" if `call` is "".
/// Throws only std::bad_alloc.
inline std::string called_sentence(const std::string& begin, const std::string& call,
                                   const char* expected) {
  return call.empty() ? "" : begin + "it called " + call + expected;
}
/// Returns the violation for objects of the runtime that three calls of the op left: `begin`, and
/// both texts of CudaRuntime::live(), `before` and `after` the calls; "" if both are equal. Throws
/// only std::bad_alloc.
inline std::string left_sentence(const std::string& begin, const std::string& before,
                                 const std::string& after) {
  return before == after ? ""
                         : begin + "after three calls there are " + after + ", before them " +
                               before + "; expected that nothing is left";
}

/// Rule NoSynchronisation: checks for each variation of example_and_in_place() that the op calls no
/// function of the runtime that waits for the device or queries its progress: cuda*Synchronize,
/// cudaStreamQuery, cudaEventQuery, cudaMemcpy, cudaMemset. Adds each call, and its violation if
/// there is one, to *verdict. Does nothing unless accepts_cuda(). Throws the errors of Call::run().
inline void does_not_synchronise(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  for (const Variation& variation : example_and_in_place(contract)) {
    CudaTarget target;
    Call call(contract, target);
    variation.change(call);
    const std::string waits =
        called(calls_of(&call, &target),
               {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                "cudaStreamQuery", "cudaEventQuery", "cudaMemcpy", "cudaMemset"});
    verdict->add(called_sentence(begin_of(contract, target) + variation.what, waits,
                                 "; expected that it enqueues its work and returns"));
  }
}

/// The functions of the runtime that allocate or free memory and wait for the device.
inline const std::vector<std::string> kAllocating = {"cudaMalloc",    "cudaMallocHost",
                                                     "cudaHostAlloc", "cudaMallocManaged",
                                                     "cudaFree",      "cudaFreeHost"};

/// Rule NoAllocation: checks for each variation of example_and_in_place() that the op calls no
/// function of kAllocating, and that three calls leave no object of the runtime. Adds both
/// observations, and their violations if there are any, to *verdict. Does nothing unless
/// accepts_cuda(). Throws RuntimeError if CUDA fails, and the errors of Call::run().
inline void does_not_allocate(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  for (const Variation& variation : example_and_in_place(contract)) {
    CudaTarget target;
    Call call(contract, target);
    variation.change(call);
    const std::string allocates = called(calls_of(&call, &target), kAllocating);
    const std::string begin = begin_of(contract, target) + variation.what;
    verdict->add(called_sentence(begin, allocates,
                                 "; expected memory from alloc_tensor() or the stream's own"));
    call.prepare();
    const std::string before = target.runtime.live();
    for (int round = 0; round < 3; ++round) {
      target.enter();
      (void)call.invoke();
      target.leave();
    }
    KERNKIT_CUDA_CHECK(cudaStreamSynchronize(target.stream()));
    verdict->add(left_sentence(begin, before, target.runtime.live()));
  }
}

/// Rule Scratch: captures a call of the example with every size of the tensors four times as large,
/// and checks that the op calls no function of kAllocating. An op with memory of its own that grows
/// with the largest call violates the rule. Adds the call, and its violation if there is one, to
/// *verdict. Does nothing unless accepts_cuda(). Throws RuntimeError if CUDA fails, and the errors
/// of Call::run().
inline void grows_nothing_in_a_graph(const Contract& contract, Verdict* verdict) {
  if (!accepts_cuda(contract)) return;
  CudaTarget target;
  Call call(contract, target);
  for (Argument& x : call.arguments)
    for (int64_t& size : x.shape) size *= 4;
  call.prepare();
  target.runtime.clear();
  KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(target.stream(), cudaStreamCaptureModeGlobal));
  target.enter();
  (void)call.invoke();
  target.leave();
  const std::string grows = called(target.runtime.calls(), kAllocating);
  cudaGraph_t graph = nullptr;
  (void)cudaStreamEndCapture(target.stream(), &graph);
  (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  verdict->add(called_sentence(begin_of(contract, target) + "captured with larger tensors, ", grows,
                               "; expected scratch from the caller or alloc_tensor()"));
}

/// Returns the rules of an op's CUDA implementation in the simulator, in the order of their tests.
/// Throws only std::bad_alloc.
inline std::vector<Rule> simulator_rules() {
  return {
      {"RunsOnCuda", "the CUDA and CPU implementations give the same results", nullptr,
       runs_on_cuda},
      {"CallersStream", "work goes to the caller's stream", nullptr, callers_stream},
      {"TensorsDevice", "kernels run on the tensors' device; the caller's device stays current",
       nullptr, tensors_device},
      {"NoSynchronisation", "a call does not wait for its device", nullptr, does_not_synchronise},
      {"NoAllocation", "a call makes no allocation that waits for the device, and leaves no object",
       nullptr, does_not_allocate},
      {"Capture", "a call can be captured into a graph, and replayed", nullptr, is_captured},
      {"Scratch", "a captured call with larger tensors allocates no memory", nullptr,
       grows_nothing_in_a_graph},
      {"FailedLaunch", "a failed call of the runtime raises RuntimeError", nullptr,
       reports_what_fails},
      {"EarlierErrors", "an error of earlier work is neither raised nor cleared", nullptr,
       leaves_earlier_errors},
      {"Uninitialised", "no result depends on uninitialised memory", nullptr,
       reads_what_was_written},
  };
}

}  // namespace kernkit::testing::contract
