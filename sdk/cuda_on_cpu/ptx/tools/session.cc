// SPDX-License-Identifier: Apache-2.0
#include "ptx/tools/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace kernkit::cuda_on_cpu {
namespace ptx {
namespace {

bool is_asked_for(const char* tool) {
  const char* all = std::getenv("KERNKIT_TOOLS");
  return all != nullptr &&
         ("," + std::string(all) + ",").find("," + std::string(tool) + ",") != std::string::npos;
}

}  // namespace

Session& Session::of_process() {
  static auto& session = *new Session;  // launches may come until the process ends
  return session;
}

Session::Session() {
  const char* folder = std::getenv("KERNKIT_TOOLS_FOLDER");
  if (folder == nullptr) return;
  folder_ = folder;
  if (is_asked_for("counters")) ledgers_.push_back(&of_program_);
  std::atexit([] { of_process().write(); });
}

void Session::write() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string path = folder_ + "/" + std::to_string(getpid()) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  const std::string text = json_of(of_program_.kernels(), findings_);
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
      std::fclose(file) == 0) {
    return;
  }
  std::fprintf(stderr, "kernkit: %s cannot be written\n", path.c_str());
}

void Session::add(Ledger* ledger) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ledgers_.push_back(ledger);
}

void Session::remove(Ledger* ledger) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ledgers_.erase(std::remove(ledgers_.begin(), ledgers_.end(), ledger), ledgers_.end());
}

std::unique_ptr<Watch> Session::begin(const Kernel& kernel, const Module& module,
                                      const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ledgers_.empty()) return nullptr;
  if (kernel.watched == nullptr) kernel.watched = std::make_shared<WatchedKernel>(kernel, module);
  return std::make_unique<Counts>(*kernel.watched, name, ledgers_);
}

void Session::note(const std::string& kernel, const PtxResult& result) {
  if (result.sentence.empty()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!folder_.empty()) findings_.push_back({result.tool, kernel, result.sentence});
}

}  // namespace ptx

struct Counting::State {
  ptx::Ledger ledger;
};

Counting::Counting() : state_(std::make_unique<State>()) {
  ptx::Session::of_process().add(&state_->ledger);
}
Counting::~Counting() { ptx::Session::of_process().remove(&state_->ledger); }

std::vector<KernelCounters> Counting::kernels() const { return state_->ledger.kernels(); }

KernelCounters Counting::kernel() const {
  std::vector<KernelCounters> all = kernels();
  if (all.size() == 1) return std::move(all[0]);
  throw std::logic_error("Counting::kernel(): expected one kernel that ran, got " +
                         std::to_string(all.size()));
}

}  // namespace kernkit::cuda_on_cpu
