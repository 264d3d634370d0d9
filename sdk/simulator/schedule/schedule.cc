// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.h"

#include <cstdio>

namespace kernkit::simulator {

uint64_t sample(dim3 grid, const Settings& settings) {
  const bool sampled = settings.sampled_grid != 0 && count(grid) > settings.sampled_grid;
  return sampled ? settings.sampled_blocks : 0;
}

std::string index_text(uint3 index) {
  return "[" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + "]";
}

uint3 index_of(uint64_t number, dim3 size) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

Schedule::Schedule(const std::string& kernel, dim3 grid, const Settings& settings)
    : grid_(grid),
      settings_(settings),
      random_(settings.seed),
      order_(count(grid), sample(grid, settings)),
      all_(settings.watchdog / 8, true),
      threads_(settings.watchdog / 8, true) {
  if (settings.seed != 0) order_.mix(random(), random());
  if (runs() == count(grid)) return;
  std::fprintf(stderr, "kernkit: %s: of %llu blocks, %llu run\n", kernel.c_str(),
               static_cast<unsigned long long>(count(grid)),
               static_cast<unsigned long long>(runs()));
}

// The generator of random numbers is splitmix64.
uint64_t Schedule::random() {
  if (settings_.seed == 0) return 0;
  uint64_t x = random_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::string Schedule::livelock_report() {
  const double longest = kCircles * settings_.watchdog;
  if (threads_.stalled_for(threads_passed.count()) <= longest) return "";
  char text[128];
  std::snprintf(
      text, sizeof(text),
      "does not end: its threads keep running, and for %g seconds no thread has begun or ended",
      longest);
  return text;
}

bool Schedule::is_stalled() {
  return all_.stalled_for(threads_passed.count() + steps_passed.count()) > settings_.watchdog;
}

std::string Schedule::with_seed(std::string sentence) const {
  if (settings_.seed != 0) sentence += " (seed " + std::to_string(settings_.seed) + ")";
  return sentence;
}

}  // namespace kernkit::simulator
