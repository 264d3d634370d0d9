// SPDX-License-Identifier: Apache-2.0
// The functions that decode the operands of instructions and select the function that executes
// them. The comment above a group of functions gives their file in ptx/semantics/.
#pragma once

#include "ptx/isa/instruction.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

// integer.cc. For floating-point types, the functions call the functions of real.cc.
Run add(Decoder& d);
Run sub(Decoder& d);
Run mul(Decoder& d);
Run mad(Decoder& d);
Run div(Decoder& d);
Run rem(Decoder& d);
Run min(Decoder& d);
Run max(Decoder& d);
Run abs(Decoder& d);
Run neg(Decoder& d);

// carry.cc
Run carry(Decoder& d);
// integer_misc.cc
Run mul24(Decoder& d);
Run mad24(Decoder& d);
Run sad(Decoder& d);
Run dot(Decoder& d);
Run fns(Decoder& d);
Run slct(Decoder& d);
Run szext(Decoder& d);
Run cvt_pack(Decoder& d);
Run testp(Decoder& d);

// real.cc and half.cc. The functions return null for a type that their file does not support.
Run real_add(Decoder& d, Type type);
Run real_sub(Decoder& d, Type type);
Run real_mul(Decoder& d, Type type);
Run real_div(Decoder& d, Type type);
Run real_min(Decoder& d, Type type);
Run real_max(Decoder& d, Type type);
Run real_abs(Decoder& d, Type type);
Run real_neg(Decoder& d, Type type);
Run fma(Decoder& d);
Run mad_of_first_devices(Decoder& d);
Run rcp(Decoder& d);
Run sqrt(Decoder& d);
Run rsqrt(Decoder& d);
Run copysign(Decoder& d);
Run half_arithmetic(Decoder& d, Type type);

// approximate.cc
Run ex2(Decoder& d);
Run lg2(Decoder& d);
Run sin(Decoder& d);
Run cos(Decoder& d);
Run tanh(Decoder& d);

// bits.cc
Run logic(Decoder& d);
Run shl(Decoder& d);
Run shr(Decoder& d);
Run shf(Decoder& d);
Run bfe(Decoder& d);
Run bfi(Decoder& d);
Run bmsk(Decoder& d);
Run prmt(Decoder& d);
Run lop3(Decoder& d);
Run popc(Decoder& d);
Run clz(Decoder& d);
Run bfind(Decoder& d);
Run brev(Decoder& d);
Run cnot(Decoder& d);

// compare.cc
Run setp(Decoder& d);
Run set(Decoder& d);
// select.cc
Run selp(Decoder& d);
// convert.cc
Run cvt(Decoder& d);
// move.cc
Run mov(Decoder& d);
Run cvta(Decoder& d);
Run isspacep(Decoder& d);
Run mapa(Decoder& d);
Run getctarank(Decoder& d);
// load_store.cc
Run load(Decoder& d);
Run store(Decoder& d);
Run load_wide(Decoder& d);
Run store_wide(Decoder& d);
// copies.cc
Run cp(Decoder& d);
// bulk_copies.cc
Run bulk_copy(Decoder& d);
Run async_store(Decoder& d);
// mbarrier.cc
Run mbarrier(Decoder& d);
Run arrive_of_copies(Decoder& d);
// tensor_maps.cc
Run tensor_map(Decoder& d);
Run prefetch_map(Decoder& d);
// cache.cc
Run createpolicy(Decoder& d);
// matrix.cc
Run ldmatrix(Decoder& d);
Run stmatrix(Decoder& d);
Run mma(Decoder& d);
Run movmatrix(Decoder& d);
// video.cc
Run video(Decoder& d);
// warpgroup.cc
Run wgmma(Decoder& d);
// wmma.cc
Run wmma(Decoder& d);
// atomics.cc
Run atom(Decoder& d);
Run vector_atom(Decoder& d);
// warp_functions.cc
Run shfl(Decoder& d);
Run vote(Decoder& d);
Run match(Decoder& d);
Run redux(Decoder& d);
Run activemask(Decoder& d);
Run elect(Decoder& d);
// control.cc
Run bra(Decoder& d);
Run brx(Decoder& d);
Run ret(Decoder& d);
Run exit(Decoder& d);
Run trap(Decoder& d);
Run brkpt(Decoder& d);
Run bar(Decoder& d);
Run nanosleep(Decoder& d);
Run fence(Decoder& d);
Run proxy_fence(Decoder& d);
Run fence_of_maps(Decoder& d);
Run hint(Decoder& d);
// calls.cc
Run call(Decoder& d);

}  // namespace kernkit::simulator::ptx
