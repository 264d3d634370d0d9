// SPDX-License-Identifier: Apache-2.0
// NVTX ranges for profilers: a range for each call, with the op's name and arguments.
//
// The ranges are compiled into a library with CUDA code if NVTX's header was found at compile time.
// The header loads the tool that NVTX_INJECTION64_PATH names; nothing is linked.
#pragma once

#include "kernkit/logging/impl/known_op.h"

#if defined(KERNKIT_WITH_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#define KERNKIT_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace kernkit::logging {

/// Returns whether a profiler that receives NVTX ranges is attached: such a profiler sets the
/// environment variable NVTX_INJECTION64_PATH.
inline bool is_profiled() {
#if defined(KERNKIT_HAS_NVTX)
  return variable("NVTX_INJECTION64_PATH") != nullptr;
#else
  return false;
#endif
}

/// The NVTX domain of the library, named after the library's file.
class Ranges {
 public:
  explicit Ranges([[maybe_unused]] const char* library) {
#if defined(KERNKIT_HAS_NVTX)
    if (is_profiled()) domain_ = nvtxDomainCreateA(library);  // null if the tool cannot be loaded
#endif
  }

  /// Begins a range of this thread. Ranges can be nested.
  void begin([[maybe_unused]] const Call& call) const {
#if defined(KERNKIT_HAS_NVTX)
    if (domain_ == nullptr) return;
    Message text;
    append_call(text, call);
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text.c_str();
    (void)nvtxDomainRangePushEx(domain_, &attributes);
#endif
  }

  void end() const {
#if defined(KERNKIT_HAS_NVTX)
    if (domain_ != nullptr) (void)nvtxDomainRangePop(domain_);
#endif
  }

 private:
#if defined(KERNKIT_HAS_NVTX)
  nvtxDomainHandle_t domain_ = nullptr;
#endif
};

}  // namespace kernkit::logging
