// SPDX-License-Identifier: Apache-2.0
#include "tools/counts.h"

#include <utility>

#include "tools/accesses.h"

namespace kernkit::simulator::ptx {
namespace {

// Adds requests, lanes and bytes: the counters that exist for global, shared and local traffic.
template <class Traffic>
void add_requests(Traffic* to, uint64_t requests, uint64_t lanes, uint64_t bytes) {
  to->requests += requests;
  to->lanes += lanes;
  to->bytes += bytes;
}
template <class Traffic>
void add_requests(Traffic* to, const Traffic& more) {
  add_requests(to, more.requests, more.lanes, more.bytes);
}
template <class Traffic>
void add_request(Traffic* to, const Touched& touched, uint32_t bytes) {
  const auto lanes = static_cast<uint64_t>(__builtin_popcount(touched.lanes));
  add_requests(to, 1, lanes, lanes * bytes);
}

void add_traffic(GlobalTraffic* to, const GlobalTraffic& more) {
  add_requests(to, more);
  to->sectors += more.sectors;
  to->fewest_sectors += more.fewest_sectors;
}
void add_traffic(SharedTraffic* to, const SharedTraffic& more) {
  add_requests(to, more);
  to->wavefronts += more.wavefronts;
  to->fewest_wavefronts += more.fewest_wavefronts;
}
void add_traffic(Counters* to, const Counters& more) {
  for (auto kind : {&Counters::loads, &Counters::stores, &Counters::atomics}) {
    add_traffic(&(to->*kind), more.*kind);
  }
  for (auto kind : {&Counters::shared_loads, &Counters::shared_stores, &Counters::shared_atomics}) {
    add_traffic(&(to->*kind), more.*kind);
  }
  add_requests(&to->local, more.local);
  to->steps += more.steps;
  to->of_lanes += more.of_lanes;
}

}  // namespace

class Counts::OfBlock : public BlockHooks {
 public:
  explicit OfBlock(Counts& all) : all_(all), of_operations_(all.of_operations_.size()) {}
  ~OfBlock() override {
    const std::lock_guard<std::mutex> lock(all_.mutex_);
    for (size_t i = 0; i < of_operations_.size(); ++i) {
      if (of_operations_[i].steps != 0) add_traffic(&all_.of_operations_[i], of_operations_[i]);
    }
    all_.unique_.loads.add(unique_.loads);
    all_.unique_.stores.add(unique_.stores);
    all_.unique_.atomics.add(unique_.atomics);
  }

  void before(Warp& warp, const Operation& operation) override {
    Counters& counters = of_operations_[operation.number];
    ++counters.steps;
    counters.of_lanes += static_cast<uint64_t>(__builtin_popcount(warp.mask));
    const AccessKind access = all_.instrumented_.kernel.origins[operation.number].access;
    if (access == AccessKind::kNone) return;
    Touched touched[kMostTouched];
    const int count = find_touched(warp, operation, touched);
    for (int i = 0; i < count; ++i) {
      note(&counters, access == AccessKind::kCopy ? AccessKind::kStore : access, touched[i],
           operation.bytes);
    }
    if (access == AccessKind::kCopy) note_source(&counters, warp, operation);
  }

 private:
  void note(Counters* counters, AccessKind access, const Touched& touched, uint32_t bytes) {
    const bool loads = access == AccessKind::kLoad, stores = access == AccessKind::kStore;
    if (touched.space == Space::kLocal) {
      add_request(&counters->local, touched, bytes);
    } else if (touched.space == Space::kShared) {
      SharedTraffic* traffic = loads    ? &counters->shared_loads
                               : stores ? &counters->shared_stores
                                        : &counters->shared_atomics;
      add_request(traffic, touched, bytes);
      const Cost cost = wavefronts_of(touched, bytes);
      traffic->wavefronts += cost.moved;
      traffic->fewest_wavefronts += cost.fewest;
    } else if (touched.space == Space::kGlobal) {
      GlobalTraffic* traffic = loads    ? &counters->loads
                               : stores ? &counters->stores
                                        : &counters->atomics;
      add_request(traffic, touched, bytes);
      const Cost cost = sectors_of(touched, bytes);
      traffic->sectors += cost.moved;
      traffic->fewest_sectors += cost.fewest;
      (loads ? unique_.loads : stores ? unique_.stores : unique_.atomics).add(touched);
    }
  }
  void note_source(Counters* counters, Warp& warp, const Operation& copy) {
    const uint32_t all = warp.mask;
    warp.mask = lanes_that_load(warp, copy);
    Touched touched;
    if (warp.mask != 0) {
      find_touched(warp, source_of(copy), &touched);
      note(counters, AccessKind::kLoad, touched, copy.bytes);
    }
    warp.mask = all;
  }

  Counts& all_;
  std::vector<Counters> of_operations_;
  UniqueSectors unique_;
};

Counts::Counts(const InstrumentedKernel& instrumented, std::string kernel, const LaunchShape& shape,
               std::vector<CounterTotals*> totals)
    : instrumented_(instrumented),
      kernel_(std::move(kernel)),
      shape_(shape),
      totals_(std::move(totals)),
      of_operations_(instrumented.kernel.code.size()) {}

Counts::~Counts() {
  for (CounterTotals* total : totals_)
    total->add(kernel_, shape_, instrumented_, of_operations_, unique_);
}

std::unique_ptr<BlockHooks> Counts::block_hooks(Block&) { return std::make_unique<OfBlock>(*this); }

void CounterTotals::add(const std::string& kernel, const LaunchShape& shape,
                        const InstrumentedKernel& instrumented,
                        const std::vector<Counters>& of_operations, const UniqueSectors& unique) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[kernel];
  ++entry.launches;
  ++entry.shapes[{shape.threads, shape.dynamic_shared_bytes}];
  for (size_t i = 0; i < of_operations.size(); ++i) {
    if (of_operations[i].steps == 0) continue;
    const Line& line = instrumented.lines[instrumented.line_of[i]];
    add_traffic(&entry.counters, of_operations[i]);
    add_traffic(&entry.lines[{line.file, line.line, line.place}], of_operations[i]);
  }
  entry.counters.loads.unique_sectors += unique.loads.size();
  entry.counters.stores.unique_sectors += unique.stores.size();
  entry.counters.atomics.unique_sectors += unique.atomics.size();
  SectorSet any = unique.loads;
  any.add(unique.stores);
  any.add(unique.atomics);
  entry.unique_sectors += any.size();
}

std::vector<KernelCounters> CounterTotals::kernels() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<KernelCounters> all;
  for (const auto& [name, entry] : entries_) {
    KernelCounters counters_of_kernel{
        name, entry.launches, entry.counters, entry.unique_sectors, {}, {}};
    for (const auto& [at, counters] : entry.lines) {
      counters_of_kernel.lines.push_back(
          {std::get<2>(at), std::get<0>(at), std::get<1>(at), counters});
    }
    for (const auto& [shape, launches] : entry.shapes) {
      counters_of_kernel.shapes.push_back({shape.first, shape.second, launches});
    }
    all.push_back(std::move(counters_of_kernel));
  }
  return all;
}

}  // namespace kernkit::simulator::ptx
