// SPDX-License-Identifier: Apache-2.0
#include "tools/report.h"

#include <cstdio>
#include <initializer_list>
#include <utility>

namespace kernkit::simulator::ptx {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      result += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
    result += escaped;
  }
  return result + "\"";
}

const char* name_of(RaceLevel level) {
  static const char* const kNames[] = {"info", "warn", "error"};
  return kNames[static_cast<int>(level)];
}

using Numbers = std::initializer_list<std::pair<const char*, uint64_t>>;

std::string object(Numbers numbers) {
  std::string text;
  for (const auto& [name, value] : numbers) {
    text += (text.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(value);
  }
  return "{" + text + "}";
}
std::string object(const GlobalTraffic& t) {
  return object({{"requests", t.requests},
                 {"lanes", t.lanes},
                 {"bytes", t.bytes},
                 {"sectors", t.sectors},
                 {"fewest_sectors", t.fewest_sectors},
                 {"unique_sectors", t.unique_sectors}});
}
std::string object(const SharedTraffic& t) {
  return object({{"requests", t.requests},
                 {"lanes", t.lanes},
                 {"bytes", t.bytes},
                 {"wavefronts", t.wavefronts},
                 {"fewest_wavefronts", t.fewest_wavefronts}});
}
std::string object(const Counters& c) {
  return "{\"loads\": " + object(c.loads) + ", \"stores\": " + object(c.stores) +
         ", \"atomics\": " + object(c.atomics) + ", \"shared_loads\": " + object(c.shared_loads) +
         ", \"shared_stores\": " + object(c.shared_stores) +
         ", \"shared_atomics\": " + object(c.shared_atomics) + ", \"local\": " +
         object(
             {{"requests", c.local.requests}, {"lanes", c.local.lanes}, {"bytes", c.local.bytes}}) +
         ", \"steps\": " + std::to_string(c.steps) + ", \"lanes\": " + std::to_string(c.of_lanes) +
         "}";
}
std::string object(const LineCounters& line) {
  return "{\"place\": " + quoted(line.place) + ", \"file\": " + quoted(line.file) +
         ", \"line\": " + std::to_string(line.line) + ", \"counters\": " + object(line.counters) +
         "}";
}

std::string object(const KernelCounters& kernel);
// Returns a JSON object with the number of launches of each shape: the key "256+1024" is for 256
// threads per block and 1024 bytes of dynamic shared memory. Readers can sum the values like
// counters.
std::string object(const std::vector<LaunchShape>& shapes) {
  std::string text;
  for (const LaunchShape& shape : shapes) {
    const std::string name =
        std::to_string(shape.threads) + "+" + std::to_string(shape.dynamic_shared_bytes);
    text += (text.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(shape.launches);
  }
  return "{" + text + "}";
}
std::string object(const Finding& finding);

template <class T>
std::string list(const std::vector<T>& all) {
  std::string text;
  for (const T& item : all) text += (text.empty() ? "\n" : ",\n") + object(item);
  return "[" + text + "]";
}

std::string object(const KernelCounters& kernel) {
  return "{\"kernel\": " + quoted(kernel.kernel) +
         ", \"launches\": " + std::to_string(kernel.launches) +
         ", \"unique_sectors\": " + std::to_string(kernel.unique_sectors) +
         ", \"shapes\": " + object(kernel.shapes) + ", \"counters\": " + object(kernel.counters) +
         ", \"lines\": " + list(kernel.lines) + "}";
}
std::string object(const Finding& finding) {
  return "{\"tool\": " + quoted(finding.tool) + ", \"kernel\": " + quoted(finding.kernel) +
         ", \"sentence\": " + quoted(finding.sentence) +
         ", \"count\": " + std::to_string(finding.count) +
         ", \"level\": " + quoted(name_of(finding.level)) + ", \"pair\": " + quoted(finding.pair) +
         "}";
}

}  // namespace

std::string json_of(const std::vector<KernelCounters>& kernels,
                    const std::vector<Finding>& findings, const ProcessState& process) {
  std::string stopped;
  for (const std::string& sentence : process.stopped) {
    stopped += (stopped.empty() ? "" : ", ") + quoted(sentence);
  }
  const auto json_bool = [](bool value) { return value ? "true" : "false"; };
  return "{\"ended\": " + std::string(json_bool(process.ended)) +
         ", \"synchronised\": " + json_bool(process.synchronised) +
         ", \"not_run\": " + std::to_string(process.not_run) + ", \"stopped\": [" + stopped +
         "], \"kernels\": " + list(kernels) + ", \"findings\": " + list(findings) + "}\n";
}

}  // namespace kernkit::simulator::ptx
