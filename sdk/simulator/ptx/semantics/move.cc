// SPDX-License-Identifier: Apache-2.0
// PTX ISA: mov (also with packing and unpacking), cvta, isspacep, mapa and getctarank.
#include <chrono>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/simd/move.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace move_steps;  // NOLINT(build/namespaces): its own steps

// Executes mapa: replaces the rank in a shared address by the rank in src1. A is the type of the
// address.
template <class A>
void map_to_rank(Warp& warp, const Operation& operation) {
  const auto* ranks = warp.lanes<uint32_t>(operation.src1);
  const Cluster& cluster = *warp.block->cluster;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    if (ranks[lane] < cluster.size()) continue;
    fault(warp, lane, operation,
          "requests block " + std::to_string(ranks[lane]) + " of " + cluster.text(),
          cudaErrorIllegalAddress);
  }
  constexpr uint64_t kRanks = UINT32_MAX & ~kInBlock;
  const A* from = warp.lanes<A>(operation.src0);
  A* to = warp.results<A>(operation.dst);
  for (int l = 0; l < 32; ++l) {
    const bool is_shared = sizeof(A) == 4 || located(from[l]).space == Space::kShared;
    to[l] = is_shared ? static_cast<A>((from[l] & ~kRanks) | shared_base(ranks[l])) : from[l];
  }
  warp.keep<A>(operation.dst);
}

template <class A>
void read_rank(Warp& warp, const Operation& operation) {
  const A* from = warp.lanes<A>(operation.src0);
  auto* to = warp.results<uint32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) to[l] = static_cast<uint32_t>(from[l] & UINT32_MAX) >> kRankShift;
  warp.keep<uint32_t>(operation.dst);
}

void move_predicate(Warp& warp, const Operation& operation) {
  warp.set_predicate(operation.dst, warp.predicate(operation.src0));
}

Run move_of_size(uint32_t size) {
  switch (size) {
    case 2: return unary<Same, uint16_t, uint16_t>;
    case 4: return unary<Same, uint32_t, uint32_t>;
    case 8: return unary<Same, uint64_t, uint64_t>;
    default: return nullptr;
  }
}

template <template <class, class, int> class Form>
Run of_pieces(uint32_t bytes, size_t pieces) {
  if (bytes == 2 && pieces == 2) return Form<uint16_t, uint16_t, 8>::run;
  if (bytes == 4 && pieces == 4) return Form<uint32_t, uint16_t, 8>::run;
  if (bytes == 4 && pieces == 2) return Form<uint32_t, uint16_t, 16>::run;
  if (bytes == 8 && pieces == 2) return Form<uint64_t, uint32_t, 32>::run;
  if (bytes == 8 && pieces == 4) return Form<uint64_t, uint16_t, 16>::run;
  return nullptr;
}
template <class Full, class Piece, int kBits>
struct Pack {
  static constexpr Run run = pack<Full, Piece, kBits>;
};
template <class Full, class Piece, int kBits>
struct Unpack {
  static constexpr Run run = unpack<Full, Piece, kBits>;
};

Run move_pieces(Decoder& d, Type type, bool packs) {
  const std::vector<Operand>& pieces = d.operand(packs ? 1 : 0).parts;
  const uint32_t bytes = size_of(type);
  if (pieces.size() != 2 && pieces.size() != 4) return nullptr;
  const uint32_t size = bytes / static_cast<uint32_t>(pieces.size());
  if (size != 1 && size != 2 && size != 4) return nullptr;
  const Type piece = size == 1 ? Type::kB8 : size == 2 ? Type::kB16 : Type::kB32;
  for (const Operand& piece_operand : pieces) {
    uint32_t& slot = d.operation.list[d.operation.count++];
    if (piece_operand.kind != Operand::kNothing)
      slot = packs ? d.from(piece_operand, piece) : d.to(piece_operand, piece);
  }
  if (packs) {
    d.operation.dst = d.to(0, type);
    return of_pieces<Pack>(bytes, pieces.size());
  }
  d.operation.src0 = d.from(1, type);
  return of_pieces<Unpack>(bytes, pieces.size());
}

// Decodes mov.b128, in which an operand is a 128-bit register or a vector {a, b} of 64-bit
// registers: one move for each half whose destination is not `_`. Returns the function of the last
// move.
Run move_wide(Decoder& d) {
  const auto half = [&](size_t i, uint32_t upper) {
    const Operand& operand = d.operand(i);
    if (operand.kind != Operand::kVector) return d.from(operand, Type::kB128) + upper;
    if (operand.parts.size() != 2) {
      d.reject("expected 2 registers, found " + std::to_string(operand.parts.size()));
    }
    const Operand& part = operand.parts[upper];
    if (i == 0 && part.kind == Operand::kNothing) return kNone;
    return i == 0 ? d.to(part, Type::kB64) : d.from(part, Type::kB64);
  };
  const uint32_t to[] = {half(0, 0), half(0, 1)};
  const uint32_t from[] = {half(1, 0), half(1, 1)};
  if (to[0] == kNone && to[1] == kNone) return nullptr;
  const Run run = unary<Same, uint64_t, uint64_t>;
  bool is_first = true;
  for (const int i : {0, 1}) {
    if (to[i] == kNone) continue;
    if (!is_first) d.emit_part(run);
    is_first = false;
    d.operation.dst = to[i];
    d.operation.src0 = from[i];
  }
  return run;
}

// Reads a clock register, such as %clock64 or %globaltimer; all clock registers count nanoseconds.
// %clock_hi and %globaltimer_hi are the upper 32 bits of the count.
template <class X, int kShift = 0>
void read_clock(Warp& warp, const Operation& operation) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto value = static_cast<X>(std::chrono::nanoseconds(now).count() >> kShift);
  X* d = warp.results<X>(operation.dst);
  each_lane([&](int l) { d[l] = value; });
  warp.keep<X>(operation.dst);
}

void is_in_window(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint64_t>(operation.src0);
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= (a[l] >> kWindowShift == operation.mode ? 1u : 0u) << l;
  warp.set_predicate(operation.dst, bits);
}
// Executes isspacep.shared::cta: tests for an address in the shared memory of the lane's own block.
void is_in_own_shared(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint64_t>(operation.src0);
  const uint64_t own = (kSharedWindow + shared_base(warp.block->rank)) >> kRankShift;
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= (a[l] >> kRankShift == own ? 1u : 0u) << l;
  warp.set_predicate(operation.dst, bits);
}

// Executes cvta.param. The 64-bit address of a parameter is generic; the 32-bit address, extended
// to 64 bits, is an offset in the window of parameter memory.
void parameter_address(Warp& warp, const Operation& operation) {
  const auto* from = warp.lanes<uint64_t>(operation.src0);
  auto* to = warp.results<uint64_t>(operation.dst);
  for (int l = 0; l < 32; ++l) to[l] = from[l] <= UINT32_MAX ? from[l] + kParamWindow : from[l];
  warp.keep<uint64_t>(operation.dst);
}

uint64_t window_of(std::string_view space) {
  if (space.substr(0, 6) == "shared") return kSharedWindow;
  return space == "local" ? kLocalWindow : 0;
}

}  // namespace

void compute_address(Warp& warp, const Operation& operation) {
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  auto* to = warp.results<uint64_t>(operation.dst);
  std::copy(addresses, addresses + 32, to);
  warp.keep<uint64_t>(operation.dst);
}
void add_offset(Warp& warp, const Operation& operation) { move_steps::offset(warp, operation); }

Run mov(Decoder& d) {
  const Type type = d.type();
  d.need_operands(2);
  if (type == Type::kB128) return move_wide(d);
  if (d.operand(0).kind == Operand::kVector) return move_pieces(d, type, false);
  if (d.operand(1).kind == Operand::kVector) return move_pieces(d, type, true);
  d.operation.dst = d.to(0, type);
  const std::string& name = d.operand(1).name;
  if (name == "%clock64" || name == "%globaltimer")
    return size_of(type) == 8 ? read_clock<uint64_t> : nullptr;
  if (name == "%clock" || name == "%globaltimer_lo")
    return size_of(type) == 4 ? read_clock<uint32_t> : nullptr;
  if (name == "%clock_hi" || name == "%globaltimer_hi")
    return size_of(type) == 4 ? read_clock<uint32_t, 32> : nullptr;
  d.operation.src0 = d.from(1, type);
  return type == Type::kPred ? move_predicate : move_of_size(register_size(type));
}

// Decodes cvta, which adds the address of the space's window, and cvta.to, which subtracts this
// address.
Run cvta(Decoder& d) {
  const bool leaves = d.has("to");
  const std::string_view space =
      d.one_of({"global", "const", "param", "local", "shared", "shared::cta"});
  const Type type = d.type();
  if (space.empty() || size_of(type) != 8) return nullptr;
  d.take(type);
  if (space == "param" && !leaves) return parameter_address;
  const auto window = static_cast<int64_t>(window_of(space));
  d.operation.offset = leaves ? -window : window;
  return offset;
}

// Decodes mapa.u64 d, a, rank (generic address) and mapa.shared::cluster.u32 d, a, rank.
Run mapa(Decoder& d) {
  d.has("shared::cluster");
  const Type type = d.type();
  d.need_operands(3);
  d.take({type, type, Type::kU32});
  return type == Type::kU64 ? map_to_rank<uint64_t> : map_to_rank<uint32_t>;
}

Run getctarank(Decoder& d) {
  d.has("shared::cluster");
  const Type type = d.type();
  d.need_operands(2);
  d.take({Type::kU32, type});
  return type == Type::kU64 ? read_rank<uint64_t> : read_rank<uint32_t>;
}

Run isspacep(Decoder& d) {
  const std::string_view space = d.one_of(
      {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"});
  if (space.empty()) return nullptr;
  const uint64_t window = space.substr(0, 5) == "param" ? kParamWindow : window_of(space);
  d.operation.mode = static_cast<uint8_t>(window >> kWindowShift);
  d.take({Type::kPred, Type::kU64});
  // PTX ISA: .shared without a qualifier is .shared::cta.
  return space == "shared" || space == "shared::cta" ? is_in_own_shared : is_in_window;
}

}  // namespace kernkit::simulator::ptx
