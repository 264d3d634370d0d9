// SPDX-License-Identifier: Apache-2.0
// What is missing of the runtime's API, so that a program that might call it can be loaded. Each is
// weak: where the runtime has such a function, that is taken.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "libcudart/unsupported_api.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// What a program can do without a function; the first part of a name that is found decides.
struct Advice {
  const char *part, *text;
};
constexpr const char* kArrays =
    "there are no CUDA arrays, textures and surfaces: keep the data in memory of cudaMalloc() and "
    "load it from there";
constexpr const char* kOtherApis =
    "there is no memory of graphics libraries or of other APIs: pass data through memory of the "
    "host";
constexpr const char* kOtherProcesses =
    "processes share no memory of devices: keep the data in one process";
constexpr const char* kPeers = "devices do not reach each other's memory: copy by cudaMemcpyPeer()";
constexpr const char* kPerThread =
    "there is no default stream of each thread: compile without --default-stream per-thread and "
    "pass a stream";
constexpr const char* kDriver = "the driver's API is not there: call the functions of the runtime";
constexpr const char* kGraphs =
    "nodes of a graph stay as they were added: make the graph anew and update the instance by "
    "cudaGraphExecUpdate()";
constexpr Advice kAdvice[] = {{"_ptsz", kPerThread},
                              {"_ptds", kPerThread},
                              {"EGL", kOtherApis},
                              {"VDPAU", kOtherApis},
                              {"cudaGL", kOtherApis},
                              {"Graphics", kOtherApis},
                              {"External", kOtherApis},
                              {"NvSci", kOtherApis},
                              {"Array", kArrays},
                              {"Texture", kArrays},
                              {"Surface", kArrays},
                              {"ChannelDesc", kArrays},
                              {"Ipc", kOtherProcesses},
                              {"Shareable", kOtherProcesses},
                              {"MemPoolExport", kOtherProcesses},
                              {"MemPoolImport", kOtherProcesses},
                              {"Peer", kPeers},
                              {"P2P", kPeers},
                              {"EntryPoint", kDriver},
                              {"ProcAddress", kDriver},
                              {"ExportTable", kDriver},
                              {"FuncBySymbol", kDriver},
                              {"cudaGraph", kGraphs}};

const char* advice_for(const char* function) {
  for (const Advice& one : kAdvice) {
    if (std::strstr(function, one.part) != nullptr) return one.text;
  }
  return "leave the call out, or run the program on a GPU";
}

cudaError_t missing(const char* function, std::atomic<bool>* said) {
  if (!said->exchange(true)) {
    std::fprintf(stderr, "kernkit: %s() is not supported: it returns cudaErrorNotSupported; %s\n",
                 function, advice_for(function));
  }
  return call(function, Reach::kHost, [] { return cudaErrorNotSupported; });
}

}  // namespace
}  // namespace kernkit::simulator

#define KERNKIT_MISSING(name)                           \
  extern "C" __attribute__((weak)) cudaError_t name() { \
    static std::atomic<bool> said{false};               \
    return kernkit::simulator::missing(#name, &said);   \
  }
KERNKIT_CUDART_NAMES(KERNKIT_MISSING)
