// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/mbarriers.h"

#include <algorithm>
#include <cstring>

#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr int kPendingBits = 20, kBytesBits = 22;
constexpr uint64_t kPendingMask = (uint64_t{1} << kPendingBits) - 1;
constexpr uint64_t kBytesMask = (uint64_t{1} << kBytesBits) - 1;

std::string object_text(uint32_t at) {
  return "the mbarrier at byte " + std::to_string(at) + " of shared memory";
}
std::string count_text(uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

// The bits of an mbarrier object: 0 to 19 are the pending arrivals, 20 to 39 the expected arrivals,
// 40 to 61 the tx-count in two's complement, 62 and 63 the number of the phase.
MbarrierState MbarrierState::unpack(uint64_t word) {
  MbarrierState state;
  state.pending = static_cast<uint32_t>(word & kPendingMask);
  state.expected = static_cast<uint32_t>(word >> kPendingBits & kPendingMask);
  const auto bytes = static_cast<uint32_t>(word >> 2 * kPendingBits & kBytesMask);
  const uint32_t sign = uint32_t{1} << (kBytesBits - 1);
  state.bytes = static_cast<int32_t>(bytes ^ sign) - static_cast<int32_t>(sign);
  state.phase = static_cast<uint32_t>(word >> (2 * kPendingBits + kBytesBits));
  return state;
}

uint64_t MbarrierState::pack() const {
  return uint64_t{pending} | uint64_t{expected} << kPendingBits |
         (static_cast<uint64_t>(bytes) & kBytesMask) << 2 * kPendingBits |
         uint64_t{phase & 3} << (2 * kPendingBits + kBytesBits);
}

std::string Mbarriers::init(uint32_t at, uint32_t count) {
  if (count == 0 || count > MbarrierState::kMostArrivals) {
    return "the count is " + std::to_string(count) + "; expected 1 to " +
           std::to_string(MbarrierState::kMostArrivals);
  }
  MbarrierState state;
  Live* live = nullptr;
  if (find(at, &state, &live).empty()) {
    return object_text(at) + " is initialised already; expected mbarrier.inval before this use";
  }
  if (live == nullptr) {
    live_.push_back({at, 0, completed_, completed_});
    live = &live_.back();
  }
  state = {};
  state.expected = state.pending = count;
  keep(live, state);
  return "";
}

std::string Mbarriers::invalidate(uint32_t at) {
  MbarrierState state;
  Live* live = nullptr;
  if (std::string why = find(at, &state, &live); !why.empty()) return why;
  live_.erase(live_.begin() + (live - live_.data()));
  return "";
}

std::string Mbarriers::read(uint32_t at, MbarrierState* state) const {
  const Live* live = live_at(at);
  if (live == nullptr) {
    return object_text(at) + " is not initialised; expected mbarrier.init before this use";
  }
  uint64_t word = 0;
  std::memcpy(&word, shared_ + at, sizeof(word));
  if (word != live->word) return object_text(at) + " was overwritten after mbarrier.init";
  *state = MbarrierState::unpack(word);
  return "";
}

const Mbarriers::Live* Mbarriers::live_at(uint32_t at) const {
  const auto live = std::find_if(live_.begin(), live_.end(),
                                 [at](const Live& object) { return object.at == at; });
  return live == live_.end() ? nullptr : &*live;
}

uint64_t Mbarriers::phases(uint32_t at) const {
  const Live* live = live_at(at);
  return live == nullptr ? 0 : live->phases;
}

uint64_t Mbarriers::phase_of(uint32_t at) const {
  const Live* live = live_at(at);
  return live == nullptr ? 0 : live->phases - live->first;
}

void Mbarriers::note_wait(uint32_t at, unsigned warp) {
  for (Live& object : live_) {
    if (object.at != at) continue;
    if (object.waited.size() <= warp) object.waited.resize(warp + 1, object.first);
    object.waited[warp] = object.phases;
  }
}

// A wait by parity waits for the first phase with this parity that the warp has not waited for. If
// the following phase has also completed, the warp missed this phase: the current phase then has
// the same parity as the missed phase, so the wait does not end.
std::string Mbarriers::lapped_text(uint32_t at, unsigned warp) const {
  const Live* live = live_at(at);
  if (live == nullptr) return "";
  const uint64_t waited = warp < live->waited.size() ? live->waited[warp] - live->first : 0;
  const uint64_t now = live->phases - live->first;
  if (now < waited + 2) return "";
  return ", phases " + std::to_string(waited) + " to " + std::to_string(now - 1) +
         " completed since the thread's last wait: the thread was lapped";
}

// Finds the mbarrier at offset `at` of shared memory. Stores null in *live if no mbarrier is at
// this offset. Returns an error text, or "".
std::string Mbarriers::find(uint32_t at, MbarrierState* state, Live** live) {
  *live = nullptr;
  for (Live& object : live_) {
    if (object.at == at) *live = &object;
  }
  return read(at, state);
}

void Mbarriers::keep(Live* live, MbarrierState state) {
  if (state.pending == 0 && state.bytes == 0) {
    ++state.phase;
    state.pending = state.expected;
    ++completed_;
    ++live->phases;
  }
  live->word = state.pack();
  std::memcpy(shared_ + live->at, &live->word, sizeof(live->word));
  steps_passed.add();
}

std::string Mbarriers::expect(uint32_t at, int64_t bytes) {
  MbarrierState state;
  Live* live = nullptr;
  if (std::string why = find(at, &state, &live); !why.empty()) return why;
  const int64_t sum = state.bytes + bytes;
  if (sum > MbarrierState::kMostBytes || sum < -MbarrierState::kMostBytes) {
    return "the tx-count of " + object_text(at) + " becomes " + std::to_string(sum) +
           "; expected at most " + std::to_string(MbarrierState::kMostBytes) + " bytes";
  }
  state.bytes = static_cast<int32_t>(sum);
  keep(live, state);
  return "";
}

std::string Mbarriers::complete(uint32_t at, int64_t bytes) { return expect(at, -bytes); }

std::string Mbarriers::arrive(uint32_t at, uint32_t count, bool drops) {
  MbarrierState state;
  Live* live = nullptr;
  if (std::string why = find(at, &state, &live); !why.empty()) return why;
  if (count == 0) return "the count of arrivals is 0; expected at least 1";
  if (count > state.pending) {
    const std::string phase = count_text(count, "arrival") + " at " + object_text(at) +
                              ", whose phase " + std::to_string(phase_of(at));
    if (state.pending != 0) {
      return phase + " expects " + std::to_string(state.pending) + " more of " +
             count_text(state.expected, "arrival");
    }
    return phase + " has " + std::to_string(state.expected) + " of " +
           count_text(state.expected, "arrival") + " (" + missing_text(state) +
           "); expected a wait for this phase before the next arrival";
  }
  state.pending -= count;
  if (drops) state.expected -= std::min(count, state.expected);
  keep(live, state);
  return "";
}

std::string Mbarriers::add_pending(uint32_t at) {
  MbarrierState state;
  Live* live = nullptr;
  if (std::string why = find(at, &state, &live); !why.empty()) return why;
  if (state.pending == MbarrierState::kMostArrivals) {
    return object_text(at) + " expects too many arrivals";
  }
  ++state.pending;
  keep(live, state);
  return "";
}

std::string Mbarriers::missing_text(const MbarrierState& state) {
  std::string text;
  if (state.pending != 0) {
    text = std::to_string(state.pending) + " of " + count_text(state.expected, "arrival");
  }
  if (state.bytes > 0) {
    if (!text.empty()) text += " and ";
    text += std::to_string(state.bytes) + " bytes";
  }
  if (!text.empty()) text += " missing";
  if (state.bytes < 0) {
    text += (text.empty() ? "" : ", ") + std::to_string(-int64_t{state.bytes}) +
            " bytes more than expected";
  }
  return text;
}

}  // namespace kernkit::simulator::ptx
