// SPDX-License-Identifier: Apache-2.0
#include "fiber/call_site.h"

#include <unwind.h>

namespace kernkit::simulator {

CallSite::CallSite(int line, const void* outermost) : line_(line) {
  struct Walk {
    CallSite* site;
    uint64_t outermost;
  } walk = {this, reinterpret_cast<uintptr_t>(outermost)};
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void* walk_) {
        const auto* frames = static_cast<Walk*>(walk_);
        if (_Unwind_GetCFA(frame) > frames->outermost) return _URC_END_OF_STACK;
        frames->site->add(_Unwind_GetIP(frame));
        return _URC_NO_REASON;
      },
      &walk);
}

void CallSite::add(uint64_t address) {
  if (depth_ < kMost) {
    calls_[depth_++] = address;
  } else {
    calls_[kMost - 1] = (calls_[kMost - 1] ^ address) * 0x100000001b3u;  // step of the FNV-1a hash
  }
}

int CallSite::compare(const CallSite& other) const {
  if (line_ != other.line_) return line_ < other.line_ ? -1 : 1;
  for (unsigned i = 1; i <= depth_ && i <= other.depth_; ++i) {
    const uint64_t own_address = calls_[depth_ - i], other_address = other.calls_[other.depth_ - i];
    if (own_address != other_address) return own_address < other_address ? -1 : 1;
  }
  return static_cast<int>(depth_) - static_cast<int>(other.depth_);
}

}  // namespace kernkit::simulator
