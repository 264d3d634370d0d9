// SPDX-License-Identifier: Apache-2.0
// Definitions of functions that the runtime does not support. With the definitions, a program that
// refers to such a function can be loaded. The definitions are weak: a function of the runtime
// takes precedence.
#include <atomic>
#include <cstring>
#include <string>

#include "libcudart/unsupported_api.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// Advice for programs that call an unsupported function. The advice for a function is the first
// entry of kAdvice whose `part` occurs in the function's name.
struct Advice {
  const char *part, *text;
};
constexpr const char* kArrays =
    "CUDA arrays, textures and surfaces are not supported: load the data from memory of "
    "cudaMalloc()";
constexpr const char* kOtherApis =
    "interoperability with graphics and other APIs is not supported: copy the data through host "
    "memory";
constexpr const char* kOtherProcesses =
    "sharing device memory between processes is not supported: keep the data in one process";
constexpr const char* kPeers =
    "peer access between devices is not supported: copy with cudaMemcpyPeer()";
constexpr const char* kPerThread =
    "compilation with per-thread default streams is not supported: compile without "
    "--default-stream per-thread and pass a stream";
constexpr const char* kDriver =
    "the driver API is not supported: call the functions of the runtime";
constexpr const char* kGraphs =
    "reading and changing nodes of a graph is not supported: build a new graph and update the "
    "executable graph with cudaGraphExecUpdate()";
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
  for (const Advice& row : kAdvice) {
    if (std::strstr(function, row.part) != nullptr) return row.text;
  }
  return "leave the call out, or run the program on a GPU";
}

cudaError_t missing(const char* function, std::atomic<bool>* is_reported) {
  return call(function, ApiScope::kHost, [&] {
    if (!is_reported->exchange(true)) {
      note_fault(std::string(function) + "() is not supported: it returns cudaErrorNotSupported; " +
                 advice_for(function));
    }
    return cudaErrorNotSupported;
  });
}

}  // namespace
}  // namespace kernkit::simulator

#define KERNKIT_MISSING(name)                                \
  extern "C" __attribute__((weak)) cudaError_t name() {      \
    static std::atomic<bool> is_reported{false};             \
    return kernkit::simulator::missing(#name, &is_reported); \
  }
KERNKIT_CUDART_NAMES(KERNKIT_MISSING)
