// SPDX-License-Identifier: Apache-2.0
// PTX ISA: atom and red. They use atomics of the host, since blocks may run on several OS threads.
#include <cstring>
#include <type_traits>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/semantics/updates.h"
#include "ptx/semantics/wide_accesses.h"
#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

template <class H>
struct AddHalves {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    const auto sum = [&](int shift) {
      const H x{static_cast<uint16_t>(old >> shift)}, y{static_cast<uint16_t>(b >> shift)};
      return uint32_t{H::from(x.value() + y.value()).bits} << shift;
    };
    return sum(0) | sum(16);
  }
};
template <class H>
struct AddHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    return H::from(H{old}.value() + H{b}.value()).bits;
  }
};

template <class Op, class X>
void update(Warp& warp, const Operation& operation) {
  using Bits = std::conditional_t<sizeof(X) == 8, uint64_t,
                                  std::conditional_t<sizeof(X) == 4, uint32_t, uint16_t>>;
  LanePointers pointers;
  find_pointers(warp, operation, sizeof(X), Touch::kUpdates, &pointers);
  const X* b = warp.lanes<X>(operation.src1);
  const X* c = operation.src2 != kNone ? warp.lanes<X>(operation.src2) : b;
  bool changed = false;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    auto* target = reinterpret_cast<Bits*>(pointers.at[lane]);
    Bits before = __atomic_load_n(target, __ATOMIC_SEQ_CST), after;
    do {
      X value;
      std::memcpy(&value, &before, sizeof(X));
      value = Op::apply(value, b[lane], c[lane]);
      std::memcpy(&after, &value, sizeof(X));
    } while (!__atomic_compare_exchange_n(target, &before, after, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    changed |= before != after;
    if (operation.dst != kNone) warp.lanes<Bits>(operation.dst)[lane] = before;
  }
  if (changed) steps_passed.add();
}

template <class Op>
Run of_signed_or_not(Type type) {
  switch (type) {
    case Type::kU32: return update<Op, uint32_t>;
    case Type::kS32: return update<Op, int32_t>;
    case Type::kU64: return update<Op, uint64_t>;
    case Type::kS64: return update<Op, int64_t>;
    default: return nullptr;
  }
}
template <class Op>
Run of_any_bits(Type type) {
  if (type == Type::kB16)
    return std::is_same_v<Op, Cas> || std::is_same_v<Op, Exch> ? update<Op, uint16_t> : nullptr;
  return type == Type::kB32   ? update<Op, uint32_t>
         : type == Type::kB64 ? update<Op, uint64_t>
                              : nullptr;
}

Run addition(Decoder& d, Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kS32: return update<Add, uint32_t>;
    case Type::kU64:
    case Type::kS64: return update<Add, uint64_t>;
    case Type::kF32: return update<Add, float>;
    case Type::kF64: return update<Add, double>;
    default: break;
  }
  if (!d.has("noftz")) return nullptr;
  switch (type) {
    case Type::kF16: return update<AddHalf<Half>, uint16_t>;
    case Type::kBF16: return update<AddHalf<BHalf>, uint16_t>;
    case Type::kF16x2: return update<AddHalves<Half>, uint32_t>;
    case Type::kBF16x2: return update<AddHalves<BHalf>, uint32_t>;
    default: return nullptr;
  }
}

}  // namespace

// Decodes atom d, [a], b{, c}{, policy} and red [a], b{, policy}.
Run atom(Decoder& d) {
  const bool returns = d.name() == "atom";
  const Space space = d.space();
  const std::string_view name =
      d.one_of({"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"});
  const Type type = d.type();
  d.operation.bytes = static_cast<uint8_t>(size_of(type));
  const size_t first = returns ? 1 : 0;
  d.need_operands_and_policy(first + (name == "cas" ? 3 : 2));
  if (returns && d.operand(0).kind != Operand::kNothing) d.operation.dst = d.to(0, type);
  d.address(first, space);
  d.operation.src1 = d.from(first + 1, type);
  if (name == "cas") d.operation.src2 = d.from(first + 2, type);
  if (type == Type::kB128) {
    const uint32_t lower[] = {d.operation.dst, d.operation.src1, d.operation.src2};
    for (const int i : {kUpperResult, kUpperSource1, kUpperSource2}) {
      if (lower[i] != kNone) d.operation.list[i] = lower[i] + 1;
    }
    return name == "cas" ? compare_and_swap_whole : exchange_whole;
  }
  if (name == "add") return addition(d, type);
  if (name == "exch") return of_any_bits<Exch>(type);
  if (name == "cas") return of_any_bits<Cas>(type);
  if (name == "and") return of_any_bits<And>(type);
  if (name == "or") return of_any_bits<Or>(type);
  if (name == "xor") return of_any_bits<Xor>(type);
  if (name == "min") return of_signed_or_not<Min>(type);
  if (name == "max") return of_signed_or_not<Max>(type);
  if (type != Type::kU32) return nullptr;
  return name == "inc" ? update<Inc, uint32_t> : name == "dec" ? update<Dec, uint32_t> : nullptr;
}

}  // namespace kernkit::simulator::ptx
