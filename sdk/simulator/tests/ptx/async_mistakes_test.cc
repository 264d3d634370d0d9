// SPDX-License-Identifier: Apache-2.0
// Planted mistakes in kernels with bulk copies, mbarriers, wgmma and clusters. Each correct program
// is silent under racecheck at the level `warn`; each mistake replaces some lines of a program, and
// is reported with the lines of the accesses.
#include <cstring>
#include <map>

#include "kernkit/simulator/racecheck.h"
#include "ptx_fixture.h"
#include "simulator_target.h"
#include "tensor_map.h"

namespace kernkit::simulator {
namespace {

/// PTX statements by the line number in their .loc directives.
using Lines = std::map<int, std::string>;

const char* const kMemcheck = "memcheck";
const char* const kRacecheck = "racecheck";                // reported at level error
const char* const kRacecheckAtWarn = "racecheck at warn";  // reported at level warn only

/// A mistake that a tool must report: the lines that replace lines of a correct program, and the
/// expected report.
struct Mistake {
  const char* name;
  Lines lines;
  const char* tool;    // kMemcheck, kRacecheck or kRacecheckAtWarn
  std::string report;  // a part of the report
};

class PtxAsyncMistakes : public Ptx {
 protected:
  // Returns a kernel with 16 KiB of shared memory at %s, mbarriers at %b, %b+8 and so on, and
  // pointers %a and %c to 16 KiB of global memory, with a tensor map at %c+8192 and zeros
  // otherwise. %i is the thread's index, %own the address of 16 bytes of the thread in shared
  // memory. %pt is true in thread 0, %pw in the first warp.
  static std::string text(const Lines& lines, const char* directive) {
    std::string all =
        ".file 1 \"/src/async.cu\"\n.visible .entry planted(.param .u64 a, .param .u64 c)\n" +
        std::string(directive) +
        "{\n.reg .b64 %a, %c, %da, %db, %y<6>, %state;\n.reg .b32 %i, %s, %b, %own, %rank, %peer, "
        "%round, %stage, %parity, %full, %empty, %r<9>;\n.reg .f32 %d<4>;\n"
        ".reg .b32 %f<4>;\n.reg .pred %pt, %pw, %p<6>;\n"
        ".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bars[8];\n"
        "ld.param.u64 %a, [a]; ld.param.u64 %c, [c]; mov.u32 %i, %tid.x;\n"
        "mov.u32 %s, tile; mov.u32 %b, bars; mad.lo.u32 %own, %i, 16, %s;\n"
        "setp.eq.u32 %pt, %i, 0; setp.lt.u32 %pw, %i, 32; mov.u32 %rank, %cluster_ctarank;\n"
        "xor.b32 %r0, %rank, 1;\n";
    if (directive[0] != 0) all += "mapa.shared::cluster.u32 %peer, %own, %r0;\n";
    for (const auto& [line, statements] : lines) {
      all += ".loc 1 " + std::to_string(line) + " 3\n" + statements + "\n";
    }
    return all + "ret;\n}\n";
  }
  struct Reports {
    std::string races, fault;
  };
  Reports run(const Lines& lines, RaceLevel level, unsigned threads = 128,
              const char* directive = "", unsigned blocks = 1) {
    Reports reports;
    CudaRuntime runtime;  // new devices, since a fault ends the context
    runtime.run_kernels(true);
    {
      PtxModule module(text(lines, directive), "sm_90a");
      const RaceCheck check(level);
      uint32_t *a = memory<uint32_t>(4096), *c = memory<uint32_t>(4096);
      TensorMap map;  // describes 64 words at `a`
      map.type = 2;   // CU_TENSOR_MAP_DATA_TYPE_UINT32
      map.dimensions = map.steps[0] = 1;
      map.element_bytes = 4;
      map.address = reinterpret_cast<uint64_t>(a);
      map.sizes[0] = map.box[0] = 64;
      std::memcpy(c + 2048, &map, sizeof(map));
      EXPECT_EQ(module.launch("planted", blocks, threads, 0, a, c), cudaSuccess);
      const cudaError_t error = cudaDeviceSynchronize();
      if (error != cudaSuccess) reports.fault = fault();
      for (const Race& race : check.races()) reports.races += race.sentence + "\n";
    }
    return reports;
  }
  void check(const Lines& program, const std::vector<Mistake>& mistakes, unsigned threads = 128,
             const char* directive = "", unsigned blocks = 1) {
    const Reports correct = run(program, RaceLevel::kWarn, threads, directive, blocks);
    EXPECT_EQ(correct.races, "");
    EXPECT_EQ(correct.fault, "");
    for (const Mistake& mistake : mistakes) {
      SCOPED_TRACE(mistake.name);
      Lines lines = program;
      for (const auto& [line, statements] : mistake.lines) lines[line] = statements;
      const bool is_warn = mistake.tool == kRacecheckAtWarn;
      const Reports found =
          run(lines, is_warn ? RaceLevel::kWarn : RaceLevel::kError, threads, directive, blocks);
      const std::string& reports = mistake.tool == kMemcheck ? found.fault : found.races;
      EXPECT_NE(reports.find(mistake.report), std::string::npos)
          << mistake.tool << "\nracecheck: " << found.races << "\nmemcheck: " << found.fault;
      if (is_warn) {
        EXPECT_EQ(run(lines, RaceLevel::kError, threads, directive, blocks).races, "");
      }
    }
  }
};

const std::string kInit = "@%pt mbarrier.init.shared::cta.b64 [%b], 1;";
const std::string kInitFence = "fence.mbarrier_init.release.cluster;";
const std::string kBarrier = "bar.sync 0;";
const std::string kFence = "fence.proxy.async.shared::cta;";
std::string expect(int bytes) {
  return "@%pt mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%b], " + std::to_string(bytes) +
         ";";
}
std::string load(const std::string& to, const std::string& from, int bytes) {
  return "@%pt cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [" +
         from + "], " + std::to_string(bytes) + ", [%b];";
}
std::string store(const std::string& to, const std::string& from, int bytes) {
  return "@%pt cp.async.bulk.global.shared::cta.bulk_group [" + to + "], [" + from + "], " +
         std::to_string(bytes) + ";";
}
// Returns instructions that wait for a phase of the mbarrier at %b. The label must be unique in the
// program.
std::string wait(const std::string& label, int parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [%b], " + std::to_string(parity) +
         ";\n@!%p1 bra " + label + ";";
}
const std::string kReadOwn = "ld.shared.u32 %r1, [%own];";
const std::string kKeepOwn =
    "mul.wide.u32 %y0, %i, 4; add.u64 %y0, %c, %y0; st.global.u32 [%y0], %r1;";
const std::string kNoCopyWait = "with no wait for the asynchronous copy between";

// A program that loads a tile of shared memory twice by bulk copies.
const Lines kLoads = {{10, kInit},
                      {11, kInitFence},
                      {12, kBarrier},
                      {13, expect(2048)},
                      {14, load("%s", "%a", 2048)},
                      {15, wait("first", 0)},
                      {16, kReadOwn},
                      {17, kKeepOwn},
                      {18, kFence},
                      {19, kBarrier},
                      {20, expect(2048)},
                      {21, load("%s", "%a+2048", 2048)},
                      {22, wait("second", 1)},
                      {23, kReadOwn},
                      {24, kKeepOwn},
                      {25, kBarrier},
                      {26, "@%pt mbarrier.inval.shared::cta.b64 [%b];"}};

TEST_F(PtxAsyncMistakes, Loads) {
  const std::string of_own = "thread [0, 0, 0]: Race reported between ";
  check(
      kLoads,
      {
          {"a tile is read before the copy has landed",
           {{15, ""}},
           kRacecheck,
           of_own +
               "Read access at byte 0 of shared memory (async.cu:16) and Async write access by "
               "thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"a wait for the preceding phase",
           {{15, wait("first", 1)}},
           kRacecheck,
           "(async.cu:16) and Async write access by thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"a wait by one warp",
           {{15, "@!%pw bra past;\n" + wait("first", 0) + "\npast:"}},
           kRacecheck,
           "thread [32, 0, 0]: Race reported between Read access at byte 512 of shared memory "
           "(async.cu:16) and Async write access by thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"a tile is overwritten while other warps read it",
           {{19, ""}},
           kRacecheck,
           "Async write access by thread [0, 0, 0] (async.cu:21)"},
          {"a tile is overwritten before its wait",
           {{13, expect(4096)}, {15, ""}, {16, ""}, {17, ""}, {20, ""}, {22, wait("second", 0)}},
           kRacecheck,
           "Race reported between Async write access at byte 0 of shared memory (async.cu:21) and "
           "Async write access by thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"an mbarrier is used before init",
           {{10, ""}},
           kMemcheck,
           "the mbarrier at byte 16384 of shared memory is not initialised; expected mbarrier.init "
           "before this use (async.cu:15)"},
          {"an mbarrier is used after inval",
           {{19, "bar.sync 0;\n@%pt mbarrier.inval.shared::cta.b64 [%b];"}},
           kMemcheck,
           "is not initialised; expected mbarrier.init before this use (async.cu:20)"},
          {"a second init without inval",
           {{20, kInit + "\n" + expect(2048)}},
           kMemcheck,
           "is initialised already; expected mbarrier.inval before this use (async.cu:20)"},
          {"more bytes are expected than copied",
           {{13, expect(2064)}},
           kMemcheck,
           "for phase 0 of the mbarrier at byte 16384 of shared memory (16 bytes missing) "
           "(async.cu:15)"},
          {"fewer bytes are expected than copied",
           {{13, expect(2032)}},
           kMemcheck,
           "for phase 0 of the mbarrier at byte 16384 of shared memory (16 bytes more than "
           "expected) (async.cu:15)"},
          {"no bytes are expected",
           {{13, "@%pt mbarrier.arrive.shared::cta.b64 %state, [%b];"}},
           kRacecheck,
           "(async.cu:16) and Async write access by thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"more arrivals than expected",
           {{13, expect(2048) + "\n@%pt mbarrier.arrive.shared::cta.b64 %state, [%b];"}},
           kMemcheck,
           "1 arrival at the mbarrier at byte 16384 of shared memory, whose phase 0 has 1 of 1 "
           "arrival (2048 bytes missing); expected a wait for this phase before the next arrival "
           "(async.cu:13)"},
          {"no arrival",
           {{13, "@%pt mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 2048;"}},
           kMemcheck,
           "for phase 0 of the mbarrier at byte 16384 of shared memory (1 of 1 arrival missing) "
           "(async.cu:15)"},
          {"no fence after init",
           {{11, ""}},
           kRacecheckAtWarn,
           "Race reported between Async reduction at byte 16384 of shared memory (async.cu:14) and "
           "Write access by thread [0, 0, 0] (async.cu:10), with no fence.mbarrier_init or "
           "fence.proxy.async between"},
          {"no barrier after init",
           {{12, ""}},
           kRacecheck,
           "(async.cu:15) and Write access by thread [0, 0, 0] (async.cu:10), with no barrier "
           "between"},
          {"a thread stores in the tile while the copy is in flight",
           {{14, load("%s", "%a", 2048) + "\n.loc 1 34 3\nst.shared.u32 [%own], %i;"}},
           kRacecheck,
           "Write access at byte 0 of shared memory (async.cu:34) and Async write access by thread "
           "[0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"the thread that copies stores in the tile before, without a fence",
           {{13, expect(2048) + "\n@%pt st.shared.u32 [%s], %i;"}},
           kRacecheck,
           "Async write access at byte 0 of shared memory (async.cu:14) and Write access by thread "
           "[0, 0, 0] (async.cu:13), with no fence.proxy.async between"},
          {"all threads store in the tile before a barrier, without a fence",
           {{11, kInitFence + "\nst.shared.u32 [%own], %i;"}},
           kRacecheckAtWarn,
           "Async write access at byte 0 of shared memory (async.cu:14) and Write access by thread "
           "[0, 0, 0] (async.cu:11), with no fence.proxy.async between"},
          {"the tile is read before a copy overwrites it, without a fence",
           {{18, ""}},
           kRacecheckAtWarn,
           "Async write access at byte 0 of shared memory (async.cu:21) and Read access by thread "
           "[0, 0, 0] (async.cu:16), with no fence.proxy.async between"},
          {"the source is written without a fence",
           {{13, expect(2048) + "\n@%pt st.global.u32 [%a+8], %i;"}},
           kRacecheck,
           "Async read access at byte 8 of 16384 bytes of global memory (async.cu:14) and Write "
           "access by thread [0, 0, 0] (async.cu:13), with no fence.proxy.async between"},
          {"the source is written with a fence for shared memory",
           {{13, expect(2048) + "\n@%pt st.global.u32 [%a+8], %i;\n" + kFence}},
           kRacecheck,
           "Async read access at byte 8 of 16384 bytes of global memory (async.cu:14) and Write "
           "access by thread [0, 0, 0] (async.cu:13), with no fence.proxy.async between"},
          {"the block ends before the copy has landed",
           {{22, ""}, {23, ""}, {24, ""}, {26, ""}},
           kRacecheck,
           "the block ends, and nothing orders an earlier Async write access to its shared memory "
           "by "
           "warp 0 (async.cu:21) before the end"},
      });
}

const std::string kStoreOwn = "st.shared.u32 [%own], %i;";
const std::string kCommit = "cp.async.bulk.commit_group;";

// A program that stores a tile of shared memory twice by bulk copies.
const Lines kStores = {{10, kStoreOwn},
                       {11, kFence},
                       {12, kBarrier},
                       {13, store("%c", "%s", 2048)},
                       {14, kCommit},
                       {15, "cp.async.bulk.wait_group.read 0;"},
                       {16, kBarrier},
                       {17, kStoreOwn},
                       {18, kFence},
                       {19, kBarrier},
                       {20, store("%c+2048", "%s", 2048)},
                       {21, kCommit},
                       {22, "cp.async.bulk.wait_group 0;"},
                       {23, "@%pt ld.global.u32 %r2, [%c+2048];"}};

TEST_F(PtxAsyncMistakes, Stores) {
  const std::string no_fence =
      "Async read access at byte 0 of shared memory (async.cu:13) and Write access by thread [0, "
      "0, "
      "0] (async.cu:10), with no fence.proxy.async between";
  const std::string overwritten =
      "of shared memory (async.cu:17) and Async read access by thread [0, 0, 0] (async.cu:13), " +
      kNoCopyWait;
  check(
      kStores,
      {
          {"no fence before a barrier", {{11, ""}}, kRacecheckAtWarn, no_fence},
          {"a fence for global memory",
           {{11, "fence.proxy.async.global;"}},
           kRacecheckAtWarn,
           no_fence},
          {"a fence by one warp",
           {{11, "@%pw " + kFence}},
           kRacecheckAtWarn,
           "Async read access at byte 512 of shared memory (async.cu:13) and Write access by "
           "thread "
           "[32, 0, 0] (async.cu:10), with no fence.proxy.async between"},
          {"a fence that precedes the stores", {{9, kFence}, {11, ""}}, kRacecheckAtWarn, no_fence},
          {"no barrier after the fence",
           {{12, ""}},
           kRacecheck,
           "and Async read access by thread [0, 0, 0] (async.cu:13)"},
          {"the thread that copies stores without a fence",
           {{12, kBarrier + "\n@%pt st.shared.u32 [%s], 7;"}},
           kRacecheck,
           "Async read access at byte 0 of shared memory (async.cu:13) and Write access by thread "
           "[0, 0, 0] (async.cu:12), with no fence.proxy.async between"},
          {"a tile is overwritten before the copy has read it",
           {{15, ""}},
           kRacecheck,
           overwritten},
          {"a wait that leaves the last group pending",
           {{15, "cp.async.bulk.wait_group.read 1;"}},
           kRacecheck,
           overwritten},
          {"a copy that no group contains", {{14, ""}}, kRacecheck, overwritten},
          {"a wait by another thread than the thread that copies",
           {{15, "@!%pt cp.async.bulk.wait_group.read 0;"}},
           kRacecheck,
           overwritten},
          {"a tile is overwritten by warps that do not wait",
           {{16, ""}},
           kRacecheck,
           "Write access at byte 512 of shared memory (async.cu:17) and Async read access by "
           "thread "
           "[0, 0, 0] (async.cu:13)"},
          {"the result is read after a wait for the sources only",
           {{22, "cp.async.bulk.wait_group.read 0;"}},
           kRacecheck,
           "Read access at byte 2048 of 16384 bytes of global memory (async.cu:23) and Async write "
           "access by thread [0, 0, 0] (async.cu:20), " +
               kNoCopyWait},
          {"two copies to the same bytes",
           {{20, store("%c+1024", "%s", 2048)}, {15, "cp.async.bulk.wait_group.read 0;"}},
           kRacecheck,
           "Async write access at byte 1024 of 16384 bytes of global memory (async.cu:20) and "
           "Async "
           "write access by thread [0, 0, 0] (async.cu:13), " +
               kNoCopyWait},
          {"the block ends before a bulk group has read its sources",
           {{22, ""}, {23, ""}},
           kRacecheckAtWarn,
           "thread [0, 0, 0]: the block ends, and a bulk copy (async.cu:20) may still read its "
           "shared "
           "memory; expected cp.async.bulk.wait_group.read before the end"},
      });
}

// Instructions that set, for round %round of a ring, the stage %stage, the parity %parity, the
// addresses %full and %empty of the stage's mbarriers, and the address %r3 of the stage's tile.
const std::string kStage =
    "and.b32 %stage, %round, 1; shr.u32 %parity, %round, 1; and.b32 %parity, %parity, 1;\n"
    "mad.lo.u32 %full, %stage, 16, %b; add.u32 %empty, %full, 8;\n"
    "mad.lo.u32 %r3, %stage, 512, %s;";
// Warp 1 copies tiles of 512 bytes for six rounds into a ring of two stages, which warp 0 reads.
const Lines kRing = {
    {10,
     "@%pt mbarrier.init.shared::cta.b64 [%b], 1;\n"
     "@%pt mbarrier.init.shared::cta.b64 [%b+8], 32;\n"
     "@%pt mbarrier.init.shared::cta.b64 [%b+16], 1;\n"
     "@%pt mbarrier.init.shared::cta.b64 [%b+24], 32;"},
    {11, kInitFence},
    {12, kBarrier},
    {13, "mov.u32 %round, 0;\n@%pw bra consume;\nsetp.ne.u32 %p2, %i, 32;\n@%p2 bra end;"},
    {19, "produce:\n" + kStage + "\nxor.b32 %r4, %parity, 1;"},
    {20,
     "not_empty: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%empty], %r4;\n"
     "@!%p1 bra not_empty;"},
    {21, "mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], 512;"},
    {22,
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%a], 512, "
     "[%full];"},
    {23, "add.u32 %round, %round, 1; setp.lt.u32 %p2, %round, 6;\n@%p2 bra produce;\nbra end;"},
    {29, "consume:\n" + kStage + "\nmad.lo.u32 %r5, %i, 16, %r3;"},
    {30,
     "not_full: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full], %parity;\n"
     "@!%p1 bra not_full;"},
    {31, "ld.shared.u32 %r1, [%r5];"},
    {32, kFence},
    {33, "mbarrier.arrive.shared::cta.b64 %state, [%empty];"},
    {34, "add.u32 %round, %round, 1; setp.lt.u32 %p2, %round, 6;\n@%p2 bra consume;\nend:"}};

TEST_F(PtxAsyncMistakes, Ring) {
  check(
      kRing,
      {
          {"a stage is released before it is read",
           {{31, ""}, {33, kRing.at(33) + "\n.loc 1 36 3\nld.shared.u32 %r1, [%r5];"}},
           kRacecheck,
           "Async write access at byte 0 of shared memory (async.cu:22) and Read access by thread "
           "[0, 0, 0] (async.cu:36)"},
          {"a stage is released without a fence, as DeepEP did before d4f41e4",
           {{32, ""}},
           kRacecheckAtWarn,
           "Async write access at byte 0 of shared memory (async.cu:22) and Read access by thread "
           "[0, 0, 0] (async.cu:31), with no fence.proxy.async between"},
          {"the producer does not wait for an empty stage",
           {{20, ""}},
           kMemcheck,
           "expected a wait for this phase before the next arrival (async.cu:21)"},
          {"the consumer waits for the phase before",
           {{30,
             "xor.b32 %r6, %parity, 1;\nnot_full: mbarrier.try_wait.parity.shared::cta.b64 %p1, "
             "[%full], %r6;\n@!%p1 bra not_full;"}},
           kRacecheck,
           "Read access at byte 0 of shared memory (async.cu:31) and Async write access by thread "
           "[32, 0, 0] (async.cu:22), " +
               kNoCopyWait},
          {"one lane releases a stage for all",
           {{33, "@%pt mbarrier.arrive.shared::cta.b64 %state, [%empty];"}},
           kMemcheck,
           "of the mbarrier at byte 16392 of shared memory (31 of 32 arrivals missing)"},
      },
      64);
}

// The lanes of the first warp store and arrive at a barrier without a wait. The second warp waits
// at this barrier and then completes a phase of an mbarrier. racecheck must report no race of the
// first warp's lanes with each other, since all lanes wait for the phase.
TEST_F(PtxAsyncMistakes, LanesThatAPhaseOrders) {
  const std::string store = "@%pw st.shared.u32 [%own], %i;";
  const std::string arrival = "@%pw barrier.arrive 1, 64;";
  const Lines program = {
      {10, kInit},
      {11, kInitFence},
      {12, kBarrier},
      {13, store},
      {14, arrival},
      {15, "@!%pw barrier.sync 1, 64;"},
      {16, "setp.eq.u32 %p2, %i, 32;\n@%p2 mbarrier.arrive.shared::cta.b64 %state, [%b];"},
      {17, wait("landed", 0)},
      {18, "xor.b32 %r2, %own, 16;\n@%pw ld.shared.u32 %r1, [%r2];"}};
  const std::string unordered = "with no __syncwarp() between that orders them";
  check(program,
        {{"a store after the arrival",
          {{13, ""}, {14, arrival + store}},
          kRacecheckAtWarn,
          unordered},
         {"one lane waits",
          {{17, "@!%pt bra waited;\n" + wait("landed", 0) + "\nwaited:"}},
          kRacecheckAtWarn,
          unordered}},
        64);
}

// Each thread stores, arrives at an mbarrier and waits for the phase. A lane that waits may then
// read what another lane of its warp stored before its arrival.
TEST_F(PtxAsyncMistakes, LanesThatArriveAndWait) {
  const std::string unordered =
      "thread [0, 0, 0]: Race reported between Read access at byte 16 of shared memory "
      "(async.cu:16) and Write access by thread [1, 0, 0] (async.cu:13), with no __syncwarp() "
      "between that orders them";
  const std::string init = "@%pt mbarrier.init.shared::cta.b64 [%b], ";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 %state, [%b];";
  const std::string store = "st.shared.u32 [%own], %i;";
  const std::string of_state =
      "landed: mbarrier.test_wait.shared::cta.b64 %p1, [%b], %state;\n@!%p1 bra landed;";
  const Mistake no_wait = {"a lane that does not wait",
                           {{15, "@%pt bra past;\n" + wait("landed", 0) + "\npast:"}},
                           kRacecheckAtWarn,
                           unordered};
  const Lines program = {{10, init + "64;"},
                         {11, kInitFence},
                         {12, kBarrier},
                         {13, store},
                         {14, arrive},
                         {15, wait("landed", 0)},
                         {16, "xor.b32 %r2, %own, 16;\nld.shared.u32 %r1, [%r2];"}};
  check(
      program,
      {{"a store after the arrival", {{13, arrive + store}, {14, ""}}, kRacecheckAtWarn, unordered},
       {"a store without an arrival",
        {{10, init + "63;"}, {14, "setp.ne.u32 %p2, %i, 1;\n@%p2 " + arrive}},
        kRacecheckAtWarn,
        unordered},
       no_wait},
      64);
  Lines of_one = program;  // thread 1 arrives for all threads
  of_one[10] = init + "1;";
  of_one[13] = "setp.eq.u32 %p2, %i, 1;\n@%p2 " + store;
  of_one[14] = "@%p2 " + arrive;
  check(of_one, {no_wait}, 64);
  Lines states = program;
  states[15] = of_state;
  check(states,
        {{"a store after the arrival",
          {{13, arrive + store}, {14, ""}},
          kRacecheckAtWarn,
          unordered}},
        64);
  Lines dropped = states;
  dropped[14] = "mbarrier.arrive_drop.shared::cta.b64 %state, [%b];";
  check(dropped, {no_wait}, 64);
  Lines copied = program;
  copied[13] = "cp.async.ca.shared.global [%own], [%a], 16;";
  copied[14] = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];";
  Mistake no_wait_for_copies = no_wait;
  no_wait_for_copies.report =
      "Async copy access by thread [1, 0, 0] (async.cu:13), with no "
      "__syncwarp() between that orders them";
  check(copied, {no_wait_for_copies}, 64);
  // The threads wait for a second phase.
  Lines twice = program;
  twice[13] = arrive + wait("before", 0) + store;
  twice[15] = wait("landed", 1);
  check(twice, {{"no wait for the second phase", {{15, ""}}, kRacecheckAtWarn, unordered}}, 64);
}

// The lanes of the first warp store and arrive at an mbarrier, at which the second warp waits. The
// second warp completes a phase of another mbarrier, at which the first warp waits.
TEST_F(PtxAsyncMistakes, LanesThatAnotherWarpOrders) {
  const std::string unordered = "with no __syncwarp() between that orders them";
  const std::string store = "@%pw st.shared.u32 [%own], %i;";
  const std::string arrive = "@%pw mbarrier.arrive.shared::cta.b64 %state, [%b];";
  const std::string answer =
      "setp.eq.u32 %p2, %i, 32;\n@%p2 mbarrier.arrive.shared::cta.b64 %state, [%b+8];";
  const Lines program = {{10,
                          "@%pt mbarrier.init.shared::cta.b64 [%b], 32;\n"
                          "@%pt mbarrier.init.shared::cta.b64 [%b+8], 1;"},
                         {11, kInitFence},
                         {12, kBarrier},
                         {13, store},
                         {14, arrive},
                         {15, "@%pw bra answered;\n" + wait("asked", 0)},
                         {16, ""},
                         {17, answer + "\nbra end;"},
                         {18,
                          "answered: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%b+8], 0;\n"
                          "@!%p1 bra answered;"},
                         {19, "xor.b32 %r2, %own, 16;\nld.shared.u32 %r1, [%r2];\nend:"}};
  const std::vector<Mistake> mistakes = {
      {"a store after the arrival", {{13, ""}, {14, arrive + store}}, kRacecheckAtWarn, unordered},
      {"an answer before the wait",
       {{15, "@%pw bra answered;\n" + answer + wait("asked", 0)}, {17, "bra end;"}},
       kRacecheckAtWarn,
       unordered}};
  check(program, mistakes, 64);
  // A third warp answers after a barrier with the second warp.
  Lines of_three = program;
  of_three[15] = "@%pw bra answered;\nsetp.ge.u32 %p3, %i, 64;\n@%p3 bra joined;\n" +
                 wait("asked", 0) + "\njoined:";
  of_three[16] = "bar.sync 1, 64;";
  of_three[17] =
      "setp.eq.u32 %p2, %i, 64;\n"
      "@%p2 mbarrier.arrive.shared::cta.b64 %state, [%b+8];\nbra end;";
  check(of_three, {mistakes[0], {"no barrier", {{16, ""}}, kRacecheckAtWarn, unordered}}, 96);
}

// A warp that executes bar.arrive and then bar.sync at the same barrier arrives twice, so two of
// four warps complete the barrier, and racecheck must report the accesses that the barrier does not
// order. FlashInfer's epilogue of sm_90 attention contains such code.
TEST_F(PtxAsyncMistakes, ArrivalBeforeAWaitAtOneBarrier) {
  check({{10, "st.shared.u32 [%own], %i;"},
         {11, ""},
         {12, "bar.sync 1, 128;"},
         {13, "xor.b32 %r2, %i, 96;\nmad.lo.u32 %r2, %r2, 16, %s;\nld.shared.u32 %r1, [%r2];"},
         {14, kKeepOwn}},
        {{"an arrival before the wait",
          {{11, "bar.arrive 1, 128;"}},
          kRacecheck,
          "with no barrier between that orders them"}});
}

// In the mistake, warp 1 completes phases 0 and 1 before warp 0 waits for phase 0. Warp 0 then
// waits for phase 2, and memcheck must report that the threads of warp 0 were lapped.
TEST_F(PtxAsyncMistakes, LappedWaiter) {
  const std::string arrive =
      "setp.ne.u32 %p2, %i, 32;\n@!%p2 mbarrier.arrive.shared::cta.b64 %state, [%b];";
  const Lines program = {
      {10, kInit},    {11, kInitFence},        {12, kBarrier},         {13, arrive},
      {14, kBarrier}, {15, "@!%pw bra past;"}, {16, wait("first", 0)}, {17, "past:\n" + kBarrier}};
  check(program,
        {{"a waiter is lapped",
          {{14, arrive + "\nbar.sync 0;"}},
          kMemcheck,
          "for phase 2 of the mbarrier at byte 16384 of shared memory (1 of 1 arrival missing, "
          "phases 0 to 1 completed since the thread's last wait: the thread was lapped) "
          "(async.cu:16) and thread [32, 0, 0] waits at __syncthreads() (async.cu:17)"}},
        64);
}

// Sets the descriptors %da and %db of the matrices A (64 rows, at %s) and B (8 columns, at
// %s+2048). A row or column has 16 elements of 16 bits.
const std::string kDescriptors =
    "shr.u32 %r2, %s, 4; cvt.u64.u32 %da, %r2; or.b64 %da, %da, 0x0000000800400000;\n"
    "add.u32 %r2, %r2, 128; cvt.u64.u32 %db, %r2; or.b64 %db, %db, 0x0000000800080000;\n"
    "mov.f32 %d0, 0f00000000; mov.f32 %d1, 0f00000000; mov.f32 %d2, 0f00000000;\n"
    "mov.f32 %d3, 0f00000000;";
const std::string kMultiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %da, %db, 1, 1, 1, 0, 0;";
const Lines kProduct = {{9, kDescriptors},
                        {10, kInit},
                        {11, kInitFence},
                        {12, kBarrier},
                        {13, expect(2304)},
                        {14, load("%s", "%a", 2048)},
                        {15, load("%s+2048", "%a+2048", 256)},
                        {16, wait("first", 0)},
                        {17, "wgmma.fence.sync.aligned;"},
                        {18, kMultiply},
                        {19, "wgmma.commit_group.sync.aligned;"},
                        {20, "wgmma.wait_group.sync.aligned 0;\nbar.sync 0;"},
                        {21, "st.shared.f32 [%own], %d0;"},
                        {22, kFence},
                        {23, kBarrier},
                        {24, store("%c", "%s", 2048)},
                        {25, kCommit},
                        {26, "cp.async.bulk.wait_group 0;"}};

TEST_F(PtxAsyncMistakes, Products) {
  const std::string of_d =
      "Access to a register (async.cu:21) of wgmma.mma_async (async.cu:18), with no "
      "wgmma.wait_group between";
  check(
      kProduct,
      {
          {"D is read before the wait", {{20, kBarrier}}, kRacecheck, of_d},
          {"D is read after a wait for another group",
           {{20, "wgmma.wait_group.sync.aligned 1;\nbar.sync 0;"}},
           kRacecheck,
           of_d},
          {"D is of a product that no group contains",
           {{19, ""}},
           kRacecheck,
           "Access to a register (async.cu:21) of wgmma.mma_async (async.cu:18), which is in no "
           "committed group at wgmma.wait_group; expected wgmma.commit_group before the wait"},
          {"D is of a product that no group contains, without a wait",
           {{19, ""}, {20, kBarrier}},
           kRacecheck,
           of_d},
          {"D is written before the wait",
           {{20, "mov.f32 %d3, 0f3f800000;\nwgmma.wait_group.sync.aligned 0;\nbar.sync 0;"}},
           kRacecheck,
           "Access to a register (async.cu:20) of wgmma.mma_async (async.cu:18), with no "
           "wgmma.wait_group between"},
          {"A is overwritten before the wait",
           {{20, "st.shared.u32 [%own], %i;\nwgmma.wait_group.sync.aligned 0;\nbar.sync 0;"}},
           kRacecheck,
           "Write access at byte 0 of shared memory (async.cu:20) and Async read access by thread "
           "[0, 0, 0] (async.cu:18), with no wgmma.wait_group between that orders them"},
          {"the product starts before the copies have landed",
           {{16, ""}},
           kRacecheck,
           "Async read access at byte 0 of shared memory (async.cu:18) and Async write access by "
           "thread [0, 0, 0] (async.cu:14), " +
               kNoCopyWait},
          {"B is stored by threads without a fence, as in CUTLASS's tutorial 01",
           {{13, expect(2048)},
            {15, "st.shared.u32 [%own+2048], %i;\nbar.sync 0;"},
            {16, wait("first", 0)}},
           kRacecheckAtWarn,
           "Async read access at byte 2048 of shared memory (async.cu:18) and Write access by "
           "thread "
           "[0, 0, 0] (async.cu:15), with no fence.proxy.async between"},
          {"the result is stored without a fence",
           {{22, ""}},
           kRacecheckAtWarn,
           "Async read access at byte 0 of shared memory (async.cu:24) and Write access by thread "
           "[0, 0, 0] (async.cu:21), with no fence.proxy.async between"},
          {"a product reads the sums of another product",
           {{19,
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d2,%d3,%d0,%d1}, %da, %db, 1, 1, "
             "1, 0, 0;\nwgmma.commit_group.sync.aligned;"}},
           kRacecheck,
           "Access to a register (async.cu:19) of wgmma.mma_async (async.cu:18), with no "
           "wgmma.wait_group between"},
      });
}

TEST_F(PtxAsyncMistakes, DescriptorsThatDifferBetweenLanes) {
  const auto differs = [](const std::string& matrix) {
    return "thread [37, 0, 0]: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16: the descriptor "
           "of "
           "matrix " +
           matrix +
           " differs from the descriptor in lane 0 of the warp; expected the same descriptor in "
           "all "
           "threads of the warpgroup (async.cu:18)";
  };
  const std::string in_one_lane = ";\nsetp.eq.u32 %p4, %i, 37;\n@%p4 add.u64 ";
  check(kProduct, {{"the descriptor of A differs in one lane",
                    {{9, kDescriptors + in_one_lane + "%da, %da, 16;"}},
                    kMemcheck,
                    differs("A")},
                   {"the descriptor of B differs in one lane",
                    {{9, kDescriptors + in_one_lane + "%db, %db, 16;"}},
                    kMemcheck,
                    differs("B")}});
}

TEST_F(PtxAsyncMistakes, ProductsWithAInRegisters) {
  Lines program = kProduct;
  program[17] =
      "mov.u32 %f0, %i; mov.u32 %f1, 0; mov.u32 %f2, 0; mov.u32 %f3, 0;\nwgmma.fence.sync.aligned;";
  program[18] =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, {%f0,%f1,%f2,%f3}, "
      "%db, "
      "1, 1, 1, 0;";
  check(program, {{"A is overwritten before the wait",
                   {{19, "wgmma.commit_group.sync.aligned;\nmov.u32 %f2, %i;"}},
                   kRacecheck,
                   "Access to a register (async.cu:19) of wgmma.mma_async (async.cu:18), with no "
                   "wgmma.wait_group between"}});
}

// nvcc copies sums to other registers between a product and the wait, for variables of a loop that
// pass through an empty asm statement, as in DeepGEMM's tf32_hc_prenorm. Such copies are permitted;
// a change of a copy before the wait must be reported.
TEST_F(PtxAsyncMistakes, CopiesOfSumsBeforeTheWait) {
  Lines program = kProduct;
  program[9] = ".reg .f32 %e<4>;\n" + kDescriptors;
  program[18] = kMultiply + "\nwgmma.commit_group.sync.aligned;";
  program[19] =
      "mov.f32 %e0, %d0; mov.f32 %e1, %d1; mov.f32 %e2, %d2; mov.f32 %e3, %d3;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0,%e1,%e2,%e3}, %da, %db, 1, 1, 1, 0, "
      "0;\nwgmma.commit_group.sync.aligned;";
  program[21] = "st.shared.f32 [%own], %e0;";
  check(program, {{"a copy of a sum is changed before the wait",
                   {{19, "mov.f32 %e0, %d0;\nadd.f32 %e0, %e0, 0f3f800000;"}},
                   kRacecheck,
                   "Access to a register (async.cu:19) of wgmma.mma_async (async.cu:18), with no "
                   "wgmma.wait_group between"},
                  {"a sum is set to a constant before the wait",
                   {{19, program[19] + "\nmov.f32 %e1, 0f00000000;"}},
                   kRacecheck,
                   "Access to a register (async.cu:19) of wgmma.mma_async (async.cu:19), with no "
                   "wgmma.wait_group between"}});
}

// PTX ISA, "wgmma.fence": a fence is needed before the first product, and between an access to a
// register of a product and the product.
TEST_F(PtxAsyncMistakes, FencesOfProducts) {
  const std::string commit = "\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  const std::string none = "wgmma.mma_async (async.cu:18), with no wgmma.fence before the product";
  const std::string add = "add.f32 %d1, %d1, 0f3f800000;";
  const std::string fence = "wgmma.fence.sync.aligned;";
  Lines program = kProduct;
  // The program computes a product, changes its sums and computes a second product.
  program[19] = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  program[20] = add + "\nst.shared.f32 [%own+8192], %d2;";
  program[21] = fence;
  program[22] = kMultiply + commit;
  program[23] = "bar.sync 0;\nst.shared.f32 [%own], %d0;\n" + kFence + "\n" + kBarrier;
  check(program,
        {{"no fence before the first product", {{17, ""}}, kRacecheck, none},
         {"a fence after the first product", {{17, ""}, {18, kMultiply + fence}}, kRacecheck, none},
         {"a fence of one warp of the warpgroup",
          {{17, "@%pw " + fence}},
          kRacecheck,
          "thread [32, 0, 0]: " + none},
         {"a sum is changed after the fence",
          {{20, ""}, {21, fence + "\n.loc 1 27 3\n" + add}},
          kRacecheck,
          "wgmma.mma_async (async.cu:22) after a write to its register (async.cu:27), with no "
          "wgmma.fence between"},
         {"a sum is changed, and there is no second fence",
          {{21, ""}},
          kRacecheck,
          "wgmma.mma_async (async.cu:22) after a write to its register (async.cu:20), with no "
          "wgmma.fence between"},
         {"a changed value is moved into a sum",
          {{20, "add.f32 %x, %d1, 0f3f800000;"},
           {21, "mov.f32 %d3, %x;"},
           {9, ".reg .f32 %x;\n" + kDescriptors}},
          kRacecheck,
          "wgmma.mma_async (async.cu:22) after a write to its register (async.cu:20), with no "
          "wgmma.fence between"},
         {"a sum is read, and there is no second fence",
          {{20, "st.shared.f32 [%own+8192], %d2;"}, {21, ""}},
          kRacecheckAtWarn,
          "wgmma.mma_async (async.cu:22) after a read of its register (async.cu:20), with no "
          "wgmma.fence between"},
         {"a sum is loaded, and there is no second fence",
          {{20, "ld.shared.v2.f32 {%d2, %d3}, [%own+8192];"}, {21, ""}},
          kRacecheck,
          "wgmma.mma_async (async.cu:22) after a write to its register (async.cu:20), with no "
          "wgmma.fence between"}});
  // Moves between a fence and a product are permitted if the moved values are constants or were
  // computed before the fence.
  program[9] = ".reg .f32 %x<2>; .reg .pred %zero;\n" + kDescriptors;
  program[20] = add + "\nmov.f32 %x0, %d1; setp.gt.u32 %zero, %i, 64;";
  program[21] = fence +
                "\nmov.f32 %x1, %x0; mov.f32 %d1, %x1; selp.f32 %d2, 0f00000000, %d2, %zero;\n"
                "mov.f32 %d3, 0f00000000;";
  check(program, {});
}

TEST_F(PtxAsyncMistakes, FencesBetweenShapes) {
  Lines program = kProduct;
  program[9] = ".reg .f32 %e<4>;\n" + kDescriptors +
               "\nmov.f32 %e0, 0f00000000; mov.f32 %e1, 0f00000000; mov.f32 %e2, 0f00000000; "
               "mov.f32 %e3, 0f00000000;";
  program[18] = kMultiply + "\n" + kMultiply;
  program[19] = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  program[20] = "wgmma.fence.sync.aligned;";
  program[21] =
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%d0,%d1,%d2,%d3}, %da, %db, 1, 1, 1;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  program[22] = "bar.sync 0;\nst.shared.f32 [%own], %d0;\n" + kFence;
  const std::string unfenced = "(async.cu:18), with no wgmma.fence between";
  check(program, {{"products of two shapes",
                   {{20, ""}},
                   kRacecheck,
                   "wgmma.mma_async (async.cu:21) after a product of another shape " + unfenced}});
  program[21] =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0,%e1,%e2,%e3}, {%f0,%f1,%f2,%f3}, "
      "%db, 1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  program[20] =
      "mov.b32 %f0, %d0; mov.b32 %f1, %d1; mov.b32 %f2, %d2; mov.b32 %f3, %d3;\n"
      "wgmma.fence.sync.aligned;";
  Lines converted = program;
  converted[20] =
      "cvt.rn.f16x2.f32 %f0, %d1, %d0; mov.b32 %f1, %f0;\nmov.b32 %f2, %f0; mov.b32 %f3, %f0;\n"
      "wgmma.fence.sync.aligned;";
  check(program,
        {{"A has sums of a product",
          {{20, program[20].substr(0, program[20].find("wgmma.fence"))}},
          kRacecheck,
          "wgmma.mma_async (async.cu:21) with a register of A that a product wrote " + unfenced}});
  check(converted,
        {{"A is converted, and there is no second fence",
          {{20, converted[20].substr(0, converted[20].find("wgmma.fence"))}},
          kRacecheck,
          "wgmma.mma_async (async.cu:21) after a write to its register (async.cu:20), with no "
          "wgmma.fence between"}});
}

// Two products whose registers must not share storage in the simulator, although the first product
// is the last use of its A and the second product is the first use of its sums: the products run
// asynchronously.
TEST_F(PtxAsyncMistakes, ProductsWithSumsThatAreNotRead) {
  Lines program = kProduct;
  program[9] = program[9].substr(0, program[9].find("mov.f32"));
  program[17] =
      ".reg .b32 %g<4>; .reg .f32 %e<4>;\n"
      "mov.u32 %f0, %i; mov.u32 %f1, 0; mov.u32 %f2, 0; mov.u32 %f3, 0;\n"
      "mov.u32 %g0, %i; mov.u32 %g1, 0; mov.u32 %g2, 0; mov.u32 %g3, 0;\nwgmma.fence.sync.aligned;";
  program[18] =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0,%e1,%e2,%e3}, {%f0,%f1,%f2,%f3}, "
      "%db, 0, 1, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, {%g0,%g1,%g2,%g3}, "
      "%db, 0, 1, 1, 0;";
  check(program, {});
}

// Returns instructions by which one thread makes a tensor map, at the address `at`, of the 64 words
// at %a.
std::string make_map(const std::string& space, const std::string& at) {
  const std::string replace = "@%pt tensormap.replace.tile.", type = "." + space + ".b1024.b";
  return replace + "global_address" + type + "64 [" + at + "], %a;\n" + replace + "rank" + type +
         "32 [" + at + "], %zero;\n" + replace + "box_dim" + type + "32 [" + at +
         "], 0, %count;\n" + replace + "global_dim" + type + "32 [" + at + "], 0, %count;\n" +
         replace + "element_stride" + type + "32 [" + at + "], 0, %one;\n" + replace + "elemtype" +
         type + "32 [" + at + "], 2;\n" + replace + "swizzle_mode" + type + "32 [" + at + "], 0;";
}
std::string load_by_map(const std::string& map) {
  return "@%pt cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[%s], [" +
         map + ", {%zero}], [%b];";
}
const std::string kReleaseMaps = "fence.proxy.tensormap::generic.release.gpu;";
const std::string kAcquireMap = "fence.proxy.tensormap::generic.acquire.gpu [%c], 128;";
const Lines kMapInGlobalMemory = {
    {9, ".reg .b32 %zero, %one, %count;\nmov.b32 %zero, 0; mov.b32 %one, 1; mov.b32 %count, 64;"},
    {10, kInit},
    {11, kInitFence},
    {12, kBarrier},
    {13, make_map("global", "%c")},
    {14, kReleaseMaps},
    {15, kAcquireMap},
    {16, expect(256)},
    {17, load_by_map("%c")},
    {18, wait("first", 0)}};

// Before a bulk copy reads a tensor map that a kernel changed, the changes must be released and an
// acquire fence for the map must follow: the copy reads the map by the tensormap proxy (PTX ISA,
// "membar, fence").
TEST_F(PtxAsyncMistakes, TensorMaps) {
  const std::string unfenced =
      "Async read access at byte 4 of 16384 bytes of global memory (async.cu:17) and Write access "
      "by thread [0, 0, 0] (async.cu:13), with no fence.proxy.tensormap between";
  check(kMapInGlobalMemory,
        {{"no acquire fence", {{15, ""}}, kRacecheck, unfenced},
         {"no release fence", {{14, ""}}, kRacecheck, unfenced},
         {"no fence", {{14, ""}, {15, ""}}, kRacecheck, unfenced},
         {"fence.proxy.async in place of the fences",
          {{14, "fence.proxy.async;"}, {15, ""}},
          kRacecheck,
          unfenced},
         {"an acquire fence before the changes",
          {{12, kBarrier + "\n" + kAcquireMap}, {15, ""}},
          kRacecheck,
          unfenced},
         {"an acquire fence for another map",
          {{15, "fence.proxy.tensormap::generic.acquire.gpu [%c+128], 128;"}},
          kRacecheck,
          unfenced},
         {"an acquire fence by another warp, without a barrier",
          {{15, "@!%pw " + kAcquireMap}},
          kRacecheck,
          unfenced},
         {"another warp changes the map, and the thread polls a flag after its acquire fence",
          {{14, kReleaseMaps + "\nsetp.eq.u32 %p3, %i, 32;\n@%p3 st.global.u32 [%c+124], 1;\n" +
                    kReleaseMaps + "\n@%p3 st.release.gpu.global.u32 [%c+4096], 1;"},
           {16,
            "@!%pt bra polled;\npoll: ld.relaxed.gpu.global.u32 %r2, [%c+4096];\n"
            "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra poll;\npolled:\n" +
                expect(256)}},
          kRacecheckAtWarn,
          "Async read access at byte 124 of 16384 bytes of global memory (async.cu:17) and Write "
          "access by thread [32, 0, 0] (async.cu:14), with no acquire fence between"}});
}

// After tensormap.cp_fenceproxy has copied a tensor map to global memory, an acquire fence by one
// warp and a barrier are sufficient for a bulk copy by another warp with this map.
TEST_F(PtxAsyncMistakes, CopiesOfTensorMaps) {
  Lines program = kMapInGlobalMemory;
  program[13] =
      ".reg .b64 %map; .reg .b32 %m;\nadd.u32 %m, %s, 4096; cvt.u64.u32 %map, %m;\n"
      "mad.lo.u32 %r3, %i, 4, %m;\n@%pw st.shared.u32 [%r3], 0;\nbar.sync 0;\n" +
      make_map("shared::cta", "%map") + "\nbar.warp.sync -1;";
  program[14] =
      "@%pw tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%c], [%map], 128;\nbar.sync 0;";
  program[15] = "@!%pw " + kAcquireMap + "\nbar.sync 0;";
  check(program,
        {{"no acquire fence",
          {{15, ""}},
          kRacecheck,
          "Async read access at byte 0 of 16384 bytes of global memory (async.cu:17) and Write "
          "access by thread [0, 0, 0] (async.cu:14), with no fence.proxy.tensormap between"},
         {"no barrier after the acquire fence",
          {{15, "@!%pw " + kAcquireMap}},
          kRacecheck,
          "(async.cu:14), with no fence.proxy.tensormap between"}});
}

// The CUDA C++ Programming Guide requires the acquire fence also for a tensor map that the host
// copied to global memory.
TEST_F(PtxAsyncMistakes, TensorMapsOfTheHost) {
  Lines program = kMapInGlobalMemory;
  program[13] = program[14] = "";
  program[15] =
      ".reg .b64 %map;\nadd.u64 %map, %c, 8192;\n"
      "fence.proxy.tensormap::generic.acquire.sys [%map], 128;";
  program[17] = load_by_map("%map");
  check(program, {{"no acquire fence",
                   {{15, ".reg .b64 %map;\nadd.u64 %map, %c, 8192;"}},
                   kRacecheckAtWarn,
                   "a copy (async.cu:17) reads a tensor map in global memory; expected "
                   "fence.proxy.tensormap with .acquire before"}});
}

const char* const kPair = ".explicitcluster\n.reqnctapercluster 2, 1, 1\n";
const std::string kClusterBarrier =
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;";

// Each block of a cluster of two stores in the shared memory of the other block. After a barrier,
// each block loads from its own shared memory and from that of the other block.
const Lines kPeers = {{10, kClusterBarrier},
                      {11, "st.shared::cluster.u32 [%peer], %i;"},
                      {12, kClusterBarrier},
                      {13, "ld.shared.u32 %r1, [%own];"},
                      {14, "ld.shared::cluster.u32 %r1, [%peer];"},
                      {15, kClusterBarrier}};

TEST_F(PtxAsyncMistakes, SharedMemoryOfAPeer) {
  check(
      kPeers,
      {
          {"a block reads what its peer stores, without a barrier",
           {{12, ""}},
           kRacecheck,
           "(async.cu:11)"},
          {"a block stores in its peer's memory while the peer reads",
           {{13, "ld.shared.u32 %r1, [%own];\n.loc 1 17 3\nst.shared::cluster.u32 [%peer], 9;"}},
           kRacecheck,
           "(async.cu:17)"},
          {"an arrival with .relaxed",
           {{12, "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;"}},
           kRacecheck,
           "(async.cu:11), with barrier.cluster.arrive.relaxed between, which releases nothing"},
          {"an initialisation before an arrival with .relaxed",
           {{10,
             kInit + "\nbarrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;"},
            {15,
             "mapa.shared::cluster.u32 %r2, %b, %r0;\n@%pt "
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n" +
                 kClusterBarrier},
            {11, ""},
            {12, ""},
            {13, ""},
            {14, ""}},
           kRacecheck,
           "with barrier.cluster.arrive.relaxed between, which releases nothing"},
          {"a fence of block scope before an arrival with .relaxed",
           {{12,
             "fence.acq_rel.cta;\nbarrier.cluster.arrive.relaxed.aligned;\n"
             "barrier.cluster.wait.aligned;"}},
           kRacecheck,
           "(async.cu:11)"},
          {"a block reads its memory between arrival and wait",
           {{12,
             "barrier.cluster.arrive.aligned;\n.loc 1 18 3\nld.shared.u32 %r1, [%own];\n"
             ".loc 1 12 3\nbarrier.cluster.wait.aligned;"}},
           kRacecheck,
           "(async.cu:18)"},
          {"a block ends while its peer reads its memory",
           {{15, ""}},
           kRacecheck,
           "block [1, 0, 0], thread [0, 0, 0]: the block ends, and nothing orders an earlier Read "
           "access to its shared memory by block [0, 0, 0] (async.cu:14) before the end"},
      },
      32, kPair, 2);
}

// Each block of a cluster of two reduces its words into the shared memory of the other block. The
// mbarrier in the other block counts the bytes.
const Lines kReductions = {
    {10, kInit},
    {11, kInitFence},
    {12, "st.shared.u32 [%own], %i;\nst.shared.u32 [%own+1024], %i;"},
    {13, kFence},
    {14, kClusterBarrier},
    {15, expect(512)},
    {16,
     ".reg .b32 %to, %counts;\nadd.u32 %to, %s, 1024; mapa.shared::cluster.u32 %to, %to, %r0;\n"
     "mapa.shared::cluster.u32 %counts, %b, %r0;\n"
     "@%pt cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
     "[%to], [%s], 512, [%counts];"},
    {17, wait("first", 0)},
    {18, "ld.shared.u32 %r1, [%own+1024];"},
    {19, kClusterBarrier},
    {20, "st.shared.u32 [%own], %r1;"}};

TEST_F(PtxAsyncMistakes, ReductionsIntoAPeer) {
  check(kReductions,
        {{"the sums are read before the wait",
          {{17, "ld.shared.u32 %r1, [%own+1024];"}, {18, wait("first", 0)}},
          kRacecheck,
          "(async.cu:17)"},
         {"the words are overwritten while the other block's mbarrier counts them",
          {{19, "st.shared.u32 [%own], %r1;"}, {20, kClusterBarrier}},
          kRacecheck,
          "(async.cu:19)"},
         {"the words are stored without a fence",
          {{13, ""}},
          kRacecheckAtWarn,
          "with no fence.proxy.async between"},
         {"the mbarrier counts fewer bytes than expected",
          {{15, expect(528)}},
          kMemcheck,
          "(async.cu:17)"}},
        32, kPair, 2);
}

// A fence before barrier.cluster.arrive.relaxed releases the thread's earlier accesses.
TEST_F(PtxAsyncMistakes, FencesBeforeRelaxedArrivals) {
  Lines fenced = kPeers;
  fenced[12] =
      "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.aligned;";
  check(fenced, {}, 32, kPair, 2);
}

// Block 0 stores an element of global memory and releases the store with scope cluster. The release
// orders a load by the other block of the cluster, but not a load by a block of another cluster.
TEST_F(PtxAsyncMistakes, ScopeOfAClusterOnly) {
  const auto waiter = [](const std::string& block) {
    return "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra stores;\n"
           "setp.eq.u32 %p2, %r1, " +
           block + ";\n@%p2 bra waits;\nbra ends;";
  };
  const Lines lines = {
      {10, waiter("1")},
      {11, "stores: @%pt st.global.u32 [%a], 7;"},
      {12, "@%pt st.release.cluster.global.u32 [%c], 1;\nbra ends;"},
      {13,
       "waits: ld.acquire.cluster.global.u32 %r2, [%c];\nsetp.eq.u32 %p3, %r2, 0;\n"
       "@%p3 bra waits;"},
      {14, "ld.global.u32 %r1, [%a];"},
      {15, "ends:"}};
  Lines wide = lines;
  wide[10] = waiter("2");
  wide[12] = "@%pt st.release.gpu.global.u32 [%c], 1;\nbra ends;";
  wide[13] =
      "waits: ld.acquire.gpu.global.u32 %r2, [%c];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra waits;";
  check(wide, {}, 32, kPair, 4);
  check(lines,
        {{"the other block is in another cluster",
          {{10, waiter("2")}},
          kRacecheck,
          "Write access by block [0, 0, 0], thread [0, 0, 0] (async.cu:11), with a fence of scope "
          "cluster between, and the threads are in different clusters"}},
        32, kPair, 4);
}

// Block 0 copies a tile into both blocks of the cluster by multicast; after reading the tile, the
// blocks release it to block 0.
const Lines kMulticast = {
    {10, kInit + "\n@%pt mbarrier.init.shared::cta.b64 [%b+8], 2;"},
    {11, kInitFence},
    {12, kClusterBarrier},
    {13, expect(512)},
    {14,
     "setp.ne.u32 %p2, %rank, 0;\n@%p2 bra copied;\n.reg .b16 %mask;\nmov.u16 %mask, 3;\n"
     "@%pt cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[%s], [%a], 512, [%b], %mask;\ncopied:"},
    {15, wait("first", 0)},
    {16, kReadOwn},
    {17, kFence + "\nbar.warp.sync -1;"},
    {18,
     ".reg .b32 %first;\nmov.u32 %r3, 0;\nadd.u32 %r4, %b, 8;\n"
     "mapa.shared::cluster.u32 %first, %r4, %r3;\n"
     "@%pt mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%first];"},
    {19,
     "@%p2 bra released;\nwaits: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, "
     "[%b+8], 0;\n@!%p1 bra waits;\nreleased:"},
    {20, expect(512)},
    {21,
     "@%p2 bra again;\n"
     "@%pt cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[%s], [%a], 512, [%b], %mask;\nagain:"},
    {22, wait("second", 1)},
    {23, kReadOwn}};

TEST_F(PtxAsyncMistakes, Multicast) {
  check(kMulticast,
        {
            {"a block reads before the copy of its peer has landed",
             {{15, "@%p2 bra past;\n" + wait("first", 0) + "\npast:"},
              {17, kMulticast.at(17) + "\n@!%p2 bra late;\n" + wait("third", 0) + "\nlate:"}},
             kRacecheck,
             "Async write access at byte 0 of shared memory of block [1, 0, 0] (async.cu:14) and "
             "Read "
             "access by block [1, 0, 0], thread [0, 0, 0] (async.cu:16)"},
            {"a copy overwrites the tile of a peer that did not release it",
             {{19, ""}},
             kRacecheck,
             "Async write access at byte 0 of shared memory of block [1, 0, 0] (async.cu:21) and "
             "Async "
             "write access by thread [0, 0, 0] (async.cu:14), " +
                 kNoCopyWait},
            {"a peer releases the tile without a fence",
             {{17, ""}},
             kRacecheckAtWarn,
             "(async.cu:16), with no fence.proxy.async between"},
            {"a block ends before a copy of its peer has landed",
             {{22, "@%p2 bra left;\n" + wait("second", 1) + "\nleft:"}, {23, ""}},
             kMemcheck,
             "the copy is for block 1 of the cluster, which has ended (async.cu:21)"},
            {"arrivals at a peer's mbarrier after the peer may have ended",
             {{19, ""}, {20, ""}, {21, ""}, {22, ""}, {23, ""}},
             kRacecheck,
             "the block ends, and nothing orders an earlier Atomic access to its shared memory by "
             "block [1, 0, 0] (async.cu:18) before the end"},
        },
        32, kPair, 2);
}

// Faults of FlashKDA 5fdc7b2, which racecheck must report: no fence follows mbarrier.init, and no
// proxy fence precedes a bulk copy of a state in shared memory that all threads initialised or
// converted.
TEST_F(PtxAsyncMistakes, FlashKDA) {
  const Lines fixed = {{10, kInit},
                       {11, kInitFence},
                       {12, expect(2048)},
                       {13, load("%s+4096", "%a", 2048)},
                       {14, "st.shared.u32 [%own], 0;"},
                       {15, kFence},
                       {16, kBarrier},
                       {17, wait("first", 0)},
                       {18, store("%c", "%s", 2048)},
                       {19, kCommit},
                       {20, "cp.async.bulk.wait_group 0;"}};
  check(
      fixed,
      {{"the barrier of the transaction",
        {{11, ""}, {15, ""}},
        kRacecheckAtWarn,
        "(async.cu:13) and Write access by thread [0, 0, 0] (async.cu:10), with no "
        "fence.mbarrier_init or fence.proxy.async between"},
       {"the state",
        {{15, ""}},
        kRacecheckAtWarn,
        "Async read access at byte 0 of shared memory (async.cu:18) and Write access by thread [0, "
        "0, 0] (async.cu:14), with no fence.proxy.async between"}});
}

// A fault of DeepEP d7d1cdc, which racecheck must report: no proxy fence precedes a bulk copy into
// shared memory of data that another block stored in global memory and published by a flag.
TEST_F(PtxAsyncMistakes, DeepEP) {
  const std::string acquire =
      "setp.ne.u32 %p3, %i, 0;\n@%p3 bra polled;\n"
      "poll: ld.acquire.gpu.global.u32 %r2, [%c];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra "
      "poll;\npolled:";
  const Lines fixed = {{9, "mov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p4, %r0, 0;\n@%p4 bra receive;"},
                       {10, "@%pt st.global.u32 [%a], 5;"},
                       {11, "@%pt st.release.gpu.global.u32 [%c], 1;\nbra end;"},
                       {12, "receive:\n" + kInit},
                       {13, kInitFence},
                       {14, acquire},
                       {15, "fence.proxy.async;"},
                       {16, expect(2048)},
                       {17, load("%s", "%a", 2048)},
                       {18, kBarrier},
                       {19, wait("first", 0) + "\nend:"}};
  check(fixed,
        {{"no fence before the copy",
          {{15, ""}},
          kRacecheck,
          "Async read access at byte 0 of 16384 bytes of global memory (async.cu:17) and Write "
          "access by block [0, 0, 0], thread [0, 0, 0] (async.cu:10), with no fence.proxy.async "
          "between"}},
        64, "", 2);
}

}  // namespace
}  // namespace kernkit::simulator
