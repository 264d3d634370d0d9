// SPDX-License-Identifier: Apache-2.0
#include "tools/determinism.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/machine/block.h"
#include "tools/accesses.h"
#include "tools/clock.h"
#include "tools/findings.h"

namespace kernkit::simulator::ptx {
namespace {

// Returns whether an operation of the kernel reads the register at offset `at`, as a source or in
// its lists. Also returns true if the operation uses another register that shares the memory.
bool is_read(const Kernel& kernel, uint32_t at) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [&](const Operation& operation) {
    const auto is_source = [at](uint32_t source) { return source == at; };
    const uint32_t sources[] = {operation.guard,  operation.src0, operation.src1,
                                operation.src2,   operation.src3, operation.members,
                                operation.address};
    if (std::any_of(std::begin(sources), std::end(sources), is_source) ||
        std::any_of(std::begin(operation.list), std::end(operation.list), is_source)) {
      return true;
    }
    if (operation.more == kNone) return false;
    const std::vector<uint32_t>& more = kernel.lists[operation.more];
    return std::any_of(more.begin(), more.end(), is_source);
  });
}

// Returns whether results can depend on the order in which threads execute an atomic: the atomic's
// result is used, or the atomic updates floating-point numbers.
bool depends_on_order(const Kernel& kernel, const Operation& operation) {
  const Origin& origin = kernel.origins[operation.number];
  if (origin.access != AccessKind::kAtomic) return false;
  for (const uint32_t result : {operation.dst, operation.list[kUpperResult]}) {
    if (result != kNone && is_read(kernel, result)) return true;
  }
  switch (origin.type) {
    case Type::kF16:
    case Type::kBF16:
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kF32:
    case Type::kF64: return true;
    default: return false;
  }
}

void print_hex(std::FILE* file, const unsigned char* bytes, size_t count) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  std::fprintf(file, " %s", text.c_str());
}

}  // namespace

uint16_t WriterSets::add(uint16_t before, uint32_t operation) {
  if (sets_[before].count(operation) != 0) return before;
  uint16_t& after = added_[{before, operation}];
  if (after != 0) return after;
  std::set<uint32_t> set = sets_[before];
  set.insert(operation);
  uint16_t& number = numbers_[set];
  if (number == 0 && sets_.size() <= UINT16_MAX) {
    number = static_cast<uint16_t>(sets_.size());
    sets_.push_back(std::move(set));
  }
  return after = number;
}

void LaunchOutputs::Contended::add(std::unordered_map<uint64_t, Last>* words, uint64_t at,
                                   uint64_t warp, const std::string& text) {
  Last& last = (*words)[at];
  if (last.warp != 0 && last.warp != warp) {
    texts.insert(last.text);
    texts.insert(text);
  }
  last = {warp, text};
}

/// Watches the accesses of a launch.
class LaunchOutputs::Watch : public LaunchHooks {
 public:
  Watch(LaunchOutputs& all, std::string kernel,
        std::shared_ptr<const InstrumentedKernel> instrumented)
      : all_(all),
        kernel_(std::move(kernel)),
        instrumented_(std::move(instrumented)),
        first_text_(all.texts_.size()) {
    if (!is_described()) return;
    const Kernel& code = instrumented_->kernel;
    for (const Operation& operation : code.code) {
      all_.texts_.push_back(access_text(code.origins[operation.number].access) +
                            instrumented_->line_text(operation.number));
      orders_.push_back(depends_on_order(code, operation));
    }
  }
  ~Watch() override { all_.end(kernel_); }
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;
  // If blocks run one after the other, the order of all accesses depends only on the seed.
  bool needs_order() const override { return true; }
  unsigned seed(unsigned of_program) const override {
    return all_.seed_ != 0 ? all_.seed_ : of_program;
  }

 private:
  class OfBlock;
  bool is_described() const { return all_.now_ == all_.described_; }

  LaunchOutputs& all_;
  std::string kernel_;
  std::shared_ptr<const InstrumentedKernel> instrumented_;
  size_t first_text_;         // index of the first operation's text in LaunchOutputs::texts_
  std::vector<bool> orders_;  // depends_on_order() of each operation
};

class LaunchOutputs::Watch::OfBlock : public BlockHooks {
 public:
  OfBlock(Watch& watch, Block& block)
      : watch_(watch), block_(block), is_described_(watch.is_described()) {}

  void starts() override {
    shared_.clear();
    const dim3 grid = block_.launch.grid;
    number_ =
        block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
  }

  void before(Warp& warp, const Operation& operation) override {
    const Origin& origin = watch_.instrumented_->kernel.origins[operation.number];
    if (origin.access == AccessKind::kNone) return;
    const bool is_atomic = origin.access == AccessKind::kAtomic;
    if (!is_described_ && origin.access != AccessKind::kStore && !is_atomic) return;
    const int count = find_touched(warp, operation, touched_);
    for (int i = 0; i < count; ++i) {
      const bool is_global = touched_[i].space == Space::kGlobal;
      if (!is_global && touched_[i].space != Space::kShared) continue;
      const bool orders = is_described_ && watch_.orders_[operation.number];
      for (uint32_t remaining = touched_[i].lanes; remaining != 0; remaining &= remaining - 1) {
        const uint64_t at = touched_[i].at[__builtin_ctz(remaining)];
        if (is_global) touch(at, operation, origin.access);
        if (!orders) continue;
        Contended& contended = watch_.all_.contended_;
        contended.add(is_global ? &contended.of_words : &shared_, at / 4 * 4,
                      key_of(number_, warp.number) + 1, text_of(operation));
      }
    }
  }
  void copied_into_global(const Warp&, int, const Operation&, uint64_t at, uint32_t bytes,
                          uint32_t) override {
    watch_.all_.changed_.store(at, bytes, block_.launch.memory);
  }

 private:
  const std::string& text_of(const Operation& operation) const {
    return watch_.all_.texts_[watch_.first_text_ + operation.number];
  }
  void touch(uint64_t address, const Operation& operation, AccessKind kind) {
    for (const uint64_t end = address + operation.bytes; address < end;) {
      ChangedMemory::Chunk* chunk = watch_.all_.changed_.at(address, block_.launch.memory);
      if (chunk == nullptr) return;
      const uint64_t next = std::min(end, chunk->begin + chunk->bytes);
      if (is_described_ && (kind == AccessKind::kStore || kind == AccessKind::kAtomic)) {
        std::vector<uint16_t>& words = chunk->words();
        const auto number = static_cast<uint32_t>(watch_.first_text_ + operation.number);
        for (uint64_t i = (address - chunk->begin) / 4; i <= (next - 1 - chunk->begin) / 4; ++i) {
          words[i] = watch_.all_.sets_.add(words[i], number);
        }
      }
      address = next;
    }
  }

  Watch& watch_;
  Block& block_;
  const bool is_described_;
  uint64_t number_ = 0;                                   // number of the block
  std::unordered_map<uint64_t, Contended::Last> shared_;  // atomics in shared memory, by offset
  Touched touched_[kMostTouched];
};

std::unique_ptr<BlockHooks> LaunchOutputs::Watch::block_hooks(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

LaunchOutputs::LaunchOutputs(const std::string& folder, const char* described, unsigned seed)
    : path_(folder + "/" + std::to_string(getpid())), seed_(seed) {
  unsigned long call = 0, run = 0;
  if (described != nullptr && std::sscanf(described, "%lu:%lu", &call, &run) == 2) {
    described_ = {call, run};
  }
}
LaunchOutputs::~LaunchOutputs() {
  if (file_ != nullptr) std::fclose(file_);
}

std::unique_ptr<LaunchHooks> LaunchOutputs::begin(
    const LaunchStart& launch, std::shared_ptr<const InstrumentedKernel> instrumented) {
  if (launch.number != 0) {  // 0 for a kernel that another kernel launched
    changed_.clear();
    now_ = {launch.number, ++runs_[launch.number]};
  }
  return std::make_unique<Watch>(*this, launch.name, std::move(instrumented));
}

void LaunchOutputs::end(const std::string& kernel) {
  if (file_ == nullptr) {
    file_ = std::fopen((path_ + ".launches").c_str(), "w");
    if (file_ == nullptr) return;
    std::setvbuf(file_, nullptr, _IOLBF, 1 << 16);  // a killed process leaves complete lines
  }
  std::fprintf(file_, "%llu %llu %016llx %s\n", static_cast<unsigned long long>(now_.call),
               static_cast<unsigned long long>(now_.run),
               static_cast<unsigned long long>(changed_.digest()), kernel.c_str());
  if (now_ == described_) describe(kernel);
}

// Writes the file PROCESS.outputs with the lines "kernel NAME", "memory NAME", "operation TEXT",
// "set NUMBER...", "atomic TEXT", and for each chunk "chunk MEMORY OFFSET BYTES DIGEST", followed
// by the bytes before and after the launch and the sets of the words, 4 digits each, if the launch
// changed the chunk.
void LaunchOutputs::describe(const std::string& kernel) const {
  std::FILE* file = std::fopen((path_ + ".outputs").c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file, "kernel %s\n", kernel.c_str());
  for (const std::string& name : changed_.memories()) {
    std::fprintf(file, "memory %s\n", name.c_str());
  }
  for (const std::string& text : texts_) std::fprintf(file, "operation %s\n", text.c_str());
  for (const std::set<uint32_t>& set : sets_.all()) {
    std::fprintf(file, "set");
    for (const uint32_t operation : set) std::fprintf(file, " %u", operation);
    std::fprintf(file, "\n");
  }
  for (const std::string& text : contended_.texts) std::fprintf(file, "atomic %s\n", text.c_str());
  for (const ChangedMemory::Chunk* chunk : changed_.chunks()) {
    std::fprintf(file, "chunk %zu %llu %u %016llx", chunk->memory,
                 static_cast<unsigned long long>(chunk->offset), chunk->bytes,
                 static_cast<unsigned long long>(
                     digest_of(chunk->before.get(), chunk->bytes, chunk->bytes)));
    if (chunk->is_changed()) {
      print_hex(file, chunk->before.get(), chunk->bytes);
      print_hex(file, reinterpret_cast<const unsigned char*>(chunk->begin), chunk->bytes);
      std::fprintf(file, " ");
      for (const uint16_t set : chunk->writers) std::fprintf(file, "%04x", set);
    }
    std::fprintf(file, "\n");
  }
  std::fclose(file);
}

}  // namespace kernkit::simulator::ptx
