// SPDX-License-Identifier: Apache-2.0
#include "tools/session.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernkit/simulator/initcheck.h"
#include "kernkit/simulator/racecheck.h"
#include "platform/environment.h"
#include "runtime/forked_process.h"
#include "runtime/queue.h"
#include "runtime/state.h"
#include "tools/copy_races.h"
#include "tools/initcheck.h"
#include "tools/kernel_races.h"
#include "tools/shadow_memory.h"

// A symbol that makes the linker keep this file, see ptx/CMakeLists.txt.
extern "C" void kernkit_simulator_tools() {}

namespace kernkit::simulator {
namespace ptx {
namespace {

bool is_requested(const char* tool) {
  const char* all = std::getenv("KERNKIT_TOOLS");
  return all != nullptr &&
         ("," + std::string(all) + ",").find("," + std::string(tool) + ",") != std::string::npos;
}

bool is_warn(const char* level) { return level != nullptr && std::string(level) == "warn"; }

RaceLevel race_level_of(const char* level) {
  if (level != nullptr && std::string(level) == "info") return RaceLevel::kInfo;
  return is_warn(level) ? RaceLevel::kWarn : RaceLevel::kError;
}

class HooksOfBlock : public BlockHooks {
 public:
  void starts() override {
    for (auto& tool : all) tool->starts();
  }
  void before(Warp& warp, const Operation& operation) override {
    for (auto& tool : all) tool->before(warp, operation);
  }
  void after(Warp& warp, const Operation& operation) override {
    for (auto& tool : all) tool->after(warp, operation);
  }
  void leaves_out(Warp& warp, const Operation& operation) override {
    for (auto& tool : all) tool->leaves_out(warp, operation);
  }
  void decides(Warp& warp, const Operation& operation, uint32_t lanes) override {
    for (auto& tool : all) tool->decides(warp, operation, lanes);
  }
  void synchronises(const Warp& warp, uint32_t lanes) override {
    for (auto& tool : all) tool->synchronises(warp, lanes);
  }
  void arrives(const Warp& warp, uint32_t barrier, bool only) override {
    for (auto& tool : all) tool->arrives(warp, barrier, only);
  }
  void arrives_at_cluster(const Warp& warp, bool releases) override {
    for (auto& tool : all) tool->arrives_at_cluster(warp, releases);
  }
  void leaves_cluster_barrier(const Warp& warp) override {
    for (auto& tool : all) tool->leaves_cluster_barrier(warp);
  }
  void opens(uint32_t barrier) override {
    for (auto& tool : all) tool->opens(barrier);
  }
  void copied_into_shared(uint32_t at, uint32_t bytes, uint64_t from) override {
    for (auto& tool : all) tool->copied_into_shared(at, bytes, from);
  }
  void copied_into_global(const Warp& warp, int lane, const Operation& operation, uint64_t at,
                          uint32_t bytes, uint32_t from) override {
    for (auto& tool : all) tool->copied_into_global(warp, lane, operation, at, bytes, from);
  }
  void issues(const Warp& warp, const Operation& operation, const IssuedCopy& copy) override {
    for (auto& tool : all) tool->issues(warp, operation, copy);
  }
  void lands(uint64_t copy, const Block& to, const MbarrierPhase& mbarrier) override {
    for (auto& tool : all) tool->lands(copy, to, mbarrier);
  }
  void counted(uint32_t mbarrier) override {
    for (auto& tool : all) tool->counted(mbarrier);
  }
  void waited(const Warp& warp, int lane, const Operation& operation,
              const MbarrierPhase& mbarrier) override {
    for (auto& tool : all) tool->waited(warp, lane, operation, mbarrier);
  }
  void ends() override {
    for (auto& tool : all) tool->ends();
  }
  std::vector<std::unique_ptr<BlockHooks>> all;
};

struct HooksOfLaunch : LaunchHooks {
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override {
    if (all.size() == 1) return all[0]->block_hooks(block);
    auto tools = std::make_unique<HooksOfBlock>();
    for (auto& tool : all) tools->all.push_back(tool->block_hooks(block));
    return tools;
  }
  bool needs_order() const override {
    return std::any_of(all.begin(), all.end(), [](auto& tool) { return tool->needs_order(); });
  }
  bool continues_after_faults() const override {
    return std::any_of(all.begin(), all.end(),
                       [](auto& tool) { return tool->continues_after_faults(); });
  }
  unsigned seed(unsigned of_program) const override {
    for (auto& tool : all) of_program = tool->seed(of_program);
    return of_program;
  }
  std::vector<std::unique_ptr<LaunchHooks>> all;
};

}  // namespace

// Runs before other constructors, so that all memory and streams of a program are recorded.
__attribute__((constructor(101))) void begin_session() { tools = &Session::of_process(); }

Session& Session::of_process() {
  // Never destroyed, since static destructors may still launch kernels.
  static auto& session = *new Session;
  return session;
}

Session::Session() {
  const char* folder = std::getenv("KERNKIT_TOOLS_FOLDER");
  if (folder == nullptr) return;
  folder_ = folder;
  if (is_requested("counters")) totals_.push_back(&of_program_);
  if (is_requested("racecheck")) {
    CallRaces::keep();
    races_of_program_.level = race_level_of(std::getenv("KERNKIT_RACECHECK_DETECT_LEVEL"));
    race_ledgers_.push_back(&races_of_program_);
  }
  if (is_requested("initcheck")) {
    Written::of_process().keep();
    init_ledgers_.push_back(&uses_of_program_);
  }
  if (is_requested("determinism")) {
    outputs_ = std::make_unique<LaunchOutputs>(folder_, std::getenv("KERNKIT_DESCRIBED_LAUNCH"),
                                               simulator::number_of("KERNKIT_SEED", 0));
  }
  if (is_requested("synccheck") && is_warn(std::getenv("KERNKIT_SYNCCHECK_DETECT_LEVEL"))) {
    sync_ledgers_.push_back(&barriers_of_program_);
  }
  runtime_hooks.call_failed = [](const char* function, cudaError_t error, const std::string& why) {
    of_process().note_call(function, error, why);
  };
  // Writes an early report, which remains if the process crashes.
  runtime_hooks.first_call = [] { of_process().write(); };
  std::atexit([] { of_process().end_process(); });
}

void Session::end_process() {
  if (is_forked_process()) return;  // the parent process reports the findings copied by fork()
  const std::lock_guard<std::recursive_mutex> of_runtime(state().mutex);
  process_.synchronised = !has_unwaited_kernels();
  for (size_t device = 0; device < state().devices.size(); ++device) {
    drain_device(static_cast<int>(device));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  process_.ended = true;
  write();
}

std::vector<Finding> Session::all_findings() const {
  std::vector<Finding> findings = findings_;
  for (Finding& race : races_of_program_.findings()) findings.push_back(std::move(race));
  for (Finding& use : uses_of_program_.findings()) findings.push_back(std::move(use));
  for (Finding& finding : barriers_of_program_.findings()) findings.push_back(std::move(finding));
  return findings;
}

void Session::write() const {
  const std::string path = folder_ + "/" + std::to_string(getpid()) + ".json";
  const std::string written = path + ".new";  // the earlier report remains if the process is killed
  std::FILE* file = std::fopen(written.c_str(), "w");
  const std::string text = json_of(of_program_.kernels(), all_findings(), process_);
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
      std::fclose(file) == 0 && std::rename(written.c_str(), path.c_str()) == 0) {
    return;
  }
  std::fprintf(stderr, "kernkit: %s cannot be written\n", path.c_str());
}

std::unique_ptr<LaunchHooks> Session::begin(const LaunchStart& launch,
                                            const std::shared_ptr<void>& work_clock) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool records_writes = launch.runs_all_blocks && !init_ledgers_.empty();
  if (!records_writes) Written::of_process().forget();
  if (totals_.empty() && race_ledgers_.empty() && sync_ledgers_.empty() && !records_writes &&
      outputs_ == nullptr) {
    return nullptr;
  }
  const Kernel& kernel = launch.kernel;
  if (kernel.instrumented == nullptr) {
    kernel.instrumented = std::make_shared<InstrumentedKernel>(kernel, launch.module);
  }
  auto hooks = std::make_unique<HooksOfLaunch>();
  if (!totals_.empty()) {
    const LaunchShape shape{count(launch.block), launch.dynamic_shared_bytes, 1};
    hooks->all.push_back(
        std::make_unique<Counts>(*kernel.instrumented, launch.name, shape, totals_));
  }
  if (!race_ledgers_.empty()) {
    hooks->all.push_back(
        std::make_unique<KernelRaces>(kernel.instrumented, launch, race_ledgers_,
                                      static_cast<const WorkClock*>(work_clock.get())));
  }
  if (records_writes) {
    hooks->all.push_back(std::make_unique<InitWatch>(*kernel.instrumented, init_ledgers_));
  }
  if (outputs_ != nullptr) hooks->all.push_back(outputs_->begin(launch, kernel.instrumented));
  if (!sync_ledgers_.empty()) hooks->all.push_back(std::make_unique<EndedThreads>(sync_ledgers_));
  return hooks;
}

std::shared_ptr<void> Session::work_clock() const {
  return std::make_shared<WorkClock>(ptx::work_clock());
}

// Records the fault of a launch. A fault that belongs to no tool, such as a trap, is a finding of
// memcheck, as in compute-sanitizer.
void Session::end(const std::string& kernel, const std::string& sentence, const char* tool_name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (folder_.empty()) return;
  if (!sentence.empty()) {
    const std::string tool = tool_name;
    findings_.push_back({tool == "program" ? "memcheck" : tool, kernel, sentence});
    process_.stopped.push_back(sentence);
  }
  const size_t num_findings = all_findings().size();
  if (num_findings == written_) return;
  written_ = num_findings;
  write();  // written now, since the process may be killed later
}

void Session::note_call(const char* function, cudaError_t error, const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t count = 0;
  if (why.empty() && !process_.stopped.empty()) {
    count = ++process_.not_run;
  } else {
    const std::string sentence =
        std::string("Program hit ") + cudaGetErrorName(error) + " (error " +
        std::to_string(static_cast<int>(error)) + ") due to \"" + cudaGetErrorString(error) +
        "\" on CUDA API call to " + function + (why.empty() ? "" : ": ") + why;
    auto found = std::find_if(findings_.begin(), findings_.end(),
                              [&](const Finding& finding) { return finding.sentence == sentence; });
    if (found == findings_.end()) {
      found = findings_.insert(found, {"memcheck", "", sentence});
      found->count = 0;
    }
    count = ++found->count;
  }
  // A program may repeat a failing call in a loop, so the report is only written if the number of
  // failures is a power of two.
  if ((count & (count - 1)) == 0) write();
}

}  // namespace ptx

namespace {

template <class T, class OfTool>
std::vector<T> findings_as(const OfTool& total) {
  std::vector<T> all;
  for (const ptx::Finding& finding : total.findings()) {
    all.push_back({finding.sentence, finding.count});
    if constexpr (std::is_same_v<T, Race>) all.back().level = finding.level;
  }
  return all;
}

}  // namespace

struct Counting::State {
  ptx::CounterTotals total;
};

Counting::Counting() : state_(std::make_unique<State>()) {
  ptx::Session::of_process().add(&state_->total);
}
Counting::~Counting() { ptx::Session::of_process().remove(&state_->total); }

std::vector<KernelCounters> Counting::kernels() const {
  (void)cudaDeviceSynchronize();  // cudaGetLastError() still returns the error
  return state_->total.kernels();
}

KernelCounters Counting::kernel() const {
  std::vector<KernelCounters> all = kernels();
  if (all.size() == 1) return std::move(all[0]);
  throw std::logic_error("Counting::kernel(): expected one kernel that ran, got " +
                         std::to_string(all.size()));
}

struct RaceCheck::State {
  explicit State(RaceLevel level) : total(level) {}
  ptx::RaceLedger total;
};

RaceCheck::RaceCheck(RaceLevel level) : state_(std::make_unique<State>(level)) {
  ptx::CallRaces::keep();
  ptx::Session::of_process().add(&state_->total);
}
RaceCheck::~RaceCheck() {
  ptx::Session::of_process().remove(&state_->total);
  if (ptx::Session::of_process().race_ledgers().empty()) ptx::CallRaces::forget();
}

std::vector<Race> RaceCheck::races() const { return findings_as<Race>(state_->total); }

struct InitCheck::State {
  ptx::InitLedger total;
};

InitCheck::InitCheck() : state_(std::make_unique<State>()) {
  ptx::Written::of_process().keep();
  ptx::Session::of_process().add(&state_->total);
}
InitCheck::~InitCheck() { ptx::Session::of_process().remove(&state_->total); }

std::vector<UndefinedUse> InitCheck::uses() const {
  return findings_as<UndefinedUse>(state_->total);
}

}  // namespace kernkit::simulator
