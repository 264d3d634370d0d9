// SPDX-License-Identifier: Apache-2.0
// The counters of memory requests: sectors, wavefronts and lanes, also per source line.
#include "kernkit/simulator/counters.h"

#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxCounters : public Ptx {
 protected:
  // Returns the counters of a kernel in which %i is the number of the thread and %x is the address
  // of x.
  KernelCounters count(const std::string& body, void* x, dim3 grid = 1, dim3 block = 32) {
    PtxModule module(
        ".file 1 \"/src/counted.cu\"\n.visible .entry counted(.param .u64 x)\n{\n"
        ".reg .b64 %x, %y<4>;\n.reg .b32 %i, %r<9>;\n.reg .pred %p<4>;\n"
        ".shared .align 16 .b8 tile[8192];\n"
        "ld.param.u64 %x, [x];\nmov.u32 %i, %tid.x;\n.loc 1 12 3\n" +
        body + "\nret;\n}\n");
    const Counting counting;
    const cudaError_t error = module.launch("counted", grid, block, 0, x);
    EXPECT_EQ(error != cudaSuccess ? error : cudaDeviceSynchronize(), cudaSuccess) << fault();
    return counting.kernel();
  }
  SharedTraffic count_shared(const std::string& body, void* x) {
    return count(body, x).counters.shared_loads;
  }
  // Returns instructions that set %y1 to the address x + i * bytes in thread i.
  static std::string apart(int bytes) {
    return "mul.lo.u32 %r1, %i, " + std::to_string(bytes) +
           ";\ncvt.u64.u32 %y1, %r1;\nadd.u64 %y1, %x, %y1;\n";
  }
};

// Returns the traffic as text, such as "1 requests of 32 lanes: 128 bytes, 4 sectors, 4 needed, 4
// unique": the sectors, the fewest sectors for the bytes, and the distinct sectors of the launch.
std::string text(const GlobalTraffic& t) {
  return std::to_string(t.requests) + " requests of " + std::to_string(t.lanes) +
         " lanes: " + std::to_string(t.bytes) + " bytes, " + std::to_string(t.sectors) +
         " sectors, " + std::to_string(t.fewest_sectors) + " needed, " +
         std::to_string(t.unique_sectors) + " unique";
}
std::string text(const SharedTraffic& t) {
  return std::to_string(t.requests) + " requests of " + std::to_string(t.lanes) +
         " lanes: " + std::to_string(t.bytes) + " bytes, " + std::to_string(t.wavefronts) +
         " wavefronts, " + std::to_string(t.fewest_wavefronts) + " needed";
}

TEST_F(PtxCounters, SectorsOfALoad) {
  char* x = memory<char>(8192);
  const auto load = [&](int bytes_apart, int first, const char* operands = "u32 %r2") {
    return text(
        count(apart(bytes_apart) + "ld.global." + operands + ", [%y1];", x + first).counters.loads);
  };
  EXPECT_EQ(load(4, 0), "1 requests of 32 lanes: 128 bytes, 4 sectors, 4 needed, 4 unique");
  EXPECT_EQ(load(4, 4), "1 requests of 32 lanes: 128 bytes, 5 sectors, 5 needed, 5 unique");
  EXPECT_EQ(load(8, 0), "1 requests of 32 lanes: 128 bytes, 8 sectors, 4 needed, 8 unique");
  EXPECT_EQ(load(128, 0), "1 requests of 32 lanes: 128 bytes, 32 sectors, 4 needed, 32 unique");
  EXPECT_EQ(load(0, 0), "1 requests of 32 lanes: 128 bytes, 1 sectors, 1 needed, 1 unique");
  EXPECT_EQ(load(16, 0, "v4.u32 {%r2, %r3, %r4, %r5}"),
            "1 requests of 32 lanes: 512 bytes, 16 sectors, 16 needed, 16 unique");
  EXPECT_EQ(load(1, 31, "u8 %r2"),
            "1 requests of 32 lanes: 32 bytes, 2 sectors, 2 needed, 2 unique");
}

// ldmatrix needs one wavefront per matrix if the matrix's rows are in different banks. wmma.load
// makes one request per register.
TEST_F(PtxCounters, MatricesOfAWarp) {
  char* x = memory<char>(8192);
  const auto rows = [&](int bytes_apart, int count) {
    const std::string registers = count == 4 ? "{%r2, %r3, %r4, %r5}" : "{%r2, %r3}";
    return text(count_shared("mov.u32 %r1, tile;\nmad.lo.u32 %r1, %i, " +
                                 std::to_string(bytes_apart) +
                                 ", %r1;\nldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                 ".shared.b16 " + registers + ", [%r1];",
                             x));
  };
  EXPECT_EQ(rows(16, 4), "1 requests of 32 lanes: 512 bytes, 4 wavefronts, 4 needed");
  EXPECT_EQ(rows(16, 2), "1 requests of 16 lanes: 256 bytes, 2 wavefronts, 2 needed");
  EXPECT_EQ(rows(128, 4), "1 requests of 32 lanes: 512 bytes, 32 wavefronts, 4 needed");
  const std::string load =
      "wmma.load.b.sync.aligned.col.m16n16k16.global.bf16 {%r1, %r2, %r3, %r4}, [%x], 16;";
  EXPECT_EQ(text(count(load, x).counters.loads),
            "4 requests of 128 lanes: 512 bytes, 32 sectors, 18 needed, 16 unique");
}

TEST_F(PtxCounters, BackwardsIsNoStride) {
  const std::string body = "sub.u32 %i, 31, %i;\n" + apart(4) + "st.global.u32 [%y1], %i;";
  EXPECT_EQ(text(count(body, memory<int>(32)).counters.stores),
            "1 requests of 32 lanes: 128 bytes, 4 sectors, 4 needed, 4 unique");
}

TEST_F(PtxCounters, RatiosOfAScalarLoadAndAStride) {
  int* x = memory<int>(4096);
  const GlobalTraffic scalar = count(apart(4) + "ld.global.u32 %r2, [%y1];", x).counters.loads;
  EXPECT_EQ(scalar.requests_ratio(), 4);
  EXPECT_EQ(scalar.excess(), 0);
  const GlobalTraffic stride = count(apart(32) + "ld.global.u32 %r2, [%y1];", x).counters.loads;
  EXPECT_EQ(stride.excess(), 7);
  EXPECT_EQ(stride.moved_bytes(), 1024u);
}

// Each of 512 threads copies 16 bytes. The instructions `load` and `more` cause the traffic that
// over_budget() compares with the budget of this copy.
TEST_F(PtxCounters, WhatIsOverABudget) {
  char* x = memory<char>(1 << 17);
  const auto over = [&](const std::string& load, const std::string& more = "") {
    const std::string body = "mov.u32 %r5, %ctaid.x;\nmad.lo.u32 %i, %r5, 128, %i;\n" + apart(16) +
                             ".loc 1 20 3\n" + load + "\n.loc 1 21 3\n" + more +
                             "\nst.global.v4.u32 [%y1+65536], {%r2, %r3, %r4, %r5};";
    return over_budget(count(body, x, 4, 128), {8192, 8192});
  };
  const char* const kPack = "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%y1];";
  EXPECT_EQ(over(kPack), "");
  EXPECT_EQ(over("ld.global.u32 %r2, [%y1];\nld.global.u32 %r3, [%y1+4];\n"
                 "ld.global.u32 %r4, [%y1+8];\nld.global.u32 %r5, [%y1+12];"),
            "counted: loads: moves 1024, expected at most 307 sectors (counted.cu:20)");
  const std::string scalar =
      "mul.lo.u32 %r6, %i, 4;\ncvt.u64.u32 %y2, %r6;\nadd.u64 %y2, %x, %y2;\n"
      "ld.global.u32 %r2, [%y2];\nld.global.u32 %r3, [%y2+2048];\n"
      "ld.global.u32 %r4, [%y2+4096];\nld.global.u32 %r5, [%y2+6144];";
  EXPECT_EQ(over(scalar), "counted: loads: makes 64, expected at most 17 requests (counted.cu:20)");
  EXPECT_EQ(over("mul.wide.u32 %y2, %i, 32;\nadd.u64 %y2, %x, %y2;\n"
                 "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%y2];"),
            "counted: loads: moves 512, expected at most 259 sectors (counted.cu:20)");
  EXPECT_EQ(over(std::string(kPack) + kPack),
            "counted: loads: accesses 16384, expected at most 8274 bytes (counted.cu:20)");
  EXPECT_EQ(over(kPack, "st.global.u32 [%y1+65536], %r2;"),
            "counted: stores: accesses 10240, expected at most 8274 bytes (counted.cu:21)");
  // A kernel of four blocks that load the same 512 bytes.
  const KernelCounters again = count(apart(4) + "ld.global.u32 %r2, [%y1];", x, 4, 128);
  EXPECT_EQ(over_budget(again, {8192, 0, 4}), "");
  EXPECT_EQ(over_budget(again, {8192, 0, 4, 16, 512}), "");
  EXPECT_EQ(over_budget(again, {8192, 0, 4, 16, 256}),
            "counted: loads: touches 16, expected at most 8 different sectors (counted.cu:12)");
  EXPECT_EQ(over_budget(again, {8192, 0}),
            "counted: loads: makes 16, expected at most 4 requests (counted.cu:12)");
}

TEST_F(PtxCounters, OfLanesThatRun) {
  const std::string body = apart(4) +
                           "setp.lt.u32 %p1, %i, 5;\n@%p1 ld.global.u32 %r2, [%y1];\n"
                           "setp.gt.u32 %p2, %i, 99;\n@%p2 st.global.u32 [%y1], %r2;";
  const Counters counters = count(body, memory<int>(32)).counters;
  EXPECT_EQ(text(counters.loads), "1 requests of 5 lanes: 20 bytes, 1 sectors, 1 needed, 1 unique");
  EXPECT_EQ(counters.stores.requests, 0u);
}

TEST_F(PtxCounters, WavefrontsOfSharedMemory) {
  const auto store = [&](int bytes_apart, const char* operands = "u32 [%r1], %i") {
    const std::string body = "mov.u32 %r2, tile;\nmad.lo.u32 %r1, %i, " +
                             std::to_string(bytes_apart) + ", %r2;\nst.shared." + operands + ";";
    return text(count(body, memory<int>(1)).counters.shared_stores);
  };
  EXPECT_EQ(store(4), "1 requests of 32 lanes: 128 bytes, 1 wavefronts, 1 needed");
  EXPECT_EQ(store(8), "1 requests of 32 lanes: 128 bytes, 2 wavefronts, 1 needed");
  EXPECT_EQ(store(128), "1 requests of 32 lanes: 128 bytes, 32 wavefronts, 1 needed");
  EXPECT_EQ(store(132), "1 requests of 32 lanes: 128 bytes, 1 wavefronts, 1 needed");
  EXPECT_EQ(store(0), "1 requests of 32 lanes: 128 bytes, 1 wavefronts, 1 needed");
  EXPECT_EQ(store(1, "u8 [%r1], %i"), "1 requests of 32 lanes: 32 bytes, 1 wavefronts, 1 needed");
  EXPECT_EQ(store(8, "v2.u32 [%r1], {%i, %i}"),
            "1 requests of 32 lanes: 256 bytes, 2 wavefronts, 2 needed");
  EXPECT_EQ(store(16, "v4.u32 [%r1], {%i, %i, %i, %i}"),
            "1 requests of 32 lanes: 512 bytes, 4 wavefronts, 4 needed");
  EXPECT_EQ(store(32, "v4.u32 [%r1], {%i, %i, %i, %i}"),
            "1 requests of 32 lanes: 512 bytes, 8 wavefronts, 4 needed");
}

TEST_F(PtxCounters, Atomics) {
  const Counters counters = count(apart(4) +
                                      "red.global.add.u32 [%y1], 1;\nmov.u32 %r2, tile;\n"
                                      "st.shared.u32 [%r2], 0;\natom.shared.add.u32 %r3, [%r2], 1;",
                                  memory<int>(32))
                                .counters;
  EXPECT_EQ(text(counters.atomics),
            "1 requests of 32 lanes: 128 bytes, 4 sectors, 4 needed, 4 unique");
  EXPECT_EQ(counters.shared_atomics.lanes, 32u);
  EXPECT_EQ(counters.stores.requests, 0u);
}

// Stores through generic addresses count as traffic of the state space of each address: half of the
// lanes store to global memory, the other half to shared memory.
TEST_F(PtxCounters, GenericAddresses) {
  const std::string body = apart(4) +
                           "mov.u64 %y2, tile;\ncvta.shared.u64 %y2, %y2;\nsetp.lt.u32 %p1, %i, "
                           "16;\nselp.b64 %y1, %y1, %y2, %p1;\nst.u32 [%y1], %i;";
  const Counters counters = count(body, memory<int>(32)).counters;
  EXPECT_EQ(text(counters.stores),
            "1 requests of 16 lanes: 64 bytes, 2 sectors, 2 needed, 2 unique");
  EXPECT_EQ(counters.shared_stores.lanes, 16u);
}

TEST_F(PtxCounters, CopiesLoadAndStore) {
  const std::string body = apart(16) +
                           "mov.u32 %r2, tile;\nmad.lo.u32 %r1, %i, 16, %r2;\n"
                           "setp.lt.u32 %p1, %i, 8;\nselp.u32 %r3, 16, 0, %p1;\n"
                           "cp.async.cg.shared.global [%r1], [%y1], 16, %r3;\ncp.async.wait_all;";
  const Counters counters = count(body, memory<char>(512)).counters;
  EXPECT_EQ(text(counters.loads),
            "1 requests of 8 lanes: 128 bytes, 4 sectors, 4 needed, 4 unique");
  EXPECT_EQ(text(counters.shared_stores),
            "1 requests of 32 lanes: 512 bytes, 4 wavefronts, 4 needed");
}

TEST_F(PtxCounters, ParametersAndConstantsAreNoTraffic) {
  const Counters counters = count("", memory<int>(1)).counters;
  EXPECT_EQ(counters.loads.requests, 0u);
  EXPECT_EQ(counters.steps, 2u);
  EXPECT_EQ(counters.of_lanes, 64u);
}

TEST_F(PtxCounters, ByLines) {
  const std::string body = apart(4) +
                           ".loc 1 20 3\nld.global.u32 %r2, [%y1];\n.loc 1 21 3\n"
                           "setp.lt.u32 %p1, %i, 8;\n@!%p1 bra end;\n.loc 1 22 3\n"
                           "add.u32 %r2, %r2, 1;\nst.global.u32 [%y1], %r2;\nend:";
  const KernelCounters kernel = count(body, memory<int>(128), 3, 128);
  ASSERT_EQ(kernel.lines.size(), 5u);  // line of ld.param, and 12, 20, 21, 22
  const LineCounters &loads = kernel.lines[2], &stores = kernel.lines[4];
  EXPECT_EQ(loads.place, "counted.cu:20");
  EXPECT_EQ(loads.file, "/src/counted.cu");
  EXPECT_EQ(loads.line, 20);
  EXPECT_EQ(loads.counters.loads.requests, 12u);
  EXPECT_EQ(stores.place, "counted.cu:22");
  EXPECT_EQ(stores.counters.steps, 6u);
  EXPECT_EQ(stores.counters.of_lanes, 48u);
  EXPECT_EQ(kernel.counters.loads.sectors, 48u);
  EXPECT_EQ(kernel.counters.loads.unique_sectors, 16u);
  EXPECT_EQ(kernel.unique_sectors, 16u);
}

TEST_F(PtxCounters, CountsOnlyDuringItsLifetime) {
  PtxModule module(".visible .entry first()\n{\nret;\n}\n");
  EXPECT_EQ(module.launch("first", 1, 32, 0), cudaSuccess);
  const Counting counting;
  EXPECT_TRUE(counting.kernels().empty());
  EXPECT_THROW(counting.kernel(), std::logic_error);
  EXPECT_EQ(module.launch("first", 2, 32, 0), cudaSuccess);
  EXPECT_EQ(module.launch("first", 2, 32, 0), cudaSuccess);
  EXPECT_EQ(counting.kernel().kernel, "first");
  EXPECT_EQ(counting.kernel().launches, 2u);
}

// The counters do not depend on the processors that run the blocks, or on the order of the blocks.
TEST_F(PtxCounters, CountsAreEqualInEachRun) {
  const std::string body =
      "mov.u32 %r5, %ctaid.x;\nand.b32 %r5, %r5, 63;\nshl.b32 %r5, %r5, 7;\nxor.b32 %i, %i, "
      "%r5;\n" +
      apart(4) +
      "ld.global.u32 %r2, [%y1];\nmov.u32 %r4, tile;\nand.b32 %r3, %i, 127;\n"
      "mad.lo.u32 %r4, %r3, 12, %r4;\nst.shared.u32 [%r4], %i;\nbar.sync 0;\n"
      "setp.lt.u32 %p1, %i, 77;\n@%p1 bra end;\nst.global.u32 [%y1], %r2;\nend:";
  int* x = memory<int>(16384);
  const auto all = [&](unsigned seed, bool spread) {
    execution_target::runtime().set_seed(seed, spread);
    const KernelCounters k = count(body, x, 4096, 128);
    return text(k.counters.loads) + "; " + text(k.counters.stores) + "; " +
           text(k.counters.shared_stores) + "; " + std::to_string(k.counters.of_lanes);
  };
  const std::string first = all(0, false);
  EXPECT_EQ(all(0, false), first);
  EXPECT_EQ(all(1, false), first);
  EXPECT_EQ(all(2, true), first);
  EXPECT_EQ(all(3, false), first);
}

}  // namespace
}  // namespace kernkit::simulator
