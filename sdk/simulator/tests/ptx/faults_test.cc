// SPDX-License-Identifier: Apache-2.0
// Reports about faulty kernels and about kernels that cannot run.
#include <set>

#include "executor.h"
#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

class PtxFaults : public Ptx {
 protected:
  // Runs a kernel in which %x is the address of element i of `x` in thread i.
  cudaError_t run(const std::string& body, void* x, dim3 grid = 1, dim3 block = 64) {
    PtxModule module(
        ".file 1 \"/src/faulty.cu\"\n.visible .entry faulty(.param .u64 x)\n{\n"
        ".reg .b64 %x, %y<4>;\n.reg .b32 %i, %r<9>;\n.reg .pred %p<4>;\n"
        ".shared .align 8 .b8 tile[64];\n"
        "ld.param.u64 %x, [x];\nmov.u32 %i, %tid.x;\nmul.wide.u32 %y1, %i, 4;\n"
        "add.u64 %x, %x, %y1;\n.loc 1 12 3\n" +
        body + "\nret;\n}\n");
    const cudaError_t error = module.launch("faulty", grid, block, 0, x);
    return error != cudaSuccess ? error : cudaDeviceSynchronize();
  }
};

TEST_F(PtxFaults, OutsideOfAnAllocation) {
  EXPECT_EQ(run("st.global.u32 [%x], %i;", memory<int>(40)), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [40, 0, 0]: Invalid __global__ write of size 4 bytes, "
            "0 bytes after an "
            "allocation of 160 bytes (faulty.cu:12)");
}
// Changes %x from the address of element i to the address of element -i in thread i. If the
// addresses of the lanes have equal distances, the simulator checks only the first and the last
// active lane.
const char* const kBackwards = "mul.wide.u32 %y2, %i, 8;\nsub.u64 %x, %x, %y2;\n";

TEST_F(PtxFaults, OutsideAtTheLastLane) {
  EXPECT_EQ(run("ld.global.u32 %r1, [%x];", memory<int>(31), 1, 32), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [31, 0, 0]: Invalid __global__ read of size 4 bytes, "
            "0 bytes after an "
            "allocation of 124 bytes (faulty.cu:12)");
}
// Many blocks fault on all processors at different times. The first report does not depend on the
// times.
TEST_F(PtxFaults, TheFirstOfSeveral) {
  const std::string late =
      "mov.u32 %r1, %ctaid.x;\nand.b32 %r2, %r1, 7;\nsub.u32 %r2, 8, %r2;\nmul.lo.u32 %r2, %r2, "
      "3000;\nslow: sub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra slow;\n"
      "setp.lt.u32 %p2, %r1, 1000;\n@%p2 bra end;\nst.global.u32 [%x], %i;\nend:";
  std::set<std::string> faults;
  for (int i = 0; i < 5; ++i) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    runtime.set_seed(7, true);
    EXPECT_EQ(run(late, memory<int>(40), 8192), cudaErrorIllegalAddress);
    faults.insert(runtime.faults().at(0));
  }
  EXPECT_EQ(faults.size(), 1u);
}

TEST_F(PtxFaults, OutsideAtTheFirstLane) {
  EXPECT_EQ(run(std::string(kBackwards) + "st.global.u32 [%x], %i;", memory<int>(31) + 31, 1, 32),
            cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ write of size 4 bytes, "
            "0 bytes after an "
            "allocation of 124 bytes (faulty.cu:12)");
}
TEST_F(PtxFaults, LanesThatDoNotRunMayLieOutside) {
  int* x = memory<int>(31);
  EXPECT_EQ(run("setp.lt.u32 %p1, %i, 31;\n@%p1 ld.global.u32 %r1, [%x];", x, 1, 32), cudaSuccess);
  EXPECT_EQ(
      run("setp.ge.u32 %p1, %i, 1;\n" + std::string(kBackwards) + "@%p1 st.global.u32 [%x], %i;",
          x + 31, 1, 32),
      cudaSuccess);
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(x[0], 31);
}
// The addresses of adjacent lanes are 2^63 apart: the addresses of even lanes, including the first
// and the last active lane, wrap around into the allocation; the addresses of odd lanes are
// outside.
TEST_F(PtxFaults, SoFarThatAddressesWrap) {
  EXPECT_EQ(run("cvt.u64.u32 %y2, %i;\nshl.b64 %y2, %y2, 63;\nadd.u64 %x, %x, %y2;\n"
                "setp.lt.u32 %p1, %i, 31;\n@%p1 ld.global.u32 %r1, [%x];",
                memory<int>(64), 1, 32),
            cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [1, 0, 0]: Invalid __global__ read of size 4 bytes, "
            "in no allocation "
            "(faulty.cu:12)");
}
TEST_F(PtxFaults, MisalignedAtAnEqualDistance) {
  EXPECT_EQ(run("mul.wide.u32 %y2, %i, 2;\nsub.u64 %x, %x, %y2;\nld.global.u32 %r1, [%x];",
                memory<int>(80)),
            cudaErrorMisalignedAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [1, 0, 0]: Invalid __global__ read of size 4 bytes, "
            "at a misaligned address "
            "(faulty.cu:12)");
}
TEST_F(PtxFaults, AtomicsOfAMisalignedVector) {
  EXPECT_EQ(run(".reg .f32 %v<2>; mov.f32 %v0, 0f00000000; mov.f32 %v1, %v0;\n"
                "red.global.add.v2.f32 [%x], {%v0, %v1};",
                memory<int>(80)),
            cudaErrorMisalignedAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [1, 0, 0]: Invalid __global__ atomic of size 8 bytes, "
            "at a misaligned address "
            "(faulty.cu:12)");
}
TEST_F(PtxFaults, ResultsOfAVectorAtomicThatAreOperands) {
  EXPECT_EQ(run(".reg .f32 %v<2>;\natom.global.add.v2.f32 {%v0, %v1}, [%x], {%v1, %v0};",
                memory<int>(80)),
            cudaErrorNotSupported);
  EXPECT_NE(fault().find("result %v0 is also the operand of a later element; expected different "
                         "registers"),
            std::string::npos)
      << fault();
}
TEST_F(PtxFaults, OfTheHost) {
  static int of_host[64];
  EXPECT_EQ(run("ld.global.u32 %r1, [%x];", of_host), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ read of size 4 bytes, "
            "in no allocation "
            "(faulty.cu:12)");
}
// A kernel may access the shared memory that is reserved for cooperative groups, which is separate
// from the kernel's own shared memory. An access past the end of the reserved memory is reported.
TEST_F(PtxFaults, ReservedSharedMemory) {
  const std::string start = "mov.u32 %r1, %reserved_smem_offset_1;\nmad.lo.u32 %r2, %i, 4, %r1;\n";
  int* x = memory<int>(64);
  EXPECT_EQ(run(start + "st.shared.u32 [%r2], %i;\nst.shared.u32 [tile], 7;\nbar.sync 0;\n"
                        "xor.b32 %r3, %i, 63;\nmad.lo.u32 %r3, %r3, 4, %r1;\n"
                        "ld.shared.u32 %r4, [%r3];\nst.global.u32 [%x], %r4;",
                x),
            cudaSuccess)
      << fault();
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(x[0], 63);
  EXPECT_EQ(x[63], 0);
  EXPECT_EQ(run(start + "ld.shared.u32 %r4, [%r2];\nst.global.u32 [%x], %r4;", x), cudaSuccess);
  EXPECT_EQ(x[0], 0) << "at first";
  EXPECT_EQ(run(start + "st.shared.u32 [%r2+448], %i;", x), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [16, 0, 0]: Invalid __shared__ write of size 4 bytes, "
            "at byte 512 of shared "
            "variable %reserved_smem_offset_1 (512 bytes) (faulty.cu:12)");
}
// A declaration needs no spaces between its words.
TEST_F(PtxFaults, DeclarationsWithoutBlanks) {
  int* x = memory<int>(64);
  EXPECT_EQ(run("{.reg.b32 a,b;\n.reg.pred q;\n.shared.b32 word;\nmov.u32 a, 5;\n"
                "st.shared.u32 [word], a;\nld.shared.u32 b, [word];\nst.global.u32 [%x], b;}",
                x),
            cudaSuccess)
      << fault();
  EXPECT_EQ(x[3], 5);
}
TEST_F(PtxFaults, AfterFree) {
  int* x = memory<int>(64);
  cudaFree(x);
  EXPECT_EQ(run("atom.global.add.u32 %r1, [%x], 1;", x), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ atomic of size 4 bytes, "
            "at byte 0 of an allocation of "
            "256 bytes by cudaMallocManaged() that cudaFree() freed (faulty.cu:12)");
}
// The report names the freed allocation instead of the allocation at the next lower address.
TEST_F(PtxFaults, AfterFreeInTheStream) {
  for (const unsigned seed : {0u, 1u, 5u}) {
    execution_target::end();
    (void)execution_target::begin();
    execution_target::runtime().set_seed(seed);
    char *before = nullptr, *x = nullptr, *after = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&before), 1000, nullptr);
    cudaMallocAsync(reinterpret_cast<void**>(&x), 256, nullptr);
    cudaMallocAsync(reinterpret_cast<void**>(&after), 1000, nullptr);
    EXPECT_EQ(cudaFreeAsync(x, nullptr), cudaSuccess);
    EXPECT_EQ(run("ld.global.u32 %r1, [%x+8];", x, 1, 1), cudaErrorIllegalAddress);
    const std::string expected =
        "faulty: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ read of size 4 bytes, at "
        "byte 8 of an allocation of "
        "256 "
        "bytes by cudaMallocAsync() that cudaFreeAsync() freed (faulty.cu:12)";
    EXPECT_EQ(fault().substr(0, expected.size()), expected);
  }
}
TEST_F(PtxFaults, Closed) {
  int* x = memory<int>(64);
  kernkit_close_to_kernels(x + 60, 16, nullptr);
  EXPECT_EQ(run("ld.global.u32 %r1, [%x];", x), cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [60, 0, 0]: Invalid __global__ read of size 4 bytes, "
            "at byte 240 of an "
            "allocation of 256 bytes that is inaccessible to kernels at this byte (faulty.cu:12)");
}
TEST_F(PtxFaults, Misaligned) {
  EXPECT_EQ(run("ld.global.v2.u32 {%r1, %r2}, [%x];", memory<int>(80)), cudaErrorMisalignedAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [1, 0, 0]: Invalid __global__ read of size 8 bytes, "
            "at a misaligned "
            "address (faulty.cu:12)");
}
TEST_F(PtxFaults, OutsideOfSharedMemory) {
  EXPECT_EQ(
      run("mov.u32 %r1, tile; shl.b32 %r2, %i, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %i;",
          memory<int>(64)),
      cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [16, 0, 0]: Invalid __shared__ write of size 4 bytes, "
            "at byte 64 of shared "
            "variable tile (64 bytes) (faulty.cu:12)");
}
TEST_F(PtxFaults, AnotherBlockOfTheCluster) {
  EXPECT_EQ(run("setp.eq.u32 %p1, %i, 33; selp.u32 %r1, 2, 0, %p1; mapa.u64 %y2, %x, %r1;",
                memory<int>(64)),
            cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [33, 0, 0]: requests block 2 of a cluster of 1 "
            "block (faulty.cu:12)");
}
TEST_F(PtxFaults, BarrierNotReachedByAll) {
  EXPECT_EQ(run("setp.ge.u32 %p1, %i, 40; @%p1 bra other; bar.sync 0; ret; other: bar.sync 1;",
                memory<int>(64)),
            cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: 40 of the block's 64 threads wait at "
            "__syncthreads() and thread [40, 0, 0] waits at __syncthreads() of barrier 1 "
            "(faulty.cu:12)");
}
// A barrier number above 15 is reported, also 16, which the simulator uses internally for barriers
// of clusters.
TEST_F(PtxFaults, BarrierOutOfRange) {
  for (const std::string number : {"16", "17"}) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    run("bar.sync " + number + ";", memory<int>(64));
    EXPECT_EQ(runtime.faults().empty() ? "nothing" : runtime.faults().at(0),
              "faulty: block [0, 0, 0], thread [0, 0, 0]: barrier " + number +
                  " is out of range; a block has barriers 0 to 15 (faulty.cu:12)");
  }
}
// A count that is given at a barrier does not decrease when warps exit.
TEST_F(PtxFaults, CountThatIsNotReached) {
  EXPECT_EQ(run("setp.ge.u32 %p1, %i, 32; @%p1 ret; bar.sync 1, 64;", memory<int>(64)),
            cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: 32 of the block's 64 threads wait at "
            "__syncthreads() of barrier 1 and thread [32, 0, 0] has ended (faulty.cu:12)");
}
TEST_F(PtxFaults, CountThatIsNoMultipleOf32) {
  EXPECT_EQ(run("bar.sync 1, 40;", memory<int>(64)), cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: __syncthreads() is for 40 threads; "
            "expected a multiple of 32 (faulty.cu:12)");
}
TEST_F(PtxFaults, BarrierOfTwoCounts) {
  const std::string begin = "setp.ge.u32 %p1, %i, 32; @%p1 bra other; bar.sync 1, 64; ret; other: ";
  const auto fault_of = [&](const char* other, unsigned threads) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    run(begin + other, memory<int>(96), 1, threads);
    return runtime.faults().empty() ? "nothing" : runtime.faults().at(0);
  };
  EXPECT_EQ(fault_of("bar.sync 1, 96;", 96),
            "faulty: block [0, 0, 0], thread [32, 0, 0]: __syncthreads() is for 96 threads, and "
            "waiting threads expect 64 (faulty.cu:12)");
  // Without a count, a barrier is for all threads of the block.
  EXPECT_EQ(fault_of("bar.sync 1;", 96),
            "faulty: block [0, 0, 0], thread [32, 0, 0]: __syncthreads() is for 96 threads, and "
            "waiting threads expect 64 (faulty.cu:12)");
  EXPECT_EQ(fault_of("bar.sync 1;", 64), "nothing");
}
TEST_F(PtxFaults, BarriersOfTwoKinds) {
  run("setp.ge.u32 %p1, %i, 32; @%p1 bra other; bar.sync 0; ret; other: bar.red.or.pred %p2, 0, "
      "%p1;",
      memory<int>(64));
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [32, 0, 0]: __syncthreads_or() was called while "
            "other threads of the block wait at __syncthreads() (faulty.cu:12)");
}
TEST_F(PtxFaults, LaneElsewhere) {
  run("setp.eq.u32 %p1, %i, 5; @%p1 bra other; shfl.sync.idx.b32 %r1, %i, 0, 31, -1; ret; other: "
      "bar.sync 0;",
      memory<int>(64), 1, 32);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [0, 0, 0]: 31 of the block's 32 threads wait at "
            "__shfl_sync() and thread [5, 0, 0] waits at __syncthreads() (faulty.cu:12)");
}
TEST_F(PtxFaults, MaskWithoutTheCaller) {
  run("shfl.sync.bfly.b32 %r1, %i, 16, 31, 0xffff;", memory<int>(64), 1, 32);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [16, 0, 0]: __shfl_xor_sync(): the mask 0x0000ffff "
            "lacks the calling lane 16 (faulty.cu:12)");
}
TEST_F(PtxFaults, Trap) {
  execution_target::runtime().set_seed(7);
  EXPECT_EQ(run("setp.eq.u32 %p1, %i, 33; @%p1 trap;", memory<int>(64)), cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [33, 0, 0]: __trap() (faulty.cu:12) (seed 7)");
}
TEST_F(PtxFaults, Breakpoint) {
  EXPECT_EQ(run("setp.eq.u32 %p1, %i, 33; @%p1 brkpt;", memory<int>(64)), cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "faulty: block [0, 0, 0], thread [33, 0, 0]: brkpt: the thread is at a breakpoint, and "
            "no debugger is attached that continues it (faulty.cu:12)");
}
TEST_F(PtxFaults, CallsTooDeep) {
  PtxModule module(
      ".func deeper()\n{\n.local .align 8 .b8 mine[1000]; st.local.u32 [mine], 1; call deeper; "
      "ret;\n}\n.visible .entry k()\n{\ncall deeper; ret;\n}\n");
  EXPECT_EQ(module.launch("k", 1, 1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "k: block [0, 0, 0], thread [0, 0, 0]: nested calls need more than "
            "8192 bytes of stack");
}
TEST_F(PtxFaults, CallsNoFunction) {
  EXPECT_EQ(
      run("{ shape: .callprototype _ (); mov.u64 %y2, 64; call %y2, (), shape; }", memory<int>(64)),
      cudaErrorLaunchFailure);
  EXPECT_EQ(
      fault(),
      "faulty: block [0, 0, 0], thread [0, 0, 0]: calls 0x40, which is not a function's address "
      "(faulty.cu:12)");
}
// Accesses past the ends of variables in global, constant and shared memory.
class PtxVariableFaults : public Ptx {
 protected:
  // Returns the fault of a kernel. In thread i, %i is i, %r1 and %y1 are 4 * i, and %r2 is n. %p1
  // is true in thread 0.
  std::string fault_of(const std::string& body, int n = 0, unsigned threads = 32,
                       size_t dynamic = 64) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    PtxModule module(
        ".file 1 \"/src/faulty.cu\"\n"
        ".global .align 4 .b8 _ZN2ns5tableE[128];\n.global .align 4 .b8 next[4096];\n"
        ".const .align 4 .b8 factors[128];\n.const .align 4 .b8 more[4096];\n"
        ".global .align 8 .u64 pointer = generic(_ZN2ns5tableE);\n"
        ".global .align 4 .b8 last[64];\n"
        ".shared .align 4 .b8 _ZZ6faultyvE4tile[128];\n.shared .align 16 .b8 other[256];\n"
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .entry faulty(.param .u32 n)\n{\n"
        ".reg .b64 %y<9>;\n.reg .b32 %i, %r<9>;\n.reg .pred %p<4>;\n.loc 1 12 3\n"
        "mov.u32 %i, %tid.x;\nshl.b32 %r1, %i, 2;\ncvt.u64.u32 %y1, %r1;\n"
        "ld.param.u32 %r2, [n];\nsetp.eq.u32 %p1, %i, 0;\n" +
        body + "\nret;\n}\n");
    EXPECT_EQ(module.launch("faulty", 1, threads, dynamic, n), cudaSuccess);
    const cudaError_t error = cudaDeviceSynchronize();
    const std::string text = runtime.faults().empty() ? "none" : runtime.faults().at(0);
    EXPECT_EQ(error, text == "none" ? cudaSuccess : cudaErrorIllegalAddress) << text;
    const size_t at = text.find("]: ");
    return at == std::string::npos || text.substr(0, 6) != "faulty"
               ? text
               : text.substr(text.find("thread") + 7);
  }
  // Sets %y3 to the address of element i of a variable.
  static std::string element_of(const std::string& variable) {
    return "mov.u64 %y2, " + variable + "; add.s64 %y3, %y2, %y1;\n";
  }
  const std::string end_ = " (faulty.cu:12)";
};

TEST_F(PtxVariableFaults, AnIndexThatReachesTheNextVariable) {
  const std::string table = element_of("_ZN2ns5tableE");
  EXPECT_EQ(fault_of(table + "ld.global.u32 %r3, [%y3];"), "none");
  // Thread 32 reads the 4 bytes past the end of the variable.
  EXPECT_EQ(fault_of(table + "ld.global.u32 %r3, [%y3];", 0, 33),
            "[32, 0, 0]: Invalid __global__ read of size 4 bytes, at byte 128 of variable "
            "ns::table (128 bytes)" +
                end_);
  // The fault is also found if the address is within the next variable.
  for (const char* far : {"512", "1024", "2048"}) {
    EXPECT_EQ(fault_of(table + "st.global.u32 [%y3+" + far + "], %i;"),
              "[0, 0, 0]: Invalid __global__ write of size 4 bytes, at byte " + std::string(far) +
                  " of variable ns::table (128 bytes)" + end_);
  }
  EXPECT_EQ(fault_of(element_of("next") + "atom.global.add.u32 %r3, [%y3+-4], 1;"),
            "[0, 0, 0]: Invalid __global__ atomic of size 4 bytes, at byte -4 of variable next "
            "(4096 bytes)" +
                end_);
  EXPECT_EQ(fault_of(element_of("factors") + "ld.const.u32 %r3, [%y3+8];"),
            "[30, 0, 0]: Invalid __global__ read of size 4 bytes, at byte 128 of variable factors "
            "(128 bytes)" +
                end_);
  EXPECT_EQ(fault_of("@%p1 ld.global.v2.u32 {%r3, %r4}, [_ZN2ns5tableE+128];"),
            "[0, 0, 0]: Invalid __global__ read of size 8 bytes, at byte 128 of variable ns::table "
            "(128 bytes)" +
                end_);
  EXPECT_EQ(fault_of("@%p1 ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [_ZN2ns5tableE+120];"),
            "[0, 0, 0]: Invalid __global__ read of size 16 bytes, at byte 120 of variable "
            "ns::table (128 bytes)" +
                end_);
  EXPECT_EQ(fault_of(element_of("last") + "ld.global.u32 %r3, [%y3];"),
            "[16, 0, 0]: Invalid __global__ read of size 4 bytes, at byte 64 of variable last (64 "
            "bytes)" +
                end_);
}
// The report names the variable also if the address of the access is computed in several steps or
// in a loop.
TEST_F(PtxVariableFaults, AnAddressOfSeveralSteps) {
  const std::string cases[] = {
      "mad.wide.u32 %y3, %i, 64, %y2; ld.global.u32 %r3, [%y3];",
      "cvta.global.u64 %y4, %y2; mad.wide.u32 %y5, %i, 64, %y4; mov.u64 %y3, %y5; ld.u32 %r3, "
      "[%y3];",
      "shl.b64 %y4, %y1, 4; or.b64 %y3, %y2, 0; add.s64 %y3, %y3, %y4; ld.global.u32 %r3, [%y3];",
      "mul.lo.s32 %r3, %i, -64; cvt.s64.s32 %y4, %r3; sub.s64 %y3, %y2, %y4; "
      "ld.global.u32 %r3, [%y3];",
  };
  for (const std::string& text : cases) {
    EXPECT_EQ(fault_of("mov.u64 %y2, _ZN2ns5tableE; " + text),
              "[2, 0, 0]: Invalid __global__ read of size 4 bytes, at byte 128 of variable "
              "ns::table (128 bytes)" +
                  end_)
        << text;
  }
  EXPECT_EQ(fault_of("mov.u64 %y2, _ZN2ns5tableE; mov.u32 %r3, 0;\n"
                     "again: @%p1 ld.global.u32 %r4, [%y2]; add.s64 %y2, %y2, 4; add.u32 %r3, %r3, "
                     "1; setp.le.u32 %p2, %r3, 32; @%p2 bra again;"),
            "[0, 0, 0]: Invalid __global__ read of size 4 bytes, at byte 128 of variable ns::table "
            "(128 bytes)" +
                end_);
}
TEST_F(PtxVariableFaults, AnAddressOfEitherVariable) {
  const std::string chosen =
      "mov.u64 %y2, _ZN2ns5tableE; mov.u64 %y3, next; selp.b64 %y4, %y2, %y3, %p1; "
      "sub.s64 %y5, %y3, %y2; add.s64 %y6, %y2, %y5;\n";
  EXPECT_EQ(fault_of(chosen + "st.global.u32 [%y4], %i; ld.global.u32 %r3, [%y4+64];"), "none");
  // A gap follows each variable, so an access past the variable's end is found even if the variable
  // cannot be determined from the address computation.
  EXPECT_EQ(fault_of(chosen + "@%p1 st.global.u32 [%y4+128], %i;"),
            "[0, 0, 0]: Invalid __global__ write of size 4 bytes, 0 bytes past the end of variable "
            "ns::table (128 bytes)" +
                end_);
  EXPECT_EQ(fault_of("ld.global.u64 %y2, [pointer]; ld.u32 %r3, [%y2+124]; ld.u32 %r3, [%y2+132];"),
            "[0, 0, 0]: Invalid __global__ read of size 4 bytes, 4 bytes past the end of variable "
            "ns::table (128 bytes)" +
                end_);
  EXPECT_EQ(fault_of("mov.u64 %y2, last; mov.u64 %y3, next; selp.b64 %y4, %y2, %y3, %p1; "
                     "@%p1 ld.global.u32 %r3, [%y4+64];"),
            "[0, 0, 0]: Invalid __global__ read of size 4 bytes, 0 bytes past the end of variable "
            "last (64 bytes)" +
                end_);
}
// A distance or an index that is computed from addresses is not an address of a variable.
TEST_F(PtxVariableFaults, ADistanceBetweenAddresses) {
  const std::string shared =
      "mov.u32 %r3, _ZZ6faultyvE4tile; mov.u32 %r4, other; sub.u32 %r5, %r4, %r3;\n";
  const std::string cases[] = {
      // x[p - table]
      "mov.u64 %y2, _ZN2ns5tableE; add.s64 %y3, %y2, %y1; sub.s64 %y4, %y3, %y2; mov.u64 %y5, "
      "next; "
      "add.s64 %y6, %y5, %y4; st.global.u32 [%y6], %i;",
      // table + (p - next)
      "mov.u64 %y2, _ZN2ns5tableE; mov.u64 %y5, next; add.s64 %y3, %y5, %y1; sub.s64 %y4, %y2, "
      "%y5; add.s64 %y6, %y3, %y4; st.global.u32 [%y6], %i;",
      // next[(address of table) % 8]
      "mov.u64 %y2, _ZN2ns5tableE; and.b64 %y3, %y2, 7; mov.u64 %y5, next; add.s64 %y6, %y5, %y3; "
      "ld.global.u8 %r3, [%y6]; ld.global.u64 %y4, [pointer]; add.s64 %y6, %y4, %y3; "
      "ld.global.u8 %r3, [%y6];",
      // the address of tile or of other, computed by arithmetic
      shared + "mad.lo.u32 %r6, %r5, 1, %r3; st.shared.u32 [%r6], %i;",
      shared + "xor.b32 %r5, %r4, %r3; xor.b32 %r6, %r3, %r5; st.shared.u32 [%r6], %i;",
      shared + "shl.b32 %r5, %r5, 0; add.u32 %r6, %r3, %r5; st.shared.u32 [%r6+128], %i;",
  };
  for (const std::string& text : cases) EXPECT_EQ(fault_of(text), "none") << text;
}
TEST_F(PtxVariableFaults, SharedArrays) {
  const std::string tile = "mov.u32 %r3, _ZZ6faultyvE4tile; add.u32 %r3, %r3, %r1;\n";
  const std::string other = "mov.u32 %r3, other; add.u32 %r3, %r3, %r1;\n";
  EXPECT_EQ(fault_of(tile + "st.shared.u32 [%r3], %i;"), "none");
  EXPECT_EQ(fault_of(tile + "st.shared.u32 [%r3+4], %i;"),
            "[31, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte 128 of shared variable "
            "tile (128 bytes)" +
                end_);
  EXPECT_EQ(fault_of(other + "ld.shared.u32 %r4, [%r3+-4];"),
            "[0, 0, 0]: Invalid __shared__ read of size 4 bytes, at byte -4 of shared variable "
            "other (256 bytes)" +
                end_);
  EXPECT_EQ(fault_of(other + "atom.shared.add.u32 %r4, [%r3+256], 1;"),
            "[0, 0, 0]: Invalid __shared__ atomic of size 4 bytes, at byte 256 of shared variable "
            "other (256 bytes)" +
                end_);
  EXPECT_EQ(fault_of("mov.u64 %y2, other; cvta.shared.u64 %y3, %y2; add.s64 %y4, %y3, %y1; "
                     "st.u32 [%y4+252], %i;"),
            "[1, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte 256 of shared variable "
            "other (256 bytes)" +
                end_);
  EXPECT_EQ(fault_of(other + "mov.u64 %y2, next; add.s64 %y2, %y2, %y1; "
                             "cp.async.ca.shared.global [%r3+252], [%y2], 4;"),
            "[1, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte 256 of shared variable "
            "other (256 bytes)" +
                end_);
  EXPECT_EQ(fault_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [other+256];"),
            "[0, 0, 0]: Invalid __shared__ read of size 16 bytes, at byte 256 of shared variable "
            "other (256 bytes)" +
                end_);
}
TEST_F(PtxVariableFaults, DynamicSharedMemory) {
  const std::string dynamic = "mov.u32 %r3, dynamic; add.u32 %r3, %r3, %r1;\n";
  EXPECT_EQ(fault_of(dynamic + "st.shared.u32 [%r3], %i;", 0, 32, 128), "none");
  EXPECT_EQ(fault_of(dynamic + "st.shared.u32 [%r3], %i;"),
            "[16, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte 64 of dynamic shared "
            "memory (64 bytes)" +
                end_);
  EXPECT_EQ(fault_of(dynamic + "st.shared.u32 [%r3+-4], %i;"),
            "[0, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte -4 of dynamic shared "
            "memory (64 bytes)" +
                end_);
  // The report names the static array if an access past its end reaches dynamic shared memory.
  EXPECT_EQ(fault_of("mov.u32 %r3, other; st.shared.u32 [%r3+256], %i; st.shared.u32 [dynamic], "
                     "%i;"),
            "[0, 0, 0]: Invalid __shared__ write of size 4 bytes, at byte 256 of shared variable "
            "other (256 bytes)" +
                end_);
}

class PtxHeapFaults : public Ptx {
 protected:
  // Returns the fault of a kernel in which %y1 is the address of 20 bytes that malloc() returned.
  std::string fault_of(const std::string& body) {
    PtxModule module(
        ".extern .func (.param .b64 r) malloc(.param .b64 bytes);\n"
        ".extern .func free(.param .b64 address);\n.file 1 \"/src/faulty.cu\"\n"
        ".visible .entry faulty()\n{\n.reg .b64 %y<4>; .reg .b32 %r<4>;\n.loc 1 12 3\n"
        "{ .param .b64 s; .param .b64 r; st.param.b64 [s], 20; call.uni (r), malloc, (s); "
        "ld.param.b64 %y1, [r]; }\nst.u32 [%y1], 1;\n" +
        body + "\nret;\n}\n");
    EXPECT_EQ(module.launch("faulty", 1, 1, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return fault();
  }
  const std::string free_ = "{ .param .b64 a; st.param.b64 [a], %y1; call free, (a); }\n";
  const std::string thread_ = "faulty: block [0, 0, 0], thread [0, 0, 0]: ";
};

TEST_F(PtxHeapFaults, PastTheEnd) {
  EXPECT_EQ(fault_of("ld.u32 %r1, [%y1+20];"),
            thread_ +
                "Invalid __global__ read of size 4 bytes, 0 bytes after 20 bytes that malloc() "
                "returned (faulty.cu:12)");
}
// An instruction that reads memory without a fault before free() is reported when the instruction
// reads the same address after free().
TEST_F(PtxHeapFaults, AfterFree) {
  EXPECT_EQ(fault_of("{ .reg .pred %p; mov.u32 %r2, 0; again: ld.u32 %r1, [%y1+4]; "
                     "setp.eq.u32 %p, %r2, 1; @%p bra end; mov.u32 %r2, 1; " +
                     free_ + "bra again; end: }"),
            thread_ +
                "Invalid __global__ read of size 4 bytes, at byte 4 of 20 bytes that malloc() "
                "returned and free() released (faulty.cu:12)");
}
TEST_F(PtxHeapFaults, FreedTwice) {
  EXPECT_EQ(
      fault_of(free_ + free_),
      thread_ +
          "free(): malloc() did not return the address, or free() already released the memory "
          "(faulty.cu:12)");
}

TEST_F(PtxFaults, DoesNotEnd) {
  execution_target::runtime().set_watchdog(0.05);
  run("again: ld.volatile.global.u32 %r1, [%x]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;",
      memory<int>(64));
  EXPECT_EQ(
      fault().find(
          "faulty: block [0, 0, 0], thread [0, 0, 0]: does not end: for 0.05 "
          "seconds no thread has ended, synchronised with others or changed memory by an atomic"),
      0u)
      << fault();
}

// The report names the spinning thread instead of a thread that waits at a barrier.
TEST_F(PtxFaults, AThreadDoesNotEndWhileOtherThreadsWait) {
  const std::string spin =
      "again: ld.volatile.global.u32 %r1, [%x]; setp.eq.u32 %p2, %r1, 0; @%p2 bra again;\n"
      "met: bar.sync 0;";
  const struct {
    const char *guard, *thread;
    unsigned threads;
  } cases[] = {{"setp.lt.u32 %p1, %i, 32; @%p1 bra met;\n", "32", 64},
               {"setp.ge.u32 %p1, %i, 32; @%p1 bra met;\n", "0", 64},
               {"setp.lt.u32 %p1, %i, 32; @%p1 ret;\n", "32", 64},
               {"setp.ne.u32 %p1, %i, 40; @%p1 bra met;\n", "40", 96},
               {"setp.ne.u32 %p1, %i, 3; @%p1 bra met;\n", "3", 32}};
  for (const auto& row : cases) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    runtime.set_watchdog(0.05);
    EXPECT_EQ(run(row.guard + spin, memory<int>(96), 1, row.threads), cudaErrorLaunchFailure);
    const std::string text = runtime.faults().at(0);
    EXPECT_EQ(
        text.find(
            "faulty: block [0, 0, 0], thread [" + std::string(row.thread) +
            ", 0, 0]: does not end: for 0.05 seconds no thread has ended, synchronised with others "
            "or changed memory by an atomic (faulty.cu:12)"),
        0u)
        << text;
  }
}

TEST_F(PtxFaults, RejectsUnsupportedForms) {
  EXPECT_EQ(run("tcgen05.wait::ld.sync.aligned;", memory<int>(64)), cudaErrorNotSupported);
  EXPECT_EQ(run("add.approx.f64 %y1, %y1, %y1;", memory<int>(64)), cudaErrorNotSupported);
  EXPECT_EQ(run("mov.u32 %r1, %pm0;", memory<int>(64)), cudaErrorNotSupported);
  EXPECT_EQ(execution_target::runtime().faults(),
            (std::vector<std::string>{
                "faulty cannot run: tcgen05.wait::ld.sync.aligned (faulty.cu:12): unsupported "
                "instruction",
                "faulty cannot run: add.approx.f64 (faulty.cu:12): unsupported modifier .approx",
                "faulty cannot run: mov.u32 (faulty.cu:12): unknown name %pm0"}));
}
// Rejects unsupported instructions of compute capability 9.0 and later: multimem, sparse wgmma and
// tcgen05. Also rejects reductions into shared memory that PTX ISA does not define.
TEST_F(PtxFaults, RejectsClustersAndBulkCopies) {
  const char* const all[] = {
      "multimem.red.relaxed.gpu.global.add.u32 [%y1], %r1",
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u64 "
      "[%r1], "
      "[%r1], 16, [%r1]",
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r1, %r2}, %y1, %y2, 1, 1, 1, 0, 0",
      "tcgen05.wait::ld.sync.aligned",
  };
  for (const char* instruction : all) {
    EXPECT_EQ(run(std::string(instruction) + ";", memory<int>(64)), cudaErrorNotSupported);
    const std::string name = std::string(instruction).substr(0, std::string(instruction).find(' '));
    EXPECT_EQ(execution_target::runtime().faults().back().find("faulty cannot run: " + name +
                                                               " (faulty.cu:12): "),
              0u)
        << execution_target::runtime().faults().back();
  }
}
// A module with textures is loaded. Kernels without textures run, and launches of kernels with
// textures fail.
TEST_F(PtxFaults, RejectsTexturesAndSurfaces) {
  PtxModule module(
      ".file 1 \"/src/image.cu\"\n.global .texref image;\n.global .texref images[4];\n"
      ".global .surfref plane;\n.global .samplerref nearest = {addr_mode_0 = clamp_to_border, "
      "filter_mode = nearest};\n.global .u32 word = 7;\n"
      ".visible .entry opaque(.param .u64 x, .param .texref t)\n{\nret;\n}\n"
      ".visible .entry textured(.param .u64 x)\n{\n.reg .f32 %f<5>;\nmov.f32 %f0, 0f00000000;\n"
      ".loc 1 4 3\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f0, %f0}];\nret;\n}\n"
      ".visible .entry plain(.param .u64 x)\n{\n.reg .b64 %x;\n.reg .b32 %r;\n"
      "ld.param.u64 %x, [x];\nld.global.u32 %r, [word];\nst.global.u32 [%x], %r;\nret;\n}\n");
  int* x = memory<int>(1);
  EXPECT_EQ(module.launch("textured", 1, 1, 0, x), cudaErrorNotSupported);
  EXPECT_EQ(fault(),
            "textured cannot run: tex.2d.v4.f32.f32 (image.cu:4): textures and surfaces are not "
            "supported: load the data from memory of cudaMalloc()");
  EXPECT_EQ(module.launch("plain", 1, 1, 0, x), cudaSuccess) << fault();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x[0], 7);
  const char* const all[] = {
      "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%x, {%i}]",
      "tld4.r.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%x, {%i, %i}]",
      "txq.width.b32 %r1, [%x]",
      "suld.b.1d.b32.trap %r1, [%x, {%i}]",
      "sust.b.1d.b32.trap [%x, {%i}], %r1",
      "sured.b.add.1d.u32.trap [%x, {%i}], %r1",
      "suq.width.b32 %r1, [%x]",
      "istypep.texref %p1, %x",
  };
  for (const char* instruction : all) {
    EXPECT_EQ(run(std::string(instruction) + ";", x), cudaErrorNotSupported);
    EXPECT_NE(
        execution_target::runtime().faults().back().find("textures and surfaces are not supported"),
        std::string::npos)
        << execution_target::runtime().faults().back();
  }
}
TEST_F(PtxFaults, NoPtxForTheDevice) {
  PtxModule module(".visible .entry k()\n{\nret;\n}\n", "sm_100");
  EXPECT_EQ(module.launch("k", 1, 1, 0), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(fault(),
            "k cannot run: its module has PTX of compute_100; the device has compute capability "
            "9.0: set KERNKIT_CAPABILITY=100, or compile it with PTX of an earlier compute "
            "capability");
}
// If a library contains machine code for the device, but PTX only for a later compute capability,
// the simulator runs this PTX. CuPy's libraries contain machine code for many compute capabilities,
// but PTX only for the newest capability.
TEST_F(PtxFaults, PtxOfALaterCapabilityRunsInPlaceOfMachineCode) {
  EXPECT_EQ(choose_ptx({75, 80, 90}, {86}, 86), 80);
  EXPECT_EQ(choose_ptx({75, 120}, {}, 120), 120);
  EXPECT_EQ(choose_ptx({120, 121}, {75, 80, 90}, 89), 120);
  EXPECT_EQ(choose_ptx({120}, {75, 90}, 80), 0);  // no machine code for capability 8.0
  EXPECT_EQ(choose_ptx({120}, {86}, 80), 0);
  EXPECT_EQ(choose_ptx({}, {80}, 80), 0);
}
// .loc directives as nvcc writes them for nested inlined functions, a .loc directive whose call
// site is missing, and a function that is inlined into itself.
TEST_F(PtxFaults, EveryCallSiteOfAnInlinedFunction) {
  const std::string other = ".loc 1 30 3\n.loc 1 6 5, function_name $f, inlined_at 1 30 3\n";
  const std::string inlined =
      ".loc 1 20 3\n.loc 1 6 5, function_name $f, inlined_at 1 20 3\n"
      ".loc 1 3 7, function_name $g, inlined_at 1 6 5\n";
  const std::string again = ".loc 1 3 9, function_name $g, inlined_at 1 3 7\n";
  const std::string load = "ld.global.u32 %r1, [%x];";
  const auto location = [&](const std::string& lines) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    EXPECT_EQ(run(lines + load, memory<int>(40)), cudaErrorIllegalAddress);
    const std::string sentence = runtime.faults().at(0);
    return sentence.substr(sentence.find(" ("));
  };
  EXPECT_EQ(location(inlined), " (faulty.cu:3 (inlined at faulty.cu:6, faulty.cu:20))");
  EXPECT_EQ(location(other + inlined), " (faulty.cu:3 (inlined at faulty.cu:6, faulty.cu:20))");
  EXPECT_EQ(location(inlined + other), " (faulty.cu:6 (inlined at faulty.cu:30))");
  EXPECT_EQ(location(".loc 1 3 7, function_name $g, inlined_at 1 6 5\n"),
            " (faulty.cu:3 (inlined at faulty.cu:6))");
  EXPECT_EQ(location(inlined + again + again + again),
            " (faulty.cu:3 (inlined at faulty.cu:6, faulty.cu:20))");
}

// In PTX generated by LLVM, such as a load of Triton, each line of the text of inline assembly has
// its own .loc line. A fault in the text must be reported at the line of the assembly statement.
TEST_F(PtxFaults, InlineAssemblyHasTheLineOfItsStatement) {
  const auto location = [&](const std::string& body) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    EXPECT_EQ(run(body, memory<int>(40)), cudaErrorIllegalAddress);
    const std::string sentence = runtime.faults().at(0);
    return sentence.substr(sentence.find(" ("));
  };
  const std::string begin = "// begin inline asm\n", end = "\n// end inline asm\n";
  const std::string line = ".loc 1 21 3\n", load = "ld.global.u32 %r1, [%x];";
  const std::string text = "mov.u32 %r1, 0;\n.loc 1 22 3\n" + load + end;
  EXPECT_EQ(location(line + begin + line + text), " (faulty.cu:21)");
  EXPECT_EQ(location(line + begin + text), " (faulty.cu:21)");
  EXPECT_EQ(location(begin + line + text), " (faulty.cu:21)");
  EXPECT_EQ(location(begin + "mov.u32 %r1, 0;" + end + begin + line + text), " (faulty.cu:21)");
  EXPECT_EQ(location(begin + "mov.u32 %r1, 0;" + end + line + load), " (faulty.cu:21)");
  EXPECT_EQ(location("mov.u32 %r1, 0;\n" + line + load), " (faulty.cu:21)");
}

TEST_F(PtxFaults, KernelThatTheLibraryLacks) {
  PtxModule module(".visible .entry k()\n{\nret;\n}\n");
  EXPECT_EQ(module.launch("other", 1, 1, 0), cudaErrorSymbolNotFound);
  EXPECT_EQ(module.launch("k", 1, 1, 0), cudaSuccess);
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, "\177ELF", nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaErrorNotSupported);
  EXPECT_EQ(fault(),
            "cudaLibraryLoadData(): machine code is not supported without a GPU; expected PTX");
}

// For each unsupported form that docs/instructions.md lists, the launch fails and reports the
// reason.
class PtxUnsupportedForms : public Ptx {};

TEST_F(PtxUnsupportedForms, EachIsRejected) {
  std::ifstream file(KERNKIT_PTX_UNSUPPORTED_LIST);
  size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    ++count;
    const std::string instruction = line.substr(0, line.find(" ; "));
    PtxModule module(
        ".visible .entry k()\n{\n.reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %d<16>;\n" +
        instruction + ";\nret;\n}\n");
    EXPECT_EQ(module.launch("k", 1, 32, 0), cudaErrorNotSupported) << instruction;
  }
  EXPECT_GT(count, 10u);
}

}  // namespace
}  // namespace kernkit::simulator
