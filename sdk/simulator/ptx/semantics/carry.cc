// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Extended-Precision Integer Arithmetic Instructions". CC.CF is the carry of an adder, as
// on devices: a - b is a + ~b + 1, so CC.CF is 1 after a subtraction without a borrow. The code
// that nvcc generates for 128-bit division adds this 1.
#include <type_traits>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

enum Kind : uint8_t { kAdds, kSubtracts, kLowProduct, kHighProduct };

template <class X>
std::make_unsigned_t<X> product(X a, X b, bool high) {
  __extension__ using Wide = std::conditional_t<std::is_signed_v<X>, __int128, unsigned __int128>;
  const Wide wide_product = static_cast<Wide>(a) * b;
  return static_cast<std::make_unsigned_t<X>>(high ? wide_product >> 8 * sizeof(X) : wide_product);
}

// Executes additions and subtractions with carry. The carry flag is a predicate register: src3 on
// input, dst_predicate on output.
template <class X>
void carry_lanes(Warp& warp, const Operation& operation) {
  using U = std::make_unsigned_t<X>;
  const X *a = warp.lanes<X>(operation.src0), *b = warp.lanes<X>(operation.src1);
  const X* c = operation.src2 != kNone ? warp.lanes<X>(operation.src2) : b;
  const uint32_t without = operation.mode == kSubtracts ? Warp::kAll : 0;
  const uint32_t before = operation.src3 != kNone ? warp.predicate(operation.src3) : without;
  uint32_t after = 0;
  U* d = warp.results<U>(operation.dst);
  for (int l = 0; l < 32; ++l) {
    const U carry = (before & kLane[l]) != 0 ? 1 : 0;
    const bool multiplies = operation.mode == kLowProduct || operation.mode == kHighProduct;
    const U x =
        multiplies ? product(a[l], b[l], operation.mode == kHighProduct) : static_cast<U>(a[l]);
    const U y = static_cast<U>(operation.mode == kSubtracts ? ~c[l] : c[l]);
    const U sum = x + y;
    after |= sum < x || (carry != 0 && sum == static_cast<U>(~U{0})) ? kLane[l] : 0;
    d[l] = sum + carry;
  }
  warp.keep<U>(operation.dst);
  if (operation.dst_predicate != kNone) warp.set_predicate(operation.dst_predicate, after);
}

// Executes madc.hi.sat.s32, which clamps the sum to the range of the type.
void add_saturated(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<int32_t>(operation.src0), *b = warp.lanes<int32_t>(operation.src1),
             *c = warp.lanes<int32_t>(operation.src2);
  const uint32_t carries = warp.predicate(operation.src3);
  auto* d = warp.results<int32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) {
    const int64_t high = int64_t{a[l]} * b[l] >> 32;
    const int64_t sum = high + c[l] + ((carries & kLane[l]) != 0 ? 1 : 0);
    d[l] = static_cast<int32_t>(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
  }
  warp.keep<int32_t>(operation.dst);
}

}  // namespace

// Decodes add.cc, addc, addc.cc, sub.cc, subc and subc.cc, and mad.cc, madc and madc.cc with .lo or
// .hi.
Run carry(Decoder& d) {
  const std::string_view name = d.name();
  const bool is_product = name.substr(0, 3) == "mad";
  const std::string_view part = is_product ? d.one_of({"lo", "hi"}) : "";
  if (is_product && part.empty()) return nullptr;
  d.operation.mode = part == "lo"                 ? kLowProduct
                     : part == "hi"               ? kHighProduct
                     : name.substr(0, 3) == "sub" ? kSubtracts
                                                  : kAdds;
  const bool gives = d.has("cc");
  const Type type = d.type();
  d.need_operands(is_product ? 4 : 3);
  d.take(type);
  if (name.back() == 'c') d.operation.src3 = d.carry();
  if (gives) d.operation.dst_predicate = d.carry();
  if (d.has("sat")) return type == Type::kS32 && part == "hi" ? add_saturated : nullptr;
  switch (type) {
    case Type::kU32: return carry_lanes<uint32_t>;
    case Type::kS32: return carry_lanes<int32_t>;
    case Type::kU64: return carry_lanes<uint64_t>;
    case Type::kS64: return carry_lanes<int64_t>;
    default: return nullptr;
  }
}

}  // namespace kernkit::simulator::ptx
