// SPDX-License-Identifier: Apache-2.0
// Reports about clusters: blocks out of range or ended, misuse of barrier.cluster, deadlocks.
#include "cluster_fixture.h"

namespace kernkit::simulator {
namespace {

class PtxClusterFaults : public PtxClusters {
 protected:
  std::string report(const std::string& body, cudaError_t expected = cudaErrorLaunchFailure) {
    run(text(body), {2, 1, 1}, {2, 1, 1}, expected);
    const std::string sentence = fault(), start = "blocks: ";
    return sentence.compare(0, start.size(), start) == 0 ? sentence.substr(start.size()) : sentence;
  }
};

TEST_F(PtxClusterFaults, AClusterOfMoreThanEightBlocks) {
  PtxModule module(text("mov.u32 %r1, %size;"));
  EXPECT_EQ(launch(module, {16, 1, 1}, {16, 1, 1}, memory<uint32_t>(16 * 32), nullptr),
            cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidClusterSize);
}
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
            "barrier.cluster.wait.aligned, which expects more threads (blocks.cu:9); block [1, 0, "
            "0]: 32 of the block's 32 threads wait at __syncthreads() of barrier 1, which expects "
            "more threads (blocks.cu:9)");
}

}  // namespace
}  // namespace kernkit::simulator
