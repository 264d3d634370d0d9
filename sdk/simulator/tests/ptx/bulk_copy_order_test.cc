// SPDX-License-Identifier: Apache-2.0
// Bulk copies in the simulator: when copies complete, invalid copies, and uninitialised bytes.
#include <set>

#include "bulk_copies_fixture.h"
#include "kernkit/simulator/initcheck.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxBulkCopyOrder : public PtxBulkCopies {};

// A load from shared memory before the wait for a bulk copy reads the old content.
TEST_F(PtxBulkCopyOrder, ALoadCompletesLate) {
  uint32_t *a = memory(std::vector<uint32_t>(2048, 9)), *b = memory<uint32_t>(2048);
  run("mbarrier.arrive.expect_tx.shared.b64 _, [%b], 8192;\n"
      "st.shared.u32 [%s], 5;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 8192, [%b];\n"
      "ld.shared.u32 %r1, [%s]; st.global.u32 [%b0], %r1;\n",
      std::string(kWait) + "ld.shared.u32 %r1, [%s];\n@!%p0 st.global.u32 [%b0+4], %r1;", a, b);
  EXPECT_EQ(b[0], 5u);
  EXPECT_EQ(b[1], 9u);
}

// With a seed other than 0, bulk copies complete at different times: without the wait, some seeds
// give a wrong result; with the wait, every seed gives the correct result.
TEST_F(PtxBulkCopyOrder, SeedsVaryTheCompletion) {
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

// cp.async.bulk.wait_group n leaves the last n groups pending. The copies of pending groups read
// their source bytes later.
TEST_F(PtxBulkCopyOrder, GroupsOfStores) {
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

class PtxBulkCopyFaults : public PtxBulkCopies {
 protected:
  std::string report(const std::string& one, void* a, const TensorDescription& map = {},
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
  TensorDescription unknown = map_of(a, {64, 8}, {8, 8});
  unknown.dimensions = 0;  // encode() then writes zeros
  EXPECT_EQ(report(load_text(2, {0, 0}, 16), a, unknown),
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes: the "
            "tensor map was not encoded by cuTensorMapEncodeTiled() (bulk.cu:20)");
}
// Reports a bulk copy by a tensor map that fills integers with NaN. cuTensorMapEncodeTiled()
// rejects this combination, but a kernel can write such a map.
TEST_F(PtxBulkCopyFaults, NansForIntegers) {
  uint16_t* a = memory<uint16_t>(64 * 40);
  TensorDescription map = map_of(a, {64, 40}, {8, 1});
  map.fill = 1;
  EXPECT_EQ(report(load_text(2, {0, 0}, 16), a, map),
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes: the "
            "tensor map fills elements out of bounds with NaN, and its elements are integers; "
            "expected fill_mode 0 or a floating-point elemtype (bulk.cu:20)");
}
// A tensor map in local memory is, for example, nvcc's copy of a parameter that is not declared
// __grid_constant__.
TEST_F(PtxBulkCopyFaults, ATensorMapInLocalOrSharedMemory) {
  constexpr struct {
    const char *space, *address;
  } kSpaces[] = {
      {"local", ".local .align 64 .b8 copy[128];\nmov.u64 %m, copy; cvta.local.u64 %m, %m;\n"},
      {"shared", "cvt.u64.u32 %m, %s; cvta.shared.u64 %m, %m;\n"}};
  constexpr struct {
    const char *form, *operands;
  } kForms[] = {
      {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
       "[%s], [%m, {0, 0}], [%b]"},
      {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", "[%m, {0, 0}], [%s]"},
      {"prefetch.tensormap", "[%m]"},
      {"fence.proxy.tensormap::generic.acquire.gpu", "[%m], 128"}};
  for (const auto& space : kSpaces) {
    for (const auto& form : kForms) {
      CudaRuntime runtime;  // new devices, since a fault ends the context
      runtime.run_kernels(true);
      uint16_t* a = memory<uint16_t>(64 * 8);
      EXPECT_EQ(report(std::string(space.address) + form.form + " " + form.operands + ";\n", a,
                       map_of(a, {64, 8}, {8, 8})),
                std::string(form.form) + ": the tensor map is in " + space.space +
                    " memory; expected a map in global or constant memory, or a kernel parameter "
                    "declared __grid_constant__ (bulk.cu:20)");
    }
  }
}
// A kernel writes a tensor map but omits one field. The use of the map must be reported.
TEST_F(PtxBulkCopyFaults, AMapOfAKernelLacksAField) {
  const std::string copy =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes: the "
      "tensor map ";
  const std::string is_incomplete =
      copy +
      "is incomplete; expected tensormap.replace for each global_dim, box_dim and "
      "element_stride (bulk.cu:30)";
  const std::vector<std::string> fields = fields_of_a_map(true);
  size_t incomplete = 0;
  for (const std::string& lacks : fields) {
    const auto has = [&](const char* name) { return lacks.find(name) != std::string::npos; };
    const bool is_box = has("box_dim") || has("global_dim") || has("element_stride");
    if (!is_box && !has("rank") && !has("global_address")) continue;
    std::string changes = kNoMap;
    for (const std::string& field : fields) changes += field == lacks ? "" : field;
    CudaRuntime runtime;  // new devices, since a fault ends the context
    runtime.run_kernels(true);
    uint16_t *a = memory<uint16_t>(64 * 8), *b = memory<uint16_t>(4096 + 64);
    run("", load_by_changed_map(changes), a, b, {},
        has("global_address") ? cudaErrorIllegalAddress : cudaErrorLaunchFailure);
    incomplete += is_box ? 1 : 0;
    const std::string expected =
        is_box        ? is_incomplete
        : has("rank") ? copy + "has 1 dimensions; expected 2 (bulk.cu:30)"
                      : "Invalid __global__ read of size 1024 bytes, in no allocation (bulk.cu:30)";
    EXPECT_EQ(fault(), "bulk: block [0, 0, 0], thread [0, 0, 0]: " + expected) << lacks;
  }
  EXPECT_EQ(incomplete, 6u);
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
  EXPECT_EQ(fault(),
            "bulk: block [0, 0, 0], thread [0, 0, 0]: 128 of the block's 128 threads wait at "
            "mbarrier.try_wait.parity.shared.b64 for phase 0 of the mbarrier at byte 8192 of "
            "shared memory "
            "(16 bytes missing) (bulk.cu:30)");
}

// initcheck treats bytes that a bulk copy stored as initialised if the source bytes are
// initialised.
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

// initcheck reports a bulk reduction into uninitialised global memory, since the reduction reads
// the memory. A bulk copy into such memory is not reported.
TEST_F(PtxBulkCopyFaults, InitcheckFollowsReductions) {
  const auto uses = [&](const char* copy, bool is_initialised) {
    uint32_t* a = nullptr;
    cudaMalloc(&a, 64);
    const InitCheck check;
    if (is_initialised) cudaMemset(a, 0, 64);
    run("mov.u32 %r0, 1; st.shared.v4.u32 [%s], {%r0,%r0,%r0,%r0};\n"
        "fence.proxy.async.shared::cta;\n" +
            std::string(copy) +
            " [%a+16], [%s], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
        "", a, a);
    cudaFree(a);
    std::vector<std::string> sentences;
    for (const UndefinedUse& use : check.uses()) sentences.push_back(use.sentence);
    return sentences;
  };
  const char* const reduction = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32";
  EXPECT_EQ(uses(reduction, true), std::vector<std::string>{});
  EXPECT_EQ(uses(reduction, false),
            std::vector<std::string>{
                "bulk: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits in an atomic at byte "
                "16 of 64 bytes of global memory (bulk.cu:20), read from byte 16 of 64 bytes of "
                "global memory (bulk.cu:20)"});
  EXPECT_EQ(uses("cp.async.bulk.global.shared::cta.bulk_group", false), std::vector<std::string>{});
}

// tensormap.cp_fenceproxy copies 128 bytes and does not read its destination. initcheck reports
// uninitialised bytes of its source only.
TEST_F(PtxBulkCopyFaults, InitcheckFollowsCopiesOfTensorMaps) {
  const auto uses = [&](const char* guard) {
    uint32_t* a = nullptr;
    uint32_t* b = nullptr;
    cudaMalloc(&a, 128);
    cudaMalloc(&b, 512);
    const InitCheck check;
    run("",
        "setp.ge.u32 %p2, %i, 32;\n@%p2 bra copied;\nmad.lo.u32 %r5, %i, 4, %s;\n" +
            std::string(guard) +
            " st.shared.u32 [%r5], %i;\nbar.warp.sync -1;\n"
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
            "aligned "
            "[%a], [%s], 128;\n"
            "mul.wide.u32 %y0, %i, 4; add.u64 %y1, %a, %y0; add.u64 %y2, %b0, %y0;\n.loc 1 31 3\n"
            "ld.global.u32 %r6, [%y1]; st.global.u32 [%y2], %r6;\ncopied:\n",
        a, b);
    cudaFree(a);
    cudaFree(b);
    std::vector<std::string> sentences;
    for (const UndefinedUse& use : check.uses()) sentences.push_back(use.sentence);
    return sentences;
  };
  EXPECT_EQ(uses(""), std::vector<std::string>{});
  EXPECT_EQ(uses("@%p0"),
            std::vector<std::string>{
                "bulk: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte 0 of "
                "128 bytes of global memory (bulk.cu:30), read from byte 0 of shared memory "
                "(bulk.cu:30)"});
}

// An uninitialised element of A of a wgmma product makes a row of the result D uninitialised, an
// uninitialised element of B a column of D. Copies of this row or column are uninitialised too.
class PtxAsyncInit : public PtxBulkCopies {
 protected:
  // Returns the reported uses of uninitialised bits in a kernel that computes a product by wgmma
  // and copies the result D to `b`. A is in the first 2048 bytes of shared memory, B in the
  // following 256 bytes. `store` runs after A and B have been filled with zeros.
  static std::string uses(const std::string& store, const std::string& scale = "1") {
    const std::string body =
        ".file 1 \"/src/init.cu\"\n.visible .entry init(.param .u64 b)\n{\n"
        ".reg .b64 %b, %da, %db;\n.reg .b32 %i, %s, %own, %r<5>;\n.reg .f32 %d<4>;\n"
        ".reg .pred %p<3>;\n.shared .align 1024 .b8 tile[4608];\n"
        "ld.param.u64 %b, [b]; mov.u32 %i, %tid.x; mov.u32 %s, tile;\n"
        "mad.lo.u32 %own, %i, 16, %s; setp.eq.u32 %p0, %i, 0; setp.lt.u32 %p1, %i, 16;\n"
        "setp.ne.u32 %p2, " +
        scale +
        ", 0;\n.loc 1 10 3\n"
        "mov.u32 %r0, 0;\nst.shared.v4.u32 [%own], {%r0,%r0,%r0,%r0};\n"
        "@%p1 st.shared.v4.u32 [%own+2048], {%r0,%r0,%r0,%r0};\n" +
        store +
        "\nshr.u32 %r2, %s, 4; cvt.u64.u32 %da, %r2; or.b64 %da, %da, 0x0000000800400000;\n"
        "add.u32 %r2, %r2, 128; cvt.u64.u32 %db, %r2; or.b64 %db, %db, 0x0000000800080000;\n"
        "fence.proxy.async.shared::cta;\nbar.sync 0;\n.loc 1 20 3\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %da, %db, %p2, 1, 1, "
        "0, "
        "0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "mad.lo.u32 %r3, %i, 16, %s;\n.loc 1 21 3\n"
        "st.shared.v4.f32 [%r3+2560], {%d0,%d1,%d2,%d3};\n"
        "fence.proxy.async.shared::cta;\nbar.sync 0;\n.loc 1 22 3\n"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%b], [%s+2560], 2048;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";
    PtxModule module(body, "sm_90a");
    uint32_t* b = nullptr;
    cudaMalloc(&b, 2048);
    const InitCheck check;
    EXPECT_EQ(module.launch("init", 1, 128, 0, b), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(b);
    std::string all;
    for (const UndefinedUse& use : check.uses())
      all += std::to_string(use.count) + ": " + use.sentence + "\n";
    return all;
  }
};
TEST_F(PtxAsyncInit, FollowsProductsAndStores) {
  const std::string zeros = "0";  // scale-d is false: the product does not read D
  EXPECT_EQ(uses("", zeros), "");
  const std::string undefined = ".loc 1 15 3\nld.shared.u32 %r4, [%s+4600];\n";
  // An uninitialised element in row 0 of A makes row 0 of D uninitialised: two elements of 4 bytes
  // in each of 4 lanes.
  const std::string of_a = uses(undefined + "@%p0 st.shared.u32 [%s], %r4;\n", zeros);
  EXPECT_NE(
      of_a.find("4: init: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to byte "
                "0 of 2048 bytes of global memory (init.cu:22)"),
      std::string::npos)
      << of_a;
  // Uninitialised elements in column 2 of B make column 2 of D uninitialised: two elements in each
  // of 32 lanes.
  const std::string of_b = uses(undefined + "@%p0 st.shared.u32 [%s+2080], %r4;\n", zeros);
  EXPECT_NE(of_b.find("32: init: block [0, 0, 0], thread [0, 0, 0]: Uninitialized bits written to "
                      "byte 16 of 2048 bytes of global memory (init.cu:22)"),
            std::string::npos)
      << of_b;
  const std::string of_c = uses("", "1");
  EXPECT_NE(of_c.find("128: init: block"), std::string::npos) << of_c;
}

}  // namespace
}  // namespace kernkit::simulator
