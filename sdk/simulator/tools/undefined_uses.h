// SPDX-License-Identifier: Apache-2.0
// UndefinedUses: the uses of undefined bits by a block, and the origins of the bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/findings.h"

namespace kernkit::simulator::ptx {

class UndefinedUses {
 public:
  UndefinedUses(const Block& block, const InstrumentedKernel& instrumented)
      : block_(block), instrumented_(instrumented) {}

  void start();
  /// Records that a lane reads uninitialised bits at an address of a space, and returns the number
  /// of this origin.
  uint32_t origin(const Warp& warp, int lane, const Operation& operation, Space space, uint64_t at);
  /// Records that a lane's shuffle reads the lane `from`, which does not execute the shuffle, and
  /// returns the number of this origin.
  uint32_t origin_of_lane(const Warp& warp, int lane, const Operation& operation, uint32_t from);
  /// Records a use. `message` is a string constant, such as "Uninitialized bits decide a branch".
  void add(const Warp& warp, int lane, const Operation& operation, const char* message,
           uint32_t origin);
  /// Like add(), for a use at an address of global memory.
  void add_at(const Warp& warp, int lane, const Operation& operation, const char* message,
              uint32_t origin, uint64_t address);
  void add_to(const std::vector<InitLedger*>& ledgers) const;

 private:
  struct OriginAddress {
    Space space;
    uint64_t at;   // address within the space, or number of a lane
    bool is_lane;  // whether `at` is a lane, not an address
  };
  uint32_t add_origin(const Warp& warp, int lane, const Operation& operation,
                      const OriginAddress& address);
  std::string byte_text(uint64_t address) const;
  std::string origin_text(uint32_t origin) const;
  void add(const Warp& warp, int lane, const Operation& operation, const char* message,
           uint32_t origin, const uint64_t* address);

  static constexpr uint32_t kThreads = 1024;  // maximum number of threads per block
  const Block& block_;
  const InstrumentedKernel& instrumented_;
  uint64_t number_ = 0;  // number of the current block
  std::unordered_map<uint32_t, OriginAddress> addresses_;
  // Findings by operation, kind of use, and the operation that read the bits first.
  std::map<std::tuple<uint32_t, const char*, uint32_t>, FindingCount> all_;
};

}  // namespace kernkit::simulator::ptx
