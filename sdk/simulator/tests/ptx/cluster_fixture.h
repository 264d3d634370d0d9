// SPDX-License-Identifier: Apache-2.0
// PtxClusters: kernels whose blocks are in clusters.
#pragma once

#include "ptx_fixture.h"

namespace kernkit::simulator {

class PtxClusters : public Ptx {
 protected:
  // Returns a kernel of 32 threads with 256 bytes of shared memory at %s and an mbarrier at %b.
  // %rank is the rank of the block in its cluster, %size the number of blocks in the cluster, %peer
  // the rank of the next block, and %out the address of the thread's element.
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
  static cudaError_t launch(const PtxModule& module, dim3 grid, dim3 cluster, uint32_t* out,
                            const uint32_t* in) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = 32;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.attrs = &attribute;
    config.numAttrs = cluster.x * cluster.y * cluster.z == 1 ? 0 : 1;
    return module.launch_by(config, "blocks", out, in);
  }
  std::vector<uint32_t> run(const std::string& text, dim3 grid, dim3 cluster,
                            cudaError_t expected = cudaSuccess,
                            const std::vector<uint32_t>& in = {}) {
    PtxModule module(text);
    const uint32_t count = grid.x * grid.y * grid.z * 32;
    uint32_t* out = memory<uint32_t>(count);
    EXPECT_EQ(launch(module, grid, cluster, out, memory(in)), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
    if (expected != cudaSuccess) return {};
    EXPECT_EQ(fault(), "none");
    return std::vector<uint32_t>(out, out + count);
  }
};

/// Instructions that synchronise all threads of the cluster.
inline const char* const kSynchronise =
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

}  // namespace kernkit::simulator
