// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Video Instructions": vadd, vsub, vavrg, vabsdiff, vmin and vmax for two or four numbers
// in a register, such as vadd2 and vadd4, without selectors and masks.
#include <algorithm>
#include <cstdlib>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

enum class VideoOp : uint8_t { kAdd, kSub, kAverage, kDifference, kMin, kMax };

// Bits of Operation::mode; bits 0 to 2 are the VideoOp.
constexpr uint8_t kVideoSigned = 8, kSignedA = 16, kSignedB = 32;  // types of d, a and b
constexpr uint8_t kAccumulates = 64, kClampsVideo = 128;

int32_t video_result(VideoOp op, int32_t a, int32_t b) {
  switch (op) {
    case VideoOp::kAdd: return a + b;
    case VideoOp::kSub: return a - b;
    case VideoOp::kAverage: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOp::kDifference: return std::abs(a - b);
    case VideoOp::kMin: return std::min(a, b);
    case VideoOp::kMax: return std::max(a, b);
  }
  return 0;
}

template <int kCount>
uint32_t video_lane(uint8_t mode, uint32_t a, uint32_t b, uint32_t c) {
  constexpr int kBits = 32 / kCount;
  constexpr uint32_t kOnes = (uint32_t{1} << kBits) - 1;
  const auto part = [](uint32_t x, int i, bool is_signed_type) {
    const uint32_t bits = x >> kBits * i & kOnes;
    const auto extended = static_cast<int32_t>(bits << (32 - kBits)) >> (32 - kBits);
    return is_signed_type ? extended : static_cast<int32_t>(bits);
  };
  const bool is_signed_result = (mode & kVideoSigned) != 0;
  const int32_t most = static_cast<int32_t>(is_signed_result ? kOnes >> 1 : kOnes);
  const int32_t least = is_signed_result ? -most - 1 : 0;
  uint32_t d = (mode & kAccumulates) != 0 ? c : 0;
  for (int i = 0; i < kCount; ++i) {
    int32_t value = video_result(static_cast<VideoOp>(mode & 7), part(a, i, (mode & kSignedA) != 0),
                                 part(b, i, (mode & kSignedB) != 0));
    if ((mode & kClampsVideo) != 0) value = std::clamp(value, least, most);
    if ((mode & kAccumulates) != 0) {
      d += static_cast<uint32_t>(value);
    } else {
      d |= (static_cast<uint32_t>(value) & kOnes) << kBits * i;
    }
  }
  return d;
}

template <int kCount>
void video_lanes(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<uint32_t>(operation.src0), *b = warp.lanes<uint32_t>(operation.src1),
             *c = warp.lanes<uint32_t>(operation.src2);
  auto* d = warp.results<uint32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) d[l] = video_lane<kCount>(operation.mode, a[l], b[l], c[l]);
  warp.keep<uint32_t>(operation.dst);
}

}  // namespace

// Decodes vabsdiff4.u32.u32.u32{.sat|.add} d, a, b, c. Only .add uses c: in other forms, c provides
// the parts of the result that a mask leaves out, and masks are not supported.
Run video(Decoder& d) {
  static constexpr std::pair<std::string_view, VideoOp> kNames[] = {
      {"vadd", VideoOp::kAdd},      {"vsub", VideoOp::kSub},
      {"vavrg", VideoOp::kAverage}, {"vabsdiff", VideoOp::kDifference},
      {"vmin", VideoOp::kMin},      {"vmax", VideoOp::kMax}};
  const std::string_view name = d.name();
  uint8_t mode = 0;
  for (const auto& [name_of_op, op] : kNames) {
    if (name.substr(0, name.size() - 1) == name_of_op) mode = static_cast<uint8_t>(op);
  }
  for (const uint8_t sign : {kVideoSigned, kSignedA, kSignedB}) {
    if (d.type() == Type::kS32) mode |= sign;
  }
  if (d.has("add")) mode |= kAccumulates;
  if (d.has("sat")) mode |= kClampsVideo;
  d.need_operands(4);
  d.take(Type::kU32);
  d.operation.mode = mode;
  return name.back() == '4' ? video_lanes<4> : video_lanes<2>;
}

}  // namespace kernkit::simulator::ptx
