// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global and shared memory, of bytes and of boxes of tensors.
#include <numeric>
#include <set>

#include "kernkit/simulator/initcheck.h"
#include "ptx_fixture.h"
#include "simulator_target.h"
#include "tensor_map.h"

namespace kernkit::simulator {
namespace {

constexpr uint32_t kTile = 8192;  // shared memory of the tests [bytes]

class PtxBulkCopies : public Ptx {
 protected:
  // A kernel of 128 threads with 8192 bytes of shared memory at %s and an mbarrier at %b that
  // expects one arrival. `a` and `b` are pointers to global memory, `map` is a tensor map. The part
  // `one` runs in thread 0, `all` in all threads, after a barrier.
  static std::string text(const std::string& one, const std::string& all) {
    return ".file 1 \"/src/bulk.cu\"\n.visible .entry bulk(.param .u64 a, .param .u64 b, "
           ".param .align 64 .b8 map[128])\n{\n"
           ".reg .b64 %a, %b0, %m, %y<4>;\n.reg .b32 %i, %s, %b, %r<9>;\n.reg .pred %p<4>;\n"
           ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
           "ld.param.u64 %a, [a]; ld.param.u64 %b0, [b]; mov.u32 %i, %tid.x;\n"
           "mov.b64 %m, map; cvta.param.u64 %m, %m;\n"
           "mov.u32 %s, tile; mov.u32 %b, bar; setp.ne.u32 %p0, %i, 0;\n@%p0 bra initialised;\n"
           "mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n"
           "initialised: bar.sync 0;\n@%p0 bra issued;\n.loc 1 20 3\n" +
           one + "\nissued: .loc 1 30 3\n" + all + "\nret;\n}\n";
  }
  void run(const std::string& one, const std::string& all, void* a, void* b,
           const TensorMap& map = {}, cudaError_t expected = cudaSuccess) {
    PtxModule module(text(one, all));
    struct alignas(64) Map {
      unsigned char bytes[128];
    } parameter{};
    std::memcpy(parameter.bytes, static_cast<const void*>(&map), sizeof(map));
    EXPECT_EQ(module.launch("bulk", 1, 128, 0, a, b, parameter), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
    if (expected != cudaSuccess) return;
    EXPECT_EQ(fault(), "none");
  }
  // A tensor of consecutive 16-bit numbers from 1.
  std::vector<uint16_t> numbers(size_t count) {
    std::vector<uint16_t> all(count);
    std::iota(all.begin(), all.end(), uint16_t{1});
    return all;
  }
};

const char* const kWait =
    "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%b], 0;\n@!%p1 bra wait;\n";
// Copies shared memory to `b`, 64 bytes for each thread.
std::string copy_out() {
  std::string text =
      "mul.lo.u32 %r1, %i, 64; add.u32 %r2, %s, %r1; cvt.u64.u32 %y1, %r1;\n"
      "add.u64 %y1, %b0, %y1;\n";
  for (int at = 0; at < 64; at += 4) {
    const std::string offset = std::to_string(at);
    text += "ld.shared.u32 %r3, [%r2+" + offset + "]; st.global.u32 [%y1+" + offset + "], %r3;\n";
  }
  return text;
}
// Fills shared memory with 32-bit numbers: the index of each word plus `first`.
std::string fill(uint32_t first) {
  std::string text =
      "mul.lo.u32 %r1, %i, 64; add.u32 %r2, %s, %r1; mul.lo.u32 %r3, %i, 16;\n"
      "add.u32 %r3, %r3, " +
      std::to_string(first) + ";\n";
  for (int at = 0; at < 64; at += 4) {
    text += "st.shared.u32 [%r2+" + std::to_string(at) + "], %r3; add.u32 %r3, %r3, 1;\n";
  }
  return text + "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
}

TEST_F(PtxBulkCopies, Load) {
  std::vector<uint32_t> in(2048);
  std::iota(in.begin(), in.end(), 7u);
  uint32_t *a = memory(in), *b = memory<uint32_t>(2048);
  run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 4096, [%b];\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s+4096], "
      "[%a+4096], 4096, [%b], 0x12;\n",
      kWait + copy_out(), a, b);
  EXPECT_EQ(std::vector<uint32_t>(b, b + 2048), in);
}

// Before the wait, shared memory has its old content.
TEST_F(PtxBulkCopies, ALoadCompletesLate) {
  uint32_t *a = memory(std::vector<uint32_t>(2048, 9)), *b = memory<uint32_t>(2048);
  run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\n"
      "st.shared.u32 [%s], 5;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 8192, [%b];\n"
      "ld.shared.u32 %r1, [%s]; st.global.u32 [%b0], %r1;\n",
      std::string(kWait) + "ld.shared.u32 %r1, [%s];\n@!%p0 st.global.u32 [%b0+4], %r1;", a, b);
  EXPECT_EQ(b[0], 5u);
  EXPECT_EQ(b[1], 9u);
}

// With a seed, copies complete at different times: some seeds show a missing wait, and every seed
// computes the result of a program with the wait.
TEST_F(PtxBulkCopies, SeedsVaryTheCompletion) {
  const auto first_words = [&](const std::string& wait) {
    std::set<uint32_t> words;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      CudaRuntime runtime;
      runtime.run_kernels(true);
      runtime.set_seed(seed);
      uint32_t *a = memory(std::vector<uint32_t>(2048, 9)), *b = memory<uint32_t>(2048);
      run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\nst.shared.u32 [%s], 5;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 8192, "
          "[%b];\n",
          "bar.sync 0;\nbar.sync 0;\n" + wait +
              "ld.shared.u32 %r1, [%s];\n@!%p0 st.global.u32 [%b0], %r1;",
          a, b);
      words.insert(b[0]);
    }
    return words;
  };
  EXPECT_EQ(first_words(""), (std::set<uint32_t>{5, 9}));
  EXPECT_EQ(first_words(kWait), (std::set<uint32_t>{9}));
}

TEST_F(PtxBulkCopies, Store) {
  uint32_t* b = memory<uint32_t>(2048);
  run("",
      fill(100) +
          "@%p0 bra end;\n"
          "cp.async.bulk.global.shared::cta.bulk_group [%b0], [%s], 8192;\n"
          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:",
      nullptr, b);
  for (uint32_t i = 0; i < 2048; ++i) EXPECT_EQ(b[i], 100 + i);
}

// wait_group n leaves the last n groups pending, whose bytes are read later.
TEST_F(PtxBulkCopies, GroupsOfStores) {
  const auto stored = [&](const std::string& wait) {
    uint32_t* b = memory<uint32_t>(8);
    run("",
        fill(100) +
            "@%p0 bra end;\n"
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%b0], [%s], 16, 7;\n"
            "cp.async.bulk.commit_group;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%b0+16], [%s+16], 16;\n"
            "cp.async.bulk.commit_group;\n" +
            wait + "st.shared.u32 [%s], 1; st.shared.u32 [%s+16], 1;\nend:",
        nullptr, b);
    return std::vector<uint32_t>{b[0], b[4]};
  };
  EXPECT_EQ(stored(""), (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(stored("cp.async.bulk.wait_group 1;\n"), (std::vector<uint32_t>{100, 1}));
  EXPECT_EQ(stored("cp.async.bulk.wait_group.read 0;\n"), (std::vector<uint32_t>{100, 104}));
}

TEST_F(PtxBulkCopies, Reductions) {
  const auto test = [&](const std::string& form, auto apply) {
    using T = decltype(apply({}, {}));
    constexpr size_t kCount = 64 / sizeof(T);
    std::vector<T> first(kCount), second(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      first[i] = static_cast<T>(i % 5 + 3);
      second[i] = static_cast<T>(i % 7);
    }
    T *a = memory(second), *b = memory(first);
    run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 64, [%b];\n",
        std::string(kWait) + "@%p0 bra end;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." +
            form +
            " [%b0], [%s], 64;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
            "end:",
        a, b);
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(b[i], apply(first[i], second[i])) << form;
  };
  const auto add = [](auto x, auto y) { return static_cast<decltype(x)>(x + y); };
  test("add.u32", [&](uint32_t x, uint32_t y) { return add(x, y); });
  test("add.s32", [&](int32_t x, int32_t y) { return add(x, y); });
  test("add.u64", [&](uint64_t x, uint64_t y) { return add(x, y); });
  test("add.f32", [&](float x, float y) { return add(x, y); });
  test("add.f64", [&](double x, double y) { return add(x, y); });
  test("min.u32", [](uint32_t x, uint32_t y) { return std::min(x, y); });
  test("min.s64", [](int64_t x, int64_t y) { return std::min(x, y); });
  test("max.s32", [](int32_t x, int32_t y) { return std::max(x, y); });
  test("max.u64", [](uint64_t x, uint64_t y) { return std::max(x, y); });
  test("inc.u32", [](uint32_t x, uint32_t y) { return x >= y ? 0 : x + 1; });
  test("dec.u32", [](uint32_t x, uint32_t y) { return x == 0 || x > y ? y : x - 1; });
  test("and.b32", [](uint32_t x, uint32_t y) { return x & y; });
  test("or.b64", [](uint64_t x, uint64_t y) { return x | y; });
  test("xor.b32", [](uint32_t x, uint32_t y) { return x ^ y; });
}

TEST_F(PtxBulkCopies, ReductionsOfHalves) {
  // 1.5 + 2.25 = 3.75 in float16 and in bfloat16.
  const auto test = [&](const std::string& form, uint16_t x, uint16_t y, uint16_t sum) {
    uint16_t *a = memory(std::vector<uint16_t>(8, y)), *b = memory(std::vector<uint16_t>(8, x));
    run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 16, [%b];\n",
        std::string(kWait) + "@%p0 bra end;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." +
            form +
            " [%b0], [%s], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
            "end:",
        a, b);
    EXPECT_EQ(std::vector<uint16_t>(b, b + 8), std::vector<uint16_t>(8, sum)) << form;
  };
  test("add.noftz.f16", 0x3e00, 0x4080, 0x4380);
  test("add.noftz.bf16", 0x3fc0, 0x4010, 0x4070);
  test("max.f16", 0x3e00, 0x4080, 0x4080);
  test("min.bf16", 0x3fc0, 0x4010, 0x3fc0);
}

// A tensor map of 16-bit numbers, row-major.
TensorMap map_of(const void* address, std::vector<uint64_t> sizes, std::vector<uint16_t> box,
                 uint8_t swizzle = 0, std::vector<uint8_t> steps = {}) {
  TensorMap map;
  map.type = 1;  // CU_TENSOR_MAP_DATA_TYPE_UINT16
  map.dimensions = static_cast<uint8_t>(sizes.size());
  map.swizzle = swizzle;
  map.element_bytes = 2;
  map.address = reinterpret_cast<uint64_t>(address);
  uint64_t stride = 2;
  for (size_t d = 0; d < sizes.size(); ++d) {
    map.sizes[d] = sizes[d];
    map.box[d] = box[d];
    map.steps[d] = steps.empty() ? 1 : steps[d];
    stride *= sizes[d];
    if (d + 1 < sizes.size()) map.strides[d] = stride;
  }
  return map;
}

// The element of a row-major tensor at coordinates, 0 outside of the tensor.
uint16_t element(const std::vector<uint16_t>& all, const TensorMap& map,
                 const std::vector<int64_t>& at) {
  size_t index = 0;
  for (int d = map.dimensions; d-- > 0;) {
    if (at[d] < 0 || static_cast<uint64_t>(at[d]) >= map.sizes[d]) return 0;
    index = index * map.sizes[d] + static_cast<size_t>(at[d]);
  }
  return all[index];
}

std::string load_text(int dimensions, const std::vector<int>& first, uint32_t bytes) {
  std::string coordinates;
  for (const int c : first) coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(c);
  return "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " + std::to_string(bytes) +
         ";\nprefetch.tensormap [%m];\ncp.async.bulk.tensor." + std::to_string(dimensions) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {" + coordinates +
         "}], [%b];\n";
}

// Boxes inside of a tensor, and boxes that extend past each of its ends, with and without swizzles
// and traversal strides.
TEST_F(PtxBulkCopies, TensorLoads) {
  struct Case {
    std::vector<uint64_t> sizes;
    std::vector<uint16_t> box;
    std::vector<int> first;
    uint8_t swizzle;
    std::vector<uint8_t> steps;
  };
  const Case cases[] = {{{512}, {256}, {100}, 0, {}},
                        {{512}, {64}, {-30}, 0, {}},
                        {{512}, {64}, {500}, 0, {}},
                        {{64, 40}, {64, 32}, {0, 3}, 3, {}},
                        {{64, 40}, {32, 40}, {8, 5}, 2, {}},
                        {{64, 40}, {16, 64}, {56, -7}, 1, {}},
                        {{64, 40}, {64, 20}, {16, 30}, 0, {}},
                        {{64, 40}, {64, 32}, {0, 1}, 0, {1, 4}},
                        {{64, 40}, {64, 32}, {3, 0}, 0, {2, 1}},
                        {{32, 9, 7}, {32, 4, 3}, {0, 7, 5}, 2, {}},
                        {{16, 5, 4, 3}, {16, 2, 2, 2}, {8, 1, 2, 2}, 1, {}},
                        {{16, 5, 4, 3, 2}, {16, 3, 2, 2, 2}, {-8, 1, 2, 2, 1}, 0, {}}};
  int number = 0;
  for (const Case& c : cases) {
    size_t count = 1;
    for (const uint64_t size : c.sizes) count *= size;
    const std::vector<uint16_t> in = numbers(count);
    uint16_t *a = memory(in), *b = memory<uint16_t>(kTile / 2);
    const TensorMap map = map_of(a, c.sizes, c.box, c.swizzle, c.steps);
    const int dimensions = map.dimensions;
    run(load_text(dimensions, c.first, map.box_bytes()), kWait + copy_out(), a, b, map);
    for (uint32_t i = 0; i < map.box_bytes() / 2; ++i) {
      std::vector<int64_t> at;
      uint32_t remaining = i;
      for (int d = 0; d < dimensions; ++d) {
        at.push_back(c.first[d] + int64_t{remaining % map.elements(d)} * map.steps[d]);
        remaining /= map.elements(d);
      }
      // The tile is aligned to 1024 bytes, so that offsets are swizzled like addresses. Reference:
      // the 16-byte unit of a 128-byte line, combined with bits of the line's number.
      const uint32_t unit = 2 * i / 16, line = 2 * i / 128;
      const uint32_t units = 1u << c.swizzle;
      const uint32_t swizzled_unit = unit ^ (line % units);
      const uint32_t index = swizzled_unit * 8 + i % 8;
      ASSERT_EQ(b[index], element(in, map, at)) << "case " << number << ", element " << i;
    }
    ++number;
  }
}

// Elements outside of the tensor are not stored.
TEST_F(PtxBulkCopies, TensorStores) {
  for (const uint8_t swizzle : {uint8_t{0}, uint8_t{3}}) {
    uint16_t* b = memory(std::vector<uint16_t>(64 * 8, 5));
    const TensorMap map = map_of(b, {64, 8}, {64, 4}, swizzle);
    run("",
        fill(0) +
            "@%p0 bra end;\n"
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {16, 6}], [%s];\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:",
        nullptr, b, map);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 64; ++x) {
        uint32_t expected = 5;
        if (y >= 6 && x >= 16) {
          const auto offset = static_cast<uint32_t>((y - 6) * 128 + (x - 16) * 2);
          const uint32_t at = swizzle == 0 ? offset : offset ^ (offset / 128 % 8) * 16;
          expected = at / 4 >> 16 * (at / 2 % 2) & 0xffff;  // words hold their indices
        }
        ASSERT_EQ(b[y * 64 + x], expected) << x << ' ' << y;
      }
    }
  }
}

TEST_F(PtxBulkCopies, TensorReductions) {
  uint32_t* b = memory(std::vector<uint32_t>(64, 1000));
  TensorMap map = map_of(b, {16, 4}, {16, 4});
  map.type = 2;  // CU_TENSOR_MAP_DATA_TYPE_UINT32
  map.element_bytes = 4;
  map.strides[0] = 64;
  run("",
      fill(3) +
          "@%p0 bra end;\n"
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%m, {0, 0}], "
          "[%s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:",
      nullptr, b, map);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(b[i], 1003 + i);
}

TEST_F(PtxBulkCopies, PrefetchesHaveNoEffect) {
  uint32_t* a = memory<uint32_t>(64);
  run("cp.async.bulk.prefetch.L2.global [%a], 64;\n"
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {0, 0}];\n",
      "", a, a, map_of(a, {16, 8}, {16, 4}));
}

class PtxBulkCopyFaults : public PtxBulkCopies {
 protected:
  std::string report(const std::string& one, void* a, const TensorMap& map = {},
                     cudaError_t expected = cudaErrorLaunchFailure) {
    run(one, "", a, a, map, expected);
    const std::string sentence = fault(), start = "bulk: block [0, 0, 0], thread [0, 0, 0]: ";
    return sentence.compare(0, start.size(), start) == 0 ? sentence.substr(start.size()) : sentence;
  }
};

TEST_F(PtxBulkCopyFaults, OutsideOfMemory) {
  EXPECT_EQ(report("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], "
                   "256, [%b];\n",
                   memory<uint32_t>(32), {}, cudaErrorIllegalAddress),
            "Invalid __global__ read of size 256 bytes, 0 bytes after an allocation of 128 bytes "
            "(bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, OutsideOfSharedMemory) {
  EXPECT_EQ(report("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+8128], "
                   "[%a], 256, [%b];\n",
                   memory<uint32_t>(64), {}, cudaErrorIllegalAddress),
            "Invalid __shared__ write of size 256 bytes, at byte 8128 of 8200 bytes of shared "
            "memory (bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, Alignment) {
  EXPECT_EQ(
      report("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+8], [%a], "
             "64, [%b];\n",
             memory<uint32_t>(64), {}, cudaErrorMisalignedAddress),
      "Invalid __shared__ write of size 64 bytes, at a misaligned address (bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, Size) {
  EXPECT_EQ(report("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], "
                   "24, [%b];\n",
                   memory<uint32_t>(64), {}, cudaErrorMisalignedAddress),
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes: the size is 24 "
            "bytes; expected a multiple of 16 bytes (bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, DimensionsOfATensorMap) {
  uint16_t* a = memory<uint16_t>(64 * 8);
  EXPECT_EQ(report(load_text(2, {0, 0}, 16), a, map_of(a, {64}, {8})),
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes: the "
            "tensor map has 1 dimensions; expected 2 (bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, AnotherObjectThanATensorMap) {
  uint16_t* a = memory<uint16_t>(64 * 8);
  TensorMap unknown = map_of(a, {64, 8}, {8, 8});
  unknown.magic = 7;
  EXPECT_EQ(report(load_text(2, {0, 0}, 16), a, unknown),
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes: the "
            "tensor map was not encoded by cuTensorMapEncodeTiled() (bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, ATensorLargerThanItsAllocation) {
  uint16_t* a = memory<uint16_t>(64 * 8);
  EXPECT_EQ(
      report(load_text(2, {0, 8}, 1024), a, map_of(a, {64, 9}, {64, 8}), cudaErrorIllegalAddress),
      "Invalid __global__ read of size 128 bytes, 0 bytes after an allocation of 1024 bytes "
      "(bulk.cu:20)");
}
TEST_F(PtxBulkCopyFaults, AWrongNumberOfBytes) {
  uint32_t* a = memory<uint32_t>(64);
  run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 144;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 128, [%b];\n",
      kWait, a, a, {}, cudaErrorLaunchFailure);
  EXPECT_EQ(
      fault(),
      "bulk: block [0, 0, 0], thread [0, 0, 0]: 128 of the block's 128 threads wait at "
      "mbarrier.try_wait.parity.shared.b64 for the mbarrier at byte 8192 of shared memory (16 "
      "bytes missing) (bulk.cu:30)");
}

// The bytes of a copy are as initialised as their source.
TEST_F(PtxBulkCopyFaults, InitcheckFollowsCopies) {
  const auto uses = [&](bool is_initialised) {
    uint32_t *a = nullptr, *b = nullptr;
    cudaMalloc(&a, kTile);
    cudaMalloc(&b, kTile);
    const InitCheck check;
    if (is_initialised) cudaMemset(a, 1, kTile);
    run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 8192, "
        "[%b];\n",
        kWait + copy_out(), a, b);
    cudaFree(a);
    cudaFree(b);
    return check.uses().size();
  };
  EXPECT_EQ(uses(true), 0u);
  EXPECT_GT(uses(false), 0u);
}

}  // namespace
}  // namespace kernkit::simulator
