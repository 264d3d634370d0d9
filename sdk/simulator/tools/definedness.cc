// SPDX-License-Identifier: Apache-2.0
#include "tools/definedness.h"

#include <algorithm>
#include <cstring>

#include "ptx/isa/comparison.h"
#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "ptx/simd/fragment_layout.h"
#include "tools/undefined_uses.h"

namespace kernkit::simulator::ptx {
namespace {

using Values = uint64_t[32];

template <class X>
void read_lanes(const void* from, uint64_t* to) {
  for (int l = 0; l < 32; ++l) to[l] = static_cast<const X*>(from)[l];
}
// Reads the values of a register in all lanes.
void read_values(Warp& warp, const UndefinedBits& bits, uint32_t at, uint64_t* to) {
  const unsigned char* from = warp.registers + at;
  switch (bits.size(at)) {
    case 0:
      for (int l = 0; l < 32; ++l) to[l] = warp.predicate(at) >> l & 1;
      return;
    case 2: return read_lanes<uint16_t>(from, to);
    case 4: return read_lanes<uint32_t>(from, to);
    default: return read_lanes<uint64_t>(from, to);
  }
}

// The undefined bits and the values of a source register.
struct Source {
  Undefined undefined;
  Values values;
};

class Following {
 public:
  Following(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits,
            UndefinedUses* uses)
      : plan_(plan), warp_(warp), operation_(operation), bits_(*bits), uses_(*uses) {}

  void run() {
    switch (plan_.rule) {
      case Definedness::kMoved: return move();
      case Definedness::kShuffle: return shuffle();
      case Definedness::kProduct: return multiply();
      case Definedness::kWarp:
      case Definedness::kVote:
      case Definedness::kBallot: return of_warp();
      default: break;
    }
    Undefined result;
    for (const uint32_t source : plan_.sources) {
      Undefined undefined;
      bits_.read(source, &undefined);
      result.add(undefined, warp_.mask);
    }
    for (const uint32_t to : plan_.results) {
      Undefined of_one = result;
      change(to, &of_one);
      bits_.write(warp_, to, of_one);
    }
  }

 private:
  void take(uint32_t at, Source* source) {
    bits_.read(at, &source->undefined);
    read_values(warp_, bits_, at, source->values);
  }

  // Replaces *result, which has the undefined bits of all sources, by the undefined bits of the
  // result register `to`, according to the plan's rule.
  void change(uint32_t to, Undefined* result) {
    const uint64_t ones = bits_.ones(to);
    uint64_t* all = result->bits;
    const auto each = [&](const auto& rule) {
      each_of(warp_.mask, [&](int l) { all[l] = rule(all[l]) & ones; });
    };
    switch (plan_.rule) {
      case Definedness::kEach: return;
      case Definedness::kUpwards: return each([](uint64_t x) { return x | (0 - x); });
      case Definedness::kHalves:
        return each([](uint64_t x) {
          return ((x & 0xffff) != 0 ? 0xffffu : 0u) | ((x & 0xffff0000) != 0 ? 0xffff0000u : 0u);
        });
      case Definedness::kWords:
        return each([](uint64_t x) {
          return (static_cast<uint32_t>(x) != 0 ? UINT32_MAX : 0) |
                 (x >> 32 != 0 ? ~uint64_t{UINT32_MAX} : 0);
        });
      case Definedness::kWidens:
        return each([](uint64_t x) {
          return ((x & 0xff) != 0 ? 0xffffu : 0u) | ((x & 0xff00) != 0 ? 0xffff0000u : 0u);
        });
      case Definedness::kNarrows: return narrow(to, all);
      case Definedness::kAnd:
      case Definedness::kOr: return combine(plan_.rule == Definedness::kAnd, all);
      case Definedness::kTable: return look_up(all);
      case Definedness::kSelect: return select(all);
      case Definedness::kCompare: return compare(to, all);
      default: return each([](uint64_t x) { return x != 0 ? UINT64_MAX : 0; });
    }
  }

  void narrow(uint32_t to, uint64_t* all) {
    Undefined upper, lower;
    bits_.read(operation_.src0, &upper);
    bits_.read(operation_.src1, &lower);
    const uint32_t half = 4 * bits_.size(to);
    const uint64_t ones = (uint64_t{1} << half) - 1;
    each_of(warp_.mask, [&](int l) {
      all[l] = (upper.bits[l] != 0 ? ones << half : 0) | (lower.bits[l] != 0 ? ones : 0);
    });
  }

  // and, or: a result bit is also defined if the same bit of one source is a defined 0 (for `and`)
  // or a defined 1 (for `or`).
  void combine(bool is_and, uint64_t* all) {
    Source a, b;
    take(operation_.src0, &a);
    take(operation_.src1, &b);
    each_of(warp_.mask, [&](int l) {
      const uint64_t x = is_and ? a.values[l] : ~a.values[l],
                     y = is_and ? b.values[l] : ~b.values[l];
      all[l] &= (x | a.undefined.bits[l]) & (y | b.undefined.bits[l]);
    });
  }

  // lop3: a result bit is undefined if its value depends on an undefined bit.
  void look_up(uint64_t* all) {
    Source sources[3];
    const uint32_t registers[] = {operation_.src0, operation_.src1, operation_.src2};
    for (int i = 0; i < 3; ++i) take(registers[i], &sources[i]);
    each_of(warp_.mask, [&](int l) {
      uint64_t ever = 0, always = UINT64_MAX;
      for (unsigned flipped = 0; flipped < 8; ++flipped) {
        uint64_t x[3], result = 0;
        for (unsigned i = 0; i < 3; ++i) {
          x[i] =
              sources[i].values[l] ^ ((flipped >> i & 1) != 0 ? sources[i].undefined.bits[l] : 0);
        }
        for (unsigned row = 0; row < 8; ++row) {
          if ((operation_.mode >> row & 1) == 0) continue;
          result |= ((row & 4) != 0 ? x[0] : ~x[0]) & ((row & 2) != 0 ? x[1] : ~x[1]) &
                    ((row & 1) != 0 ? x[2] : ~x[2]);
        }
        ever |= result;
        always &= result;
      }
      all[l] &= ever & ~always;
    });
  }

  void select(uint64_t* all) {
    Source a, b, which;
    take(operation_.src0, &a);
    take(operation_.src1, &b);
    take(operation_.src2, &which);
    each_of(warp_.mask, [&](int l) {
      const uint64_t x = a.undefined.bits[l], y = b.undefined.bits[l];
      const bool first = (which.values[l] != 0) != operation_.negated;
      all[l] = which.undefined.bits[l] != 0 ? x | y | (a.values[l] ^ b.values[l]) : first ? x : y;
    });
  }

  // Returns -1 if undefined bits can change the result of the comparison, and 1 otherwise.
  int compared(const Source& a, const Source& b, int l, uint64_t sign) const {
    const uint64_t u = a.undefined.bits[l], v = b.undefined.bits[l];
    const uint64_t x = a.values[l] ^ sign, y = b.values[l] ^ sign;
    const uint64_t least = x & ~u, most = x | u, other_least = y & ~v, other_most = y | v;
    switch (plan_.order) {
      case Order::kNone: return (u | v) != 0 ? -1 : 1;
      case Order::kEqual:
        if ((u | v) == 0) return 1;
        return ((x ^ y) & ~(u | v)) != 0 ? 1 : -1;
      case Order::kLess: return most < other_least || least >= other_most ? 1 : -1;
      case Order::kLessEqual: return most <= other_least || least > other_most ? 1 : -1;
      case Order::kGreater: return least > other_most || most <= other_least ? 1 : -1;
      default: return least >= other_most || most < other_least ? 1 : -1;
    }
  }
  // setp and set: if undefined bits can change the comparison, the result is still defined if the
  // predicate that is combined with the comparison determines the result.
  void compare(uint32_t to, uint64_t* all) {
    Source a, b, with;
    take(operation_.src0, &a);
    take(operation_.src1, &b);
    const uint32_t bytes = bits_.size(operation_.src0);
    const uint64_t sign = plan_.is_signed ? uint64_t{1} << (8 * bytes - 1) : 0;
    if (operation_.src2 != kNone) take(operation_.src2, &with);
    const unsigned how = operation_.mode >> kCombinedBits & 3;
    each_of(warp_.mask, [&](int l) {
      bool undefined = compared(a, b, l, sign) < 0;
      if (operation_.src2 != kNone) {
        const bool value = (with.values[l] != 0) != operation_.negated;
        const bool decides = (how == 1 && !value) || (how == 2 && value);
        undefined = with.undefined.bits[l] != 0 || (undefined && !decides);
      }
      all[l] = undefined ? bits_.ones(to) : 0;
    });
  }

  // Registers for run_on(), which runs an operation on undefined bits in place of values.
  static constexpr uint32_t kSlot = 256;
  alignas(64) unsigned char slots_[16 * kSlot];

  template <class X>
  static void put(const uint64_t* from, void* to) {
    for (int l = 0; l < 32; ++l) static_cast<X*>(to)[l] = static_cast<X>(from[l]);
  }
  void put(uint32_t slot, uint32_t size, const uint64_t* from) {
    void* to = slots_ + size_t{slot} * kSlot;
    switch (size) {
      case 0: {
        uint32_t all = 0;
        for (int l = 0; l < 32; ++l) all |= from[l] != 0 ? kLane[l] : 0;
        std::memcpy(to, &all, sizeof(all));
        return;
      }
      case 2: return put<uint16_t>(from, to);
      case 4: return put<uint32_t>(from, to);
      default: return put<uint64_t>(from, to);
    }
  }
  void get(uint32_t slot, uint32_t size, uint64_t* to) const {
    const void* from = slots_ + size_t{slot} * kSlot;
    switch (size) {
      case 2: return read_lanes<uint16_t>(from, to);
      case 4: return read_lanes<uint32_t>(from, to);
      default: return read_lanes<uint64_t>(from, to);
    }
  }
  void run_on(const Operation& other) {
    unsigned char* const registers = warp_.registers;
    warp_.registers = slots_;
    warp_.block->launch.instrumented->runs[operation_.number](warp_, other);
    warp_.registers = registers;
  }

  void move() {
    Operation copy = operation_;
    uint32_t slot = 0;
    Undefined data, control;  // undefined bits of all data sources, and of all control sources
    const auto fill_slot = [&](uint32_t* at, bool is_data) {
      if (*at == kNone) return;
      Source source;
      take(*at, &source);
      put(slot, bits_.size(*at), is_data ? source.undefined.bits : source.values);
      (is_data ? data : control).add(source.undefined, warp_.mask);
      *at = kSlot * slot++;
    };
    uint32_t* const sources[] = {&copy.src0, &copy.src1, &copy.src2, &copy.src3};
    for (unsigned i = 0; i < 4; ++i) fill_slot(sources[i], (plan_.data >> i & 1) != 0);
    const bool packs = operation_.count != 0 && operation_.dst != kNone;
    std::vector<std::pair<uint32_t, uint32_t>> results;  // register and slot of each result
    for (uint32_t i = 0; i < operation_.count; ++i) {
      if (packs) {
        fill_slot(&copy.list[i], true);
      } else if (copy.list[i] != kNone) {
        results.emplace_back(copy.list[i], slot);
        copy.list[i] = kSlot * slot++;
      }
    }
    if (copy.dst != kNone) {
      results.emplace_back(copy.dst, slot);
      if (bits_.size(copy.dst) == 0) std::memset(slots_ + size_t{slot} * kSlot, 0, 4);
      copy.dst = kSlot * slot++;
    }
    run_on(copy);
    for (const auto& entry : results) {
      const uint32_t at = entry.first;
      Undefined result = data;
      if (bits_.size(at) == 0) {  // the result is a predicate
        each_of(warp_.mask, [&](int l) { result.bits[l] = data.bits[l]; });
      } else {
        get(entry.second, bits_.size(at), result.bits);
      }
      each_of(warp_.mask, [&](int l) {
        if (control.bits[l] == 0) return;
        result.bits[l] = bits_.ones(at);
        result.origins[l] = control.origins[l];
      });
      bits_.write(warp_, at, result);
    }
  }

  void shuffle() {
    Operation copy = operation_;
    Source a, b, c;
    take(operation_.src0, &a);
    take(operation_.src1, &b);
    take(operation_.src2, &c);
    Undefined selectors = b.undefined;
    selectors.add(c.undefined, warp_.mask);
    put(1, 4, b.values);
    put(2, 4, c.values);
    copy.src0 = 0;
    copy.src1 = kSlot;
    copy.src2 = 2 * kSlot;
    copy.dst = 3 * kSlot;
    if (copy.dst_predicate != kNone) copy.dst_predicate = 4 * kSlot;
    Values lanes;
    for (unsigned l = 0; l < 32; ++l) lanes[l] = l;
    put(0, 4, lanes);
    run_on(copy);
    get(3, 4, lanes);
    Undefined result;
    each_of(warp_.mask, [&](int l) {
      const auto from = static_cast<uint32_t>(lanes[l]);
      const bool lost = selectors.bits[l] != 0, is_idle = (warp_.mask & kLane[from]) == 0;
      result.bits[l] = lost || is_idle ? bits_.ones(operation_.dst) : a.undefined.bits[from];
      result.origins[l] = lost      ? selectors.origins[l]
                          : is_idle ? uses_.origin_of_lane(warp_, l, operation_, from)
                                    : a.undefined.origins[from];
      selectors.bits[l] = lost ? 1 : 0;
    });
    bits_.write(warp_, operation_.dst, result);
    bits_.write(warp_, operation_.dst_predicate, selectors);
  }

  // Handles votes and other operations whose result is the same in all lanes. A bit of a ballot's
  // result is undefined if the source of the bit's lane is undefined.
  void of_warp() {
    Source a;
    take(operation_.src0, &a);
    uint32_t lanes = 0, yes = 0, no = 0;
    uint64_t any = 0;
    each_of(warp_.mask, [&](int l) {
      any |= a.undefined.bits[l];
      lanes |= a.undefined.bits[l] != 0 ? kLane[l] : 0;
      if (a.undefined.bits[l] == 0) {
        ((a.values[l] != 0) != operation_.negated ? yes : no) |= kLane[l];
      }
    });
    const bool decided = plan_.rule == Definedness::kVote && is_decided(yes, no);
    for (const uint32_t to : plan_.results) {
      const uint64_t bits = lanes == 0 || decided                ? 0
                            : plan_.rule == Definedness::kBallot ? lanes
                                                                 : bits_.ones(to);
      Undefined result;
      each_of(warp_.mask, [&](int l) {
        result.bits[l] = bits;
        result.origins[l] = lanes != 0 ? a.undefined.origins[__builtin_ctz(lanes)] : 0;
      });
      bits_.write(warp_, to, result);
    }
  }
  // Returns whether the lanes with a defined predicate, true in `yes` and false in `no`, determine
  // the result of a vote. The modes 1 (any), 2 (all) and 3 (uni) are defined in warp_functions.cc.
  bool is_decided(uint32_t yes, uint32_t no) const {
    return operation_.mode == 1 ? yes != 0 : operation_.mode == 2 ? no != 0 : yes != 0 && no != 0;
  }

  // mma and wmma.mma: an element of D depends on its row of A, its column of B and its element of
  // C.
  void multiply() {
    const Product p = Product::unpack(operation_.offset);
    const std::vector<uint32_t>& all = warp_.block->launch.kernel.lists[operation_.more];
    const uint32_t* to = all.data();
    const uint32_t* from = to + p.registers_of_d();
    const uint32_t* c = from + p.sources();
    constexpr uint32_t kDefined = UINT32_MAX;
    uint32_t rows[32], columns[32];  // origins of undefined bits in rows of A and columns of B
    std::fill_n(rows, 32, kDefined);
    std::fill_n(columns, 32, kDefined);
    const auto find = [&](const uint32_t* registers, uint32_t count, uint32_t blocks,
                          uint32_t* origins) {
      for (uint32_t r = 0; r < count; ++r) {
        if (!bits_.any(registers[r])) continue;
        Undefined undefined;
        bits_.read(registers[r], &undefined);
        for (uint32_t l = 0; l < 32; ++l) {
          if (undefined.bits[l] != 0) origins[r % blocks * 8 + l / 4] = undefined.origins[l];
        }
      }
    };
    find(from, p.registers_of_a(), p.m / 8u, rows);
    find(from + p.registers_of_a(), p.registers_of_b(), p.n / 8u, columns);
    // Each lane has two elements of each 8x8 block, in the halves of one register or in two
    // registers.
    const bool halves = p.d == Element::kF16, halves_of_c = p.c == Element::kF16;
    for (uint32_t r = 0; r < p.registers_of_d(); ++r) {
      if (to[r] == kNone) continue;  // the destination is `_`
      const uint32_t block = halves ? r : r / 2;
      const uint32_t row = block % (p.m / 8u) * 8, column = block / (p.m / 8u) * 8;
      Undefined result;
      for (uint32_t i = halves ? 0 : r % 2; i < (halves ? 2 : r % 2 + 1); ++i) {
        Undefined term;
        bits_.read(c[halves_of_c ? block : 2 * block + i], &term);
        const uint64_t of_term = halves_of_c ? uint64_t{0xffff} << 16 * i : UINT64_MAX;
        const uint64_t element = halves ? uint64_t{0xffff} << 16 * i : bits_.ones(to[r]);
        for (uint32_t l = 0; l < 32; ++l) {
          const uint32_t of_row = rows[row + l / 4], of_column = columns[column + l % 4 * 2 + i];
          const bool is_term = (term.bits[l] & of_term) != 0;
          if (!is_term && of_row == kDefined && of_column == kDefined) continue;
          result.bits[l] |= element;
          result.origins[l] = is_term ? term.origins[l] : of_row != kDefined ? of_row : of_column;
        }
      }
      bits_.write(warp_, to[r], result);
    }
  }

  static constexpr unsigned kCombinedBits = kCombined;

  const BitPlan& plan_;
  Warp& warp_;
  const Operation& operation_;
  UndefinedBits& bits_;
  UndefinedUses& uses_;
};

}  // namespace

void follow(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits,
            UndefinedUses* uses) {
  // A shuffle may read the register of a lane that does not execute the shuffle.
  bool any = plan.rule == Definedness::kShuffle && warp.mask != Warp::kAll;
  if (plan.rule != Definedness::kNone) {
    for (const uint32_t source : plan.sources) any |= bits->any(source);
  }
  if (any) return Following(plan, warp, operation, bits, uses).run();
  for (const uint32_t result : plan.results) bits->define(result, warp.mask, warp.live);
}

}  // namespace kernkit::simulator::ptx
