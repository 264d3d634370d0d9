// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "kernkit/simulator/counters.h"

namespace kernkit::simulator {
namespace {

constexpr double kBytes = 1.01, kSectors = 1.01, kRequests = 1.05;

using Kind = GlobalTraffic Counters::*;

double bytes_of(const GlobalTraffic& traffic) { return static_cast<double>(traffic.bytes); }

// Returns the line with the largest amount, such as " (scale.cu:12)"; "" if no line has an amount.
template <class Amount>
std::string worst(const KernelCounters& kernel, Kind kind, const Amount& amount) {
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

std::string over(const KernelCounters& kernel, Kind kind, uint64_t bytes, uint64_t arrays,
                 int of_lane) {
  const GlobalTraffic& traffic = kernel.counters.*kind;
  const auto expected = static_cast<double>(bytes);
  const auto expects = [](double most, const char* unit) {
    return ", expected at most " + number(most) + unit;
  };
  if (bytes_of(traffic) > kBytes * expected) {
    return "accesses " + std::to_string(traffic.bytes) + expects(kBytes * expected, " bytes") +
           worst(kernel, kind, bytes_of);
  }
  const auto sectors = static_cast<double>(traffic.sectors);
  const double most_sectors = kSectors * static_cast<double>(traffic.fewest_sectors);
  if (sectors > most_sectors) {
    return "moves " + number(sectors) + expects(most_sectors, " sectors") +
           worst(kernel, kind, [](const GlobalTraffic& all) {
             return static_cast<double>(all.sectors) - static_cast<double>(all.fewest_sectors);
           });
  }
  const auto needed = [of_lane](const GlobalTraffic& all) { return bytes_of(all) / 32 / of_lane; };
  const double most_requests = kRequests * needed(traffic);
  if (static_cast<double>(traffic.requests) > most_requests) {
    return "makes " + std::to_string(traffic.requests) + expects(most_requests, " requests") +
           worst(kernel, kind, [&](const GlobalTraffic& all) {
             return static_cast<double>(all.requests) - needed(all);
           });
  }
  const double most_unique = kSectors * static_cast<double>(arrays) / 32;
  if (static_cast<double>(traffic.unique_sectors) > most_unique) {
    return "touches " + std::to_string(traffic.unique_sectors) +
           expects(most_unique, " different sectors") + worst(kernel, kind, bytes_of);
  }
  return "";
}

}  // namespace

std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget) {
  const uint64_t arrays = budget.arrays_read != 0 ? budget.arrays_read : budget.read;
  const std::string loads = over(kernel, &Counters::loads, budget.read, arrays, budget.load_bytes);
  if (!loads.empty()) return kernel.kernel + ": loads: " + loads;
  const std::string stores =
      over(kernel, &Counters::stores, budget.written, budget.written, budget.store_bytes);
  return stores.empty() ? "" : kernel.kernel + ": stores: " + stores;
}

}  // namespace kernkit::simulator
