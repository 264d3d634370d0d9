// SPDX-License-Identifier: Apache-2.0
// Warp functions: shfl, vote, match, redux, activemask and elect. An operation with a mask of lanes
// runs when all lanes of the mask have arrived.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/simd/real_formats.h"
#include "ptx/simd/shuffle.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace shuffle_steps;  // NOLINT(build/namespaces): its own steps

template <class X>
void put_in_all(Warp& warp, const Operation& operation, X value) {
  X* d = warp.results<X>(operation.dst);
  each_lane([&](int l) { d[l] = value; });
  warp.keep<X>(operation.dst);
}

enum Vote : uint8_t { kBallot, kAny, kEvery, kUniform };

void count_votes(Warp& warp, const Operation& operation) {
  const uint32_t all = warp.predicate(operation.src0);
  const uint32_t yes = (operation.negated ? ~all : all) & warp.mask;
  switch (operation.mode) {
    case kBallot: return put_in_all<uint32_t>(warp, operation, yes);
    case kAny: return warp.set_predicate(operation.dst, yes != 0 ? Warp::kAll : 0);
    case kEvery: return warp.set_predicate(operation.dst, yes == warp.mask ? Warp::kAll : 0);
    default:
      return warp.set_predicate(operation.dst, yes == 0 || yes == warp.mask ? Warp::kAll : 0);
  }
}

template <class X>
void match_any(Warp& warp, const Operation& operation) {
  const X* a = warp.lanes<X>(operation.src0);
  uint32_t same[32];
  for (int l = 0; l < 32; ++l) {
    same[l] = 0;
    for (int k = 0; k < 32; ++k) same[l] |= a[k] == a[l] ? kLane[k] : 0;
  }
  auto* d = warp.results<uint32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) d[l] = same[l] & warp.mask;
  warp.keep<uint32_t>(operation.dst);
}
template <class X>
void match_all(Warp& warp, const Operation& operation) {
  const X* a = warp.lanes<X>(operation.src0);
  const X first = a[__builtin_ctz(warp.mask)];
  uint32_t same = 0;
  for (int l = 0; l < 32; ++l) same |= a[l] == first ? kLane[l] : 0;
  const bool all = (warp.mask & ~same) == 0;
  put_in_all<uint32_t>(warp, operation, all ? warp.mask : 0);
  if (operation.dst_predicate != kNone) {
    warp.set_predicate(operation.dst_predicate, all ? Warp::kAll : 0);
  }
}

struct Sum {
  template <class X>
  static X apply(X a, X b) {
    return a + b;
  }
};
struct Least {
  template <class X>
  static X apply(X a, X b) {
    return std::min(a, b);
  }
};
struct Most {
  template <class X>
  static X apply(X a, X b) {
    return std::max(a, b);
  }
};
struct And {
  static uint32_t apply(uint32_t a, uint32_t b) { return a & b; }
};
struct Or {
  static uint32_t apply(uint32_t a, uint32_t b) { return a | b; }
};
struct Xor {
  static uint32_t apply(uint32_t a, uint32_t b) { return a ^ b; }
};

template <class Op, class X>
void reduce(Warp& warp, const Operation& operation) {
  const X* a = warp.lanes<X>(operation.src0);
  X result = a[__builtin_ctz(warp.mask)];
  for (uint32_t remaining = warp.mask & (warp.mask - 1); remaining != 0;
       remaining &= remaining - 1) {
    result = Op::apply(result, a[__builtin_ctz(remaining)]);
  }
  put_in_all<X>(warp, operation, result);
}

// Executes redux.min and redux.max for .f32. With .NaN, a NaN makes the result NaN; otherwise NaNs
// are ignored. With .abs, magnitudes are reduced.
template <bool kLeast, bool kNan, bool kMagnitudes>
void reduce_floats(Warp& warp, const Operation& operation) {
  const float* a = warp.lanes<float>(operation.src0);
  float result = canonical(std::numeric_limits<float>::quiet_NaN());
  bool any_nan = false;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const float all = a[__builtin_ctz(remaining)];
    const float value = kMagnitudes ? std::fabs(all) : all;
    result = kLeast ? less_of(result, value) : more_of(result, value);
    any_nan |= value != value;
  }
  if (kNan && any_nan) result = canonical(std::numeric_limits<float>::quiet_NaN());
  put_in_all(warp, operation, result);
}
template <bool kLeast>
Run reduction_of_floats(Decoder& d) {
  const bool magnitudes = d.has("abs");
  if (d.has("NaN"))
    return magnitudes ? reduce_floats<kLeast, true, true> : reduce_floats<kLeast, true, false>;
  return magnitudes ? reduce_floats<kLeast, false, true> : reduce_floats<kLeast, false, false>;
}

void put_mask(Warp& warp, const Operation& operation) {
  put_in_all<uint32_t>(warp, operation, warp.mask);
}
void elect_first(Warp& warp, const Operation& operation) {
  const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(warp.mask));
  if (operation.dst != kNone) put_in_all<uint32_t>(warp, operation, lane);
  warp.set_predicate(operation.dst_predicate, kLane[lane]);
}

void sync_members(Decoder& d, size_t mask) {
  d.need_operands(mask + 1);
  if (!d.has("sync")) d.reject("expected .sync");
  d.operation.flow = Flow::kWarpSync;
  d.operation.members = d.from(mask, Type::kU32);
}
void take_predicate(Decoder& d) {
  const Operand& to = d.operand(0);
  if (!to.parts.empty() && to.parts[0].kind != Operand::kNothing) {
    d.operation.dst_predicate = d.to(to.parts[0], Type::kPred);
  }
}

}  // namespace

// Decodes shfl.sync d|p, a, b, c, mask.
Run shfl(Decoder& d) {
  const std::string_view how = d.one_of({"up", "down", "bfly", "idx"});
  if (how.empty()) return nullptr;
  const Type type = d.type();
  take_predicate(d);
  d.take({type, type, Type::kU32, Type::kU32});
  sync_members(d, 4);
  if (size_of(type) != 4) return nullptr;
  if (how == "up") return shuffle<kUp>;
  if (how == "down") return shuffle<kDown>;
  return how == "bfly" ? shuffle<kXor> : shuffle<kIndex>;
}

Run vote(Decoder& d) {
  const std::string_view name = d.one_of({"ballot", "any", "all", "uni"});
  if (name.empty()) return nullptr;
  d.operation.mode = name == "ballot" ? kBallot
                     : name == "any"  ? kAny
                     : name == "all"  ? kEvery
                                      : kUniform;
  d.operation.dst = d.to(0, d.type());
  d.operation.src0 = d.predicate_from(1);
  sync_members(d, 2);
  return count_votes;
}

Run match(Decoder& d) {
  const std::string_view how = d.one_of({"any", "all"});
  const Type type = d.type();
  take_predicate(d);
  d.operation.dst = d.to(0, Type::kB32);
  d.operation.src0 = d.from(1, type);
  sync_members(d, 2);
  if (how.empty() || size_of(type) < 4) return nullptr;
  const bool wide = size_of(type) == 8;
  if (how == "any") return wide ? match_any<uint64_t> : match_any<uint32_t>;
  return wide ? match_all<uint64_t> : match_all<uint32_t>;
}

Run redux(Decoder& d) {
  const std::string_view name = d.one_of({"add", "min", "max", "and", "or", "xor"});
  const Type type = d.type();
  d.operation.dst = d.to(0, type);
  d.operation.src0 = d.from(1, type);
  sync_members(d, 2);
  const bool is_s32 = type == Type::kS32;
  if (type == Type::kF32) {
    if (name == "min") return reduction_of_floats<true>(d);
    return name == "max" ? reduction_of_floats<false>(d) : nullptr;
  }
  if (size_of(type) != 4) return nullptr;
  if (name == "add") return reduce<Sum, uint32_t>;
  if (name == "min") return is_s32 ? reduce<Least, int32_t> : reduce<Least, uint32_t>;
  if (name == "max") return is_s32 ? reduce<Most, int32_t> : reduce<Most, uint32_t>;
  if (name == "and") return reduce<And, uint32_t>;
  if (name == "or") return reduce<Or, uint32_t>;
  return name == "xor" ? reduce<Xor, uint32_t> : nullptr;
}

Run activemask(Decoder& d) {
  d.operation.dst = d.to(0, d.type());
  return put_mask;
}

// Decodes elect.sync d|p, mask.
Run elect(Decoder& d) {
  take_predicate(d);
  if (d.operation.dst_predicate == kNone) return nullptr;
  if (d.operand(0).kind == Operand::kName) d.operation.dst = d.to(0, Type::kB32);
  sync_members(d, 1);
  return elect_first;
}

}  // namespace kernkit::simulator::ptx
