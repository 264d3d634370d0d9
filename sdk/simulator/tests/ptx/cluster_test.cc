// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks: special registers, shared memory of other blocks, barrier.cluster, mbarriers
// of other blocks and multicast.
#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxClusters : public Ptx {
 protected:
  // A kernel of 32 threads with 256 bytes of shared memory at %s and an mbarrier at %b. %rank and
  // %size describe the cluster, %out is the address of the thread's element.
  static std::string text(const std::string& body, const std::string& directive = "") {
    return ".file 1 \"/src/blocks.cu\"\n.visible .entry blocks(.param .u64 out, .param .u64 in)\n" +
           directive +
           "{\n.reg .b64 %out, %in, %y<6>;\n.reg .b32 %i, %s, %b, %rank, %size, %peer, %r<9>;\n"
           ".reg .b16 %h<3>;\n.reg .pred %p<4>;\n"
           ".shared .align 128 .b8 tile[256];\n.shared .align 8 .b64 bar;\n"
           "ld.param.u64 %out, [out]; ld.param.u64 %in, [in];\n"
           "mov.u32 %i, %tid.x; mov.u32 %r0, %ctaid.x; mad.lo.u32 %r0, %r0, 32, %i;\n"
           "mul.wide.u32 %y0, %r0, 4; add.u64 %out, %out, %y0;\n"
           "mov.u32 %s, tile; mov.u32 %b, bar; mov.u32 %rank, %cluster_ctarank;\n"
           "mov.u32 %size, %cluster_nctarank; setp.eq.u32 %p0, %i, 0;\n"
           "add.u32 %peer, %rank, 1; rem.u32 %peer, %peer, %size;\n.loc 1 9 3\n" +
           body + "\nst.global.u32 [%out], %r1;\nret;\n}\n";
  }
  std::vector<uint32_t> run(const std::string& text, dim3 grid, dim3 cluster,
                            cudaError_t expected = cudaSuccess,
                            const std::vector<uint32_t>& in = {}) {
    PtxModule module(text);
    const uint32_t count = grid.x * grid.y * grid.z * 32;
    uint32_t* out = memory<uint32_t>(count);
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = 32;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.attrs = &attribute;
    config.numAttrs = cluster.x * cluster.y * cluster.z == 1 ? 0 : 1;
    EXPECT_EQ(module.launch_by(config, "blocks", out, memory(in)), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
    if (expected != cudaSuccess) return {};
    EXPECT_EQ(fault(), "none");
    return std::vector<uint32_t>(out, out + count);
  }
};

TEST_F(PtxClusters, SpecialRegisters) {
  // Digits: rank, size, index within the cluster, size of the cluster, index of the cluster, size
  // of the grid of clusters, along x.
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

// Each block reads what the next block of its cluster stored.
const char* const kStoreOwn =
    "mad.lo.u32 %r2, %i, 4, %s; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r3, %r3, 100, %i;\n"
    "st.shared.u32 [%r2], %r3;\n";
const char* const kSynchronise = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

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
  // Each thread stores in the next block, and all blocks count in block 0.
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

// A thread of each block arrives at an mbarrier of block 0, which waits.
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
  // Block 0 sends 128 bytes to the blocks 0 and 2; each block waits for its bytes.
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

// A bulk copy from shared memory into shared memory of another block.
TEST_F(PtxClusters, CopiesBetweenBlocks) {
  const std::string body =
      "@%p0 mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n" +
      std::string(kStoreOwn) + "fence.proxy.async.shared::cta;\n" + kSynchronise +
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 128;\n"
      "add.u32 %r5, %s, 128; mapa.shared::cluster.u32 %r4, %r5, %peer;\n"
      "mapa.shared::cluster.u32 %r6, %b, %peer;\n"
      "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [%s], "
      "128, "
      "[%r6];\nwait: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra wait;\n"
      "ld.shared.u32 %r1, [%r2+128];\n" +
      kSynchronise;
  const std::vector<uint32_t> out = run(text(body), {4, 1, 1}, {2, 1, 1});
  for (uint32_t block = 0; block < 4; ++block) {
    EXPECT_EQ(out[32 * block + 3], (block ^ 1) * 100 + 3) << block;
  }
}

// The cluster that a kernel is compiled for applies to launches without the attribute.
TEST_F(PtxClusters, RequiredByTheKernel) {
  const std::string body = "mad.lo.u32 %r1, %size, 10, %rank;";
  const std::vector<uint32_t> out =
      run(text(body, ".explicitcluster\n.reqnctapercluster 2, 1, 1\n"), {4, 1, 1}, {1, 1, 1});
  EXPECT_EQ(out[64], 20u);
  EXPECT_EQ(out[96], 21u);
}

class PtxClusterFaults : public PtxClusters {
 protected:
  std::string report(const std::string& body, cudaError_t expected = cudaErrorLaunchFailure) {
    run(text(body), {2, 1, 1}, {2, 1, 1}, expected);
    const std::string sentence = fault(), start = "blocks: ";
    return sentence.compare(0, start.size(), start) == 0 ? sentence.substr(start.size()) : sentence;
  }
};

TEST_F(PtxClusterFaults, ARankOutOfRange) {
  EXPECT_EQ(
      report("mov.u32 %r2, 2; mapa.shared::cluster.u32 %r3, %s, %r2;", cudaErrorIllegalAddress),
      "block [0, 0, 0], thread [0, 0, 0]: requests block 2 of a cluster of 2 blocks "
      "(blocks.cu:9)");
}
TEST_F(PtxClusterFaults, SharedMemoryOfABlockThatHasEnded) {
  EXPECT_EQ(
      report("setp.eq.u32 %p1, %rank, 0;\n@%p1 bra end;\n"
             "mapa.shared::cluster.u32 %r3, %s, 0; ld.shared::cluster.u32 %r1, [%r3];\nend:",
             cudaErrorIllegalAddress),
      "block [1, 0, 0], thread [0, 0, 0]: Invalid __shared__ read of size 4 bytes, of block 0 "
      "of the cluster, which has ended (blocks.cu:9)");
}
TEST_F(PtxClusterFaults, OutsideOfTheSharedMemoryOfAnotherBlock) {
  EXPECT_EQ(
      report("mapa.shared::cluster.u32 %r3, %s, %peer; ld.shared::cluster.u32 %r1, [%r3+264];\n" +
                 std::string(kSynchronise),
             cudaErrorIllegalAddress),
      "block [0, 0, 0], thread [0, 0, 0]: Invalid __shared__ read of size 4 bytes, at byte 264 "
      "of 264 bytes of shared memory of another block (blocks.cu:9)");
}
TEST_F(PtxClusterFaults, AWaitWithoutAnArrival) {
  EXPECT_EQ(report("barrier.cluster.wait.aligned;"),
            "block [0, 0, 0], thread [0, 0, 0]: barrier.cluster.wait.aligned: the thread has not "
            "arrived; expected barrier.cluster.arrive before this wait (blocks.cu:9)");
}
TEST_F(PtxClusterFaults, TwoArrivals) {
  EXPECT_EQ(report("barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;"),
            "block [0, 0, 0], thread [0, 0, 0]: barrier.cluster.arrive.aligned: the thread has "
            "arrived already; expected barrier.cluster.wait before this arrival (blocks.cu:9)");
}
TEST_F(PtxClusterFaults, ADeadlockOfTwoBlocks) {
  EXPECT_EQ(report("setp.eq.u32 %p1, %rank, 0;\n@%p1 bra wait;\nbar.sync 1, 64;\nwait: " +
                   std::string(kSynchronise)),
            "block [0, 0, 0], thread [0, 0, 0]: 32 of the block's 32 threads wait at "
            "barrier.cluster.wait.aligned, which expects more threads (blocks.cu:9)");
}

}  // namespace
}  // namespace kernkit::simulator
