// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks: special registers, shared memory of other blocks, barrier.cluster, mbarriers
// of other blocks and multicast.
#include "cluster_fixture.h"

namespace kernkit::simulator {
namespace {

TEST_F(PtxClusters, SpecialRegisters) {
  // The digits of %r1 are the rank and the number of blocks, then along x: the index within the
  // cluster, the size of the cluster, the index of the cluster, and the size of the grid of
  // clusters.
  const std::string along_x =
      "mad.lo.u32 %r1, %rank, 10, %size;\n"
      "mov.u32 %r2, %cluster_ctaid.x; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mov.u32 %r2, %cluster_nctaid.x; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mov.u32 %r2, %clusterid.x; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mov.u32 %r2, %nclusterid.x; mad.lo.u32 %r1, %r1, 10, %r2;";
  const std::vector<uint32_t> out = run(text(along_x), {4, 1, 1}, {2, 1, 1});
  for (uint32_t block = 0; block < 4; ++block) {
    const uint32_t rank = block % 2, cluster = block / 2;
    EXPECT_EQ(out[32 * block], rank * 100000 + 20000 + rank * 1000 + 200 + cluster * 10 + 2);
  }
  EXPECT_EQ(run(text(along_x), {4, 1, 1}, {1, 1, 1})[96], 10134u);
}

TEST_F(PtxClusters, SizesAlongYAndZ) {
  const std::string body =
      "mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.z; mov.u32 %r5, "
      "%nctaid.y;\nmad.lo.u32 %r2, %r4, %r5, %r2; mul.lo.u32 %r2, %r2, %r3; mul.lo.u32 %r2, %r2, "
      "128;\n"
      "cvt.u64.u32 %y1, %r2; add.u64 %out, %out, %y1;\n"
      "mov.u32 %r1, %cluster_ctaid.y; mov.u32 %r2, %cluster_ctaid.z; mad.lo.u32 %r1, %r1, 10, "
      "%r2;\n"
      "mad.lo.u32 %r1, %r1, 10, %rank; mov.u32 %r2, %cluster_nctaid.y; mad.lo.u32 %r1, %r1, 10, "
      "%r2;\n"
      "mov.u32 %r2, %cluster_nctaid.z; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mov.u32 %r2, %clusterid.y; mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %clusterid.z;\n"
      "mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %nclusterid.y; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mov.u32 %r2, %nclusterid.z; mad.lo.u32 %r1, %r1, 10, %r2;";
  const std::vector<uint32_t> out = run(text(body), {1, 4, 2}, {1, 2, 2});
  for (uint32_t z = 0; z < 2; ++z) {
    for (uint32_t y = 0; y < 4; ++y) {
      const uint32_t rank = z * 2 + y % 2;
      EXPECT_EQ(out[32 * (z * 4 + y)],
                y % 2 * 100000000 + z * 10000000 + rank * 1000000 + 220000 + y / 2 * 1000 + 21);
    }
  }
}

// PTX that stores 100 * (index of the block) + (index of the thread) in each thread's element of
// shared memory.
const char* const kStoreOwn =
    "mad.lo.u32 %r2, %i, 4, %s; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r3, %r3, 100, %i;\n"
    "st.shared.u32 [%r2], %r3;\n";

// Each block reads the values that the next block of its cluster stored.
TEST_F(PtxClusters, SharedMemoryOfAnotherBlock) {
  const auto expect_next = [](const std::vector<uint32_t>& out) {
    for (uint32_t block = 0; block < 8; ++block) {
      const uint32_t next = block / 4 * 4 + (block + 1) % 4;
      for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[block * 32 + i], next * 100 + i);
    }
  };
  expect_next(
      run(text(std::string(kStoreOwn) + kSynchronise +
               "mapa.shared::cluster.u32 %r4, %r2, %peer; ld.shared::cluster.u32 %r1, [%r4];"
               "\n" +
               kSynchronise),
          {8, 1, 1}, {4, 1, 1}));
  // Generic addresses.
  expect_next(run(text(std::string(kStoreOwn) + kSynchronise +
                       "cvt.u64.u32 %y1, %r2; cvta.shared.u64 %y1, %y1; mapa.u64 %y2, %y1, %peer;\n"
                       "ld.u32 %r1, [%y2];\n" +
                       kSynchronise),
                  {8, 1, 1}, {4, 1, 1}));
}

TEST_F(PtxClusters, StoresAndAtomicsInAnotherBlock) {
  // Each thread stores in the shared memory of the next block, and increments a counter in the
  // shared memory of block 0.
  const std::string body =
      "mov.u32 %r5, 0; mad.lo.u32 %r2, %i, 4, %s; st.shared.u32 [%r2], %r5;\n" +
      std::string(kSynchronise) +
      "mapa.shared::cluster.u32 %r4, %r2, %peer; mad.lo.u32 %r3, %rank, 100, %i;\n"
      "@!%p0 st.shared::cluster.u32 [%r4], %r3;\n"
      "mapa.shared::cluster.u32 %r6, %s, 0; red.shared::cluster.add.u32 [%r6], 1;\n" +
      kSynchronise + "ld.shared.u32 %r1, [%r2];";
  const std::vector<uint32_t> out = run(text(body), {4, 1, 1}, {4, 1, 1});
  EXPECT_EQ(out[0], 128u) << "four blocks of 32 threads";
  for (uint32_t block = 0; block < 4; ++block) {
    EXPECT_EQ(out[32 * block + 7], (block + 3) % 4 * 100 + 7);
  }
}

TEST_F(PtxClusters, RanksOfAddresses) {
  const std::string body =
      "mapa.shared::cluster.u32 %r4, %s, %peer; getctarank.shared::cluster.u32 %r2, %r4;\n"
      "cvt.u64.u32 %y1, %s; cvta.shared.u64 %y1, %y1; getctarank.u64 %r3, %y1;\n"
      "mad.lo.u32 %r1, %r2, 10, %r3; isspacep.shared::cluster %p1, %y1;\n"
      "@%p1 add.u32 %r1, %r1, 100;";
  const std::vector<uint32_t> out = run(text(body), {2, 1, 1}, {2, 1, 1});
  EXPECT_EQ(out[0], 110u);
  EXPECT_EQ(out[32], 101u);
}

// The window of .shared::cta, and of .shared without a qualifier, contains only the block's own
// shared memory (PTX ISA, "isspacep"). The digits of %r1 are the results for an address of the
// block's own and of another block's shared memory.
TEST_F(PtxClusters, SpacesOfAddresses) {
  const auto test = [&](const std::string& space, uint32_t expected) {
    const std::vector<uint32_t> out =
        run(text("cvt.u64.u32 %y1, %s; cvta.shared.u64 %y1, %y1; mapa.u64 %y2, %y1, %peer;\n"
                 "mov.u32 %r1, 0; isspacep." +
                 space + " %p1, %y1;\n@%p1 add.u32 %r1, %r1, 10;\nisspacep." + space +
                 " %p2, %y2;\n@%p2 add.u32 %r1, %r1, 1;\n"),
            {2, 1, 1}, {2, 1, 1});
    EXPECT_EQ(out[0], expected) << space;
    EXPECT_EQ(out[32], expected) << space;
  };
  test("shared", 10);
  test("shared::cta", 10);
  test("shared::cluster", 11);
  test("global", 0);
}

// A thread of each block arrives at an mbarrier of block 0, and block 0 waits for the phase.
TEST_F(PtxClusters, MbarriersOfAnotherBlock) {
  const std::string body =
      "@%p0 mbarrier.init.shared.b64 [%b], %size;\nfence.mbarrier_init.release.cluster;\n" +
      std::string(kSynchronise) +
      "mapa.shared::cluster.u32 %r2, %s, 0; mad.lo.u32 %r2, %rank, 4, %r2; add.u32 %r3, %rank, 5;\n"
      "@%p0 st.shared::cluster.u32 [%r2], %r3; mapa.shared::cluster.u32 %r4, %b, 0;\n"
      "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\nmov.u32 %r1, 0;\n"
      "setp.ne.u32 %p1, %rank, 0;\n@%p1 bra end;\n"
      "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%b], 0;\n@!%p2 bra "
      "wait;\n"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s]; mad.lo.u32 %r1, %r1, 10, %r2;\n"
      "mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;\nend: " +
      kSynchronise;
  EXPECT_EQ(run(text(body), {4, 1, 1}, {4, 1, 1})[0], 5678u);
}

TEST_F(PtxClusters, Multicast) {
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = 1000 + i;
  // Block 0 copies 128 bytes of global memory to the blocks 0 and 2 by multicast; each of the two
  // blocks waits for its bytes.
  const std::string body =
      "@%p0 mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n"
      "mad.lo.u32 %r2, %i, 4, %s; st.shared.u32 [%r2], %i;\n" +
      std::string(kSynchronise) +
      "setp.eq.u32 %p1, %rank, 0; setp.eq.or.u32 %p2, %rank, 2, %p1;\n@!%p2 bra read;\n"
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128;\n@!%p1 bra wait;\n@!%p0 bra wait;\n"
      "mov.u16 %h1, 5;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], "
      "[%in], 128, [%b], %h1;\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra wait;\n"
      "read: ld.shared.u32 %r1, [%r2];\n" +
      kSynchronise;
  const std::vector<uint32_t> out = run(text(body), {4, 1, 1}, {4, 1, 1}, cudaSuccess, in);
  for (uint32_t block = 0; block < 4; ++block) {
    EXPECT_EQ(out[32 * block + 3], block % 2 == 0 ? 1003u : 3u) << block;
  }
}

// Returns PTX in which each block executes `store`, copies the first 128 bytes of its shared memory
// by `instruction` to the next 128 bytes of the next block, and loads the bytes that arrive.
// `store` writes the address of the thread's element into %r2.
std::string copy_to_peer(const std::string& store, const std::string& instruction) {
  return "@%p0 mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n" + store +
         "fence.proxy.async.shared::cta;\n" + kSynchronise +
         "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128;\n"
         "add.u32 %r5, %s, 128; mapa.shared::cluster.u32 %r4, %r5, %peer;\n"
         "mapa.shared::cluster.u32 %r6, %b, %peer;\n@%p0 " +
         instruction +
         " [%r4], [%s], 128, [%r6];\n"
         "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra wait;\n"
         "ld.shared.u32 %r1, [%r2+128];\n" +
         kSynchronise;
}

// A bulk copy from a block's shared memory into the shared memory of another block of the cluster.
TEST_F(PtxClusters, CopiesBetweenBlocks) {
  const std::string body = copy_to_peer(
      kStoreOwn, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes");
  const std::vector<uint32_t> out = run(text(body), {4, 1, 1}, {2, 1, 1});
  for (uint32_t block = 0; block < 4; ++block) {
    EXPECT_EQ(out[32 * block + 3], (block ^ 1) * 100 + 3) << block;
  }
}

// A cluster of more than 8 blocks needs an attribute of the kernel.
TEST_F(PtxClusters, SixteenBlocks) {
  PtxModule module(text(std::string(kStoreOwn) + kSynchronise +
                        "mapa.shared::cluster.u32 %r4, %r2, %peer; ld.shared::cluster.u32 %r1, "
                        "[%r4];\n" +
                        kSynchronise));
  uint32_t* out = memory<uint32_t>(16 * 32);
  ASSERT_EQ(cudaFuncSetAttribute(module.kernel("blocks"),
                                 cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  ASSERT_EQ(launch(module, {16, 1, 1}, {16, 1, 1}, out, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (uint32_t block = 0; block < 16; ++block) {
    EXPECT_EQ(out[block * 32 + 7], (block + 1) % 16 * 100 + 7);
  }
}

// A bulk reduction from a block's shared memory into the shared memory of another block of the
// cluster, for each operation and type.
TEST_F(PtxClusters, ReductionsBetweenBlocks) {
  const auto word = [](bool is_source, uint32_t rank, uint32_t i) {
    return is_source ? i * 0x9e3779b9u + rank * 77 : i * 0x85ebca6bu + rank;
  };
  const auto test = [&](const std::string& form, auto apply) {
    using T = decltype(apply({}, {}));
    const std::string body = copy_to_peer(
        "mad.lo.u32 %r2, %i, 4, %s; mul.lo.u32 %r3, %i, 0x9e3779b9;\n"
        "mad.lo.u32 %r3, %rank, 77, %r3; st.shared.u32 [%r2], %r3;\n"
        "mul.lo.u32 %r3, %i, 0x85ebca6b; add.u32 %r3, %r3, %rank; st.shared.u32 [%r2+128], %r3;\n",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + form);
    const std::vector<uint32_t> out = run(text(body), {2, 1, 1}, {2, 1, 1});
    for (uint32_t rank = 0; rank < 2; ++rank) {
      uint32_t sources[32], targets[32];
      for (uint32_t i = 0; i < 32; ++i) {
        sources[i] = word(true, 1 - rank, i);
        targets[i] = word(false, rank, i);
      }
      for (size_t at = 0; at < sizeof(sources); at += sizeof(T)) {
        T source, target, result;
        std::memcpy(&source, reinterpret_cast<char*>(sources) + at, sizeof(T));
        std::memcpy(&target, reinterpret_cast<char*>(targets) + at, sizeof(T));
        std::memcpy(&result, reinterpret_cast<const char*>(&out[size_t{32} * rank]) + at,
                    sizeof(T));
        EXPECT_EQ(result, apply(target, source)) << form << ", block " << rank << ", byte " << at;
      }
    }
  };
  test("and.b32", [](uint32_t x, uint32_t y) { return x & y; });
  test("or.b32", [](uint32_t x, uint32_t y) { return x | y; });
  test("xor.b32", [](uint32_t x, uint32_t y) { return x ^ y; });
  test("add.u32", [](uint32_t x, uint32_t y) { return x + y; });
  test("add.s32", [](int32_t x, int32_t y) {
    return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
  });
  test("add.u64", [](uint64_t x, uint64_t y) { return x + y; });
  test("min.u32", [](uint32_t x, uint32_t y) { return std::min(x, y); });
  test("min.s32", [](int32_t x, int32_t y) { return std::min(x, y); });
  test("max.u32", [](uint32_t x, uint32_t y) { return std::max(x, y); });
  test("max.s32", [](int32_t x, int32_t y) { return std::max(x, y); });
  test("inc.u32", [](uint32_t x, uint32_t y) { return x >= y ? 0 : x + 1; });
  test("dec.u32", [](uint32_t x, uint32_t y) { return x == 0 || x > y ? y : x - 1; });
}

// Without the attribute, a launch uses the cluster size that the kernel is compiled for.
TEST_F(PtxClusters, RequiredByTheKernel) {
  const std::string body = "mad.lo.u32 %r1, %size, 10, %rank;";
  const std::vector<uint32_t> out =
      run(text(body, ".explicitcluster\n.reqnctapercluster 2, 1, 1\n"), {4, 1, 1}, {1, 1, 1});
  EXPECT_EQ(out[64], 20u);
  EXPECT_EQ(out[96], 21u);
}

// Each thread stores 16 bytes in the shared memory of the next block, by st.async of each size.
TEST_F(PtxClusters, AsynchronousStores) {
  const std::string begin =
      "@%p0 mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n" +
      std::string(kSynchronise) +
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256;\n"
      "mad.lo.u32 %r2, %i, 16, %s; mapa.shared::cluster.u32 %r3, %r2, %peer;\n"
      "mapa.shared::cluster.u32 %r4, %b, %peer; mad.lo.u32 %r5, %rank, 100, %i;\n"
      "mov.b64 %y1, {%r5, %r5}; setp.ge.u32 %p2, %i, 16;\n@%p2 bra stored;\n";
  const std::string end =
      "stored:\nwait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b], 0;\n"
      "@!%p1 bra wait;\nand.b32 %r2, %i, 15; mad.lo.u32 %r2, %r2, 16, %s;\n"
      "ld.shared.u32 %r1, [%r2+12];\n" +
      std::string(kSynchronise);
  const std::string form = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.";
  const auto check = [&](const std::string& stores) {
    const std::vector<uint32_t> out = run(text(begin + stores + end), 4, 2);
    for (uint32_t block = 0; block < 4; ++block) {
      for (uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(out[block * 32 + i], (block + 1) % 2 * 100 + i % 16) << stores;
      }
    }
  };
  check(form + "v4.b32 [%r3], {%r5, %r5, %r5, %r5}, [%r4];\n");
  check(form + "v2.b64 [%r3], {%y1, %y1}, [%r4];\n");
  check(form + "v2.b32 [%r3], {%r5, %r5}, [%r4];\n" + form +
        "v2.b32 [%r3+8], {%r5, %r5}, [%r4];\n");
  check(form + "b64 [%r3], %y1, [%r4];\n" + form + "b64 [%r3+8], %y1, [%r4];\n");
  std::string words;
  for (int at = 0; at < 16; at += 4) {
    words += form + "b32 [%r3+" + std::to_string(at) + "], %r5, [%r4];\n";
  }
  check(words);
}

// All threads of a block reduce into one number in the shared memory of the next block.
TEST_F(PtxClusters, AsynchronousReductions) {
  const auto reduced = [&](const std::string& operation, uint32_t first) {
    const bool is_64 = operation == "add.u64";
    const std::string bytes = is_64 ? "256" : "128";
    const std::vector<uint32_t> out = run(
        text("@%p0 mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n"
             "mov.u32 %r2, " +
             std::to_string(first) +
             ";\n@%p0 st.shared.u32 [%s], %r2;\n"
             "mov.u32 %r2, 0;\n@%p0 st.shared.u32 [%s+4], %r2;\n" +
             std::string(kSynchronise) + "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%b], " +
             bytes +
             ";\n"
             "mapa.shared::cluster.u32 %r3, %s, %peer; mapa.shared::cluster.u32 %r4, %b, %peer;\n"
             "add.u32 %r5, %i, 5; cvt.u64.u32 %y1, %r5;\n"
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
             operation + " [%r3], " + (is_64 ? "%y1" : "%r5") +
             ", [%r4];\n"
             "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b], 0;\n"
             "@!%p1 bra wait;\nld.shared.u32 %r1, [%s];\n" +
             std::string(kSynchronise)),
        2, 2);
    EXPECT_EQ(out[0], out[32]) << operation;
    return out[0];
  };
  EXPECT_EQ(reduced("add.u32", 7), 7 + 31 * 16 + 32 * 5);
  EXPECT_EQ(reduced("add.s32", 7), 7 + 31 * 16 + 32 * 5);
  EXPECT_EQ(reduced("add.u64", 7), 7 + 31 * 16 + 32 * 5);
  EXPECT_EQ(reduced("min.u32", 7), 5u);
  EXPECT_EQ(reduced("min.s32", 7), 5u);
  EXPECT_EQ(reduced("max.u32", 7), 36u);
  EXPECT_EQ(reduced("max.s32", 7), 36u);
  EXPECT_EQ(reduced("and.b32", 7), 0u);
  EXPECT_EQ(reduced("or.b32", 64), 64u | 63u);
  EXPECT_EQ(reduced("xor.b32", 7), [] {
    uint32_t all = 7;
    for (uint32_t i = 0; i < 32; ++i) all ^= i + 5;
    return all;
  }());
  // The operands of the lanes are the limits 5 to 36; the initial value 40 is above all limits. The
  // order of the lanes is not specified: the first increment stores 0, and a later increment adds 1
  // or stores 0. A decrement stores the lane's limit or subtracts 1.
  EXPECT_LE(reduced("inc.u32", 40), 32u);
  EXPECT_LE(reduced("dec.u32", 40), 36u);
}

}  // namespace
}  // namespace kernkit::simulator
