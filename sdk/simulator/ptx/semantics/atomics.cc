// SPDX-License-Identifier: Apache-2.0
// PTX ISA: atom and red. The instructions are executed by atomics of the host, since blocks may run
// on several OS threads.
#include <cstring>
#include <type_traits>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/semantics/updates.h"
#include "ptx/semantics/wide_accesses.h"
#include "ptx/simd/real_formats.h"
#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

// Operations of atom and red on 16-bit numbers, converted to float: `a` is the number in memory,
// `b` the operand of the instruction.
struct SumOf {
  static float apply(float a, float b) { return a + b; }
};
struct LeastOf {
  static float apply(float a, float b) { return less_of(a, b); }
};
struct GreatestOf {
  static float apply(float a, float b) { return more_of(a, b); }
};
template <class Op, class H>
struct OnHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    return H::from(Op::apply(H{old}.value(), H{b}.value())).bits;
  }
};
template <class Op, class H>
struct OnHalves {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    const auto half = [&](int shift) {
      const auto x = static_cast<uint16_t>(old >> shift), y = static_cast<uint16_t>(b >> shift);
      return uint32_t{OnHalf<Op, H>::apply(x, y, y)} << shift;
    };
    return half(0) | half(16);
  }
};

// Executes an atomic on one element. For the first element of a vector, Operation::mode is the size
// of the vector [bytes], so that the bounds of the whole vector are checked; otherwise 0.
template <class Op, class X>
void update(Warp& warp, const Operation& operation) {
  using Bits = std::conditional_t<sizeof(X) == 8, uint64_t,
                                  std::conditional_t<sizeof(X) == 4, uint32_t, uint16_t>>;
  LanePointers pointers;
  const uint32_t size = operation.mode != 0 ? operation.mode : static_cast<uint32_t>(sizeof(X));
  find_pointers(warp, operation, size, Touch::kUpdates, &pointers);
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

template <class Op>
Run on_halves(Type type) {
  switch (type) {
    case Type::kF16: return update<OnHalf<Op, Half>, uint16_t>;
    case Type::kBF16: return update<OnHalf<Op, BHalf>, uint16_t>;
    case Type::kF16x2: return update<OnHalves<Op, Half>, uint32_t>;
    case Type::kBF16x2: return update<OnHalves<Op, BHalf>, uint32_t>;
    default: return nullptr;
  }
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
  return d.has("noftz") ? on_halves<SumOf>(type) : nullptr;
}

Run operation_on_elements(Decoder& d, Type type) {
  if (d.has("add")) return addition(d, type);
  if (!d.has("noftz")) return nullptr;
  if (d.has("min")) return on_halves<LeastOf>(type);
  return d.has("max") ? on_halves<GreatestOf>(type) : nullptr;
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

// Decodes atom.v2 {d, e}, [a], {b, c}{, policy} and red.v2 [a], {b, c}{, policy}, which update each
// element by a separate atomic. Emits the operation of each element except the last.
Run vector_atom(Decoder& d) {
  const size_t first = d.name() == "atom" ? 1 : 0;
  const Space space = d.space();
  const std::string_view vector = d.one_of({"v2", "v4", "v8"});
  const auto count = static_cast<size_t>(vector[1] - '0');
  const Type type = d.type();
  const Run run = operation_on_elements(d, type);
  d.need_operands_and_policy(first + 2);
  const auto need_vector = [&](const Operand& operand) {
    const size_t found = operand.parts.size();
    if (found == count) return;
    d.reject("expected " + std::to_string(count) + " registers, found " + std::to_string(found));
  };
  if (first == 1) need_vector(d.operand(0));
  need_vector(d.operand(first + 1));
  Operation& operation = d.operation;
  operation.bytes = static_cast<uint8_t>(size_of(type));
  d.address(first, space);
  for (size_t i = 0; i < count; ++i) {
    operation.mode = static_cast<uint8_t>(i == 0 ? count * size_of(type) : 0);
    operation.src1 = d.from(d.operand(first + 1).parts[i], type);
    operation.dst = kNone;
    if (first == 1 && d.operand(0).parts[i].kind != Operand::kNothing) {
      operation.dst = d.to(d.operand(0).parts[i], type);
      for (size_t later = i + 1; later < count; ++later) {
        if (operation.dst != d.from(d.operand(first + 1).parts[later], type)) continue;
        d.reject("result " + d.operand(0).parts[i].name +
                 " is also the operand of a later element; expected different registers");
      }
    }
    if (i + 1 == count) break;
    d.emit_part(run);
    operation.offset += size_of(type);
  }
  return run;
}

}  // namespace kernkit::simulator::ptx
