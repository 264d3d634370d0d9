// SPDX-License-Identifier: Apache-2.0
// Loops of integer, bit, comparison, conversion and memory instructions, compiled a second time for
// AVX2.
#include <iterator>

#include "ptx/simd/bits.h"
#include "ptx/simd/compare.h"
#include "ptx/simd/convert.h"
#include "ptx/simd/integer.h"
#include "ptx/simd/memory.h"
#include "ptx/simd/move.h"
#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace {

namespace bits = bit_steps;
namespace compares = compare_steps;
namespace converts = convert_steps;
namespace integer = integer_steps;
namespace memory = memory_steps;
namespace moves = move_steps;

using U16 = uint16_t;
using U32 = uint32_t;
using U64 = uint64_t;
using S32 = int32_t;
using S64 = int64_t;

}  // namespace

Steps integers() {
  static constexpr Run kSteps[] = {
      binary<integer::Add, U16, U16>,
      binary<integer::Add, U32, U32>,
      binary<integer::Add, U64, U64>,
      binary<integer::Sub, U16, U16>,
      binary<integer::Sub, U32, U32>,
      binary<integer::Sub, U64, U64>,
      binary<integer::MulLo, U16, U16>,
      binary<integer::MulLo, U32, U32>,
      binary<integer::MulLo, U64, U64>,
      binary<integer::MulHi, U32, U32>,
      binary<integer::MulHi, S32, S32>,
      binary<integer::MulWide, U64, U32>,
      binary<integer::MulWide, S64, S32>,
      ternary<integer::Mad<integer::MulLo>, U32, U32>,
      ternary<integer::Mad<integer::MulLo>, U64, U64>,
      ternary<integer::Mad<integer::MulWide>, U64, U32, U32, U64>,
      ternary<integer::Mad<integer::MulWide>, S64, S32, S32, S64>,
      binary<integer::Min, U32, U32>,
      binary<integer::Min, S32, S32>,
      binary<integer::Max, U32, U32>,
      binary<integer::Max, S32, S32>,
      binary<integer::Min, S64, S64>,
      binary<integer::Max, S64, S64>,
      unary<integer::Neg, U32, U32>,
      unary<integer::Abs, S32, S32>,

      binary<bits::And, U16, U16>,
      binary<bits::And, U32, U32>,
      binary<bits::And, U64, U64>,
      binary<bits::Or, U16, U16>,
      binary<bits::Or, U32, U32>,
      binary<bits::Or, U64, U64>,
      binary<bits::Xor, U32, U32>,
      binary<bits::Xor, U64, U64>,
      unary<bits::Not, U32, U32>,
      binary<bits::Shl, U32, U32, U32>,
      binary<bits::Shl, U64, U64, U32>,
      binary<bits::Shr, U16, U16, U32>,
      binary<bits::Shr, U32, U32, U32>,
      binary<bits::Shr, S32, S32, U32>,
      binary<bits::Shr, U64, U64, U32>,
      binary<bits::Shr, S64, S64, U32>,
      ternary<bits::Shf<true, true>, U32, U32>,
      ternary<bits::Shf<false, true>, U32, U32>,
      ternary<bits::Prmt, U32, U32>,
      ternary<bits::Bfe, U32, U32, U32, U32>,
      bits::insert<U32>,
      bits::lop3_lanes,

      compares::set_predicates<U16, false>,
      compares::set_predicates<U32, false>,
      compares::set_predicates<S32, false>,
      compares::set_predicates<U64, false>,
      compares::set_predicates<S64, false>,
      compares::set_predicates<float, false>,
      compares::set_predicates<float, true>,
      compares::set_predicates<double, false>,

      unary<moves::Same, U16, U16>,
      unary<moves::Same, U32, U32>,
      unary<moves::Same, U64, U64>,
      moves::pack<U32, U16>,
      moves::pack<U64, U32>,
      moves::unpack<U32, U16>,
      moves::unpack<U64, U32>,
      moves::select<U16>,
      moves::select<U32>,
      moves::select<U64>,
      moves::offset,

      unary<converts::To<U32>, U32, U16>,
      unary<converts::To<U64>, U64, U32>,
      unary<converts::To<U64>, U64, S32>,
      unary<converts::To<U32>, U32, U64>,
      unary<converts::To<U16>, U16, U32>,
      unary<converts::To<float>, float, S32>,
      unary<converts::To<float>, float, U32>,
      unary<converts::To<double>, double, float>,
      unary<converts::Widen<Half>, float, Half>,
      unary<converts::Widen<BHalf>, float, BHalf>,
      unary<converts::Narrow<Half>, Half, float>,
      unary<converts::Narrow<BHalf>, BHalf, float>,
      converts::narrow_two<Half, false>,
      converts::narrow_two<BHalf, false>,

      memory::load_lanes<uint8_t, U16>,
      memory::load_lanes<U16, U16>,
      memory::load_lanes<U32, U32>,
      memory::load_lanes<U64, U64>,
      memory::store_lanes<U16, U16>,
      memory::store_lanes<U32, U32>,
      memory::store_lanes<U64, U64>,
  };
  return {kSteps, std::size(kSteps)};
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
