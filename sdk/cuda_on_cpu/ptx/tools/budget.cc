// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "kernkit/cuda_on_cpu/counters.h"

namespace kernkit::cuda_on_cpu {
namespace {

constexpr double kBytes = 1.01, kSectors = 1.01, kRequests = 1.05;

using Kind = GlobalTraffic Counters::*;

double needed_requests(const GlobalTraffic& traffic) {
  return static_cast<double>(traffic.bytes) / 512;
}
double excess_sectors(const GlobalTraffic& traffic) {
  return static_cast<double>(traffic.sectors - traffic.fewest_sectors);
}
double excess_requests(const GlobalTraffic& traffic) {
  return static_cast<double>(traffic.requests) - needed_requests(traffic);
}
double bytes_of(const GlobalTraffic& traffic) { return static_cast<double>(traffic.bytes); }

// " (scale.cu:12)", where there is most of it.
std::string worst(const KernelCounters& kernel, Kind kind, double (*amount)(const GlobalTraffic&)) {
  const LineCounters* most = nullptr;
  for (const LineCounters& line : kernel.lines) {
    const double here = amount(line.counters.*kind);
    if (here > 0 && (most == nullptr || here > amount(most->counters.*kind))) most = &line;
  }
  return most == nullptr || most->place.empty() ? "" : " (" + most->place + ")";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f", value);
  return text;
}

std::string over(const KernelCounters& kernel, Kind kind, uint64_t bytes, bool by_16_bytes) {
  const GlobalTraffic& traffic = kernel.counters.*kind;
  const auto expected = static_cast<double>(bytes);
  const auto expects = [](double most, const char* what) {
    return ", expected at most " + number(most) + what;
  };
  if (bytes_of(traffic) > kBytes * expected) {
    return "asks for " + std::to_string(traffic.bytes) + expects(kBytes * expected, " bytes") +
           worst(kernel, kind, bytes_of);
  }
  const auto sectors = static_cast<double>(traffic.sectors);
  const double most_sectors = kSectors * static_cast<double>(traffic.fewest_sectors);
  if (sectors > most_sectors) {
    return "moves " + number(sectors) + expects(most_sectors, " sectors") +
           worst(kernel, kind, excess_sectors);
  }
  const double most_requests = kRequests * needed_requests(traffic);
  if (by_16_bytes && static_cast<double>(traffic.requests) > most_requests) {
    return "makes " + std::to_string(traffic.requests) + expects(most_requests, " requests") +
           worst(kernel, kind, excess_requests);
  }
  const double most_unique = kSectors * expected / 32;
  if (static_cast<double>(traffic.unique_sectors) > most_unique) {
    return "touches " + std::to_string(traffic.unique_sectors) +
           expects(most_unique, " different sectors") + worst(kernel, kind, bytes_of);
  }
  return "";
}

}  // namespace

std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget) {
  const std::string loads = over(kernel, &Counters::loads, budget.read, budget.by_16_bytes);
  if (!loads.empty()) return kernel.kernel + ": loads: " + loads;
  const std::string stores = over(kernel, &Counters::stores, budget.written, budget.by_16_bytes);
  return stores.empty() ? "" : kernel.kernel + ": stores: " + stores;
}

}  // namespace kernkit::cuda_on_cpu
