// SPDX-License-Identifier: Apache-2.0
#include "runtime/visible_devices.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "runtime/device_attributes.h"
#include "runtime/pool.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// The beginning of the text of each UUID.
constexpr const char* kKind = "GPU-";

bool starts_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

// Returns the number of the only device whose UUID begins with this text; -1 if there is none.
int find_by_uuid(const std::string& beginning, int count) {
  int found = -1;
  for (int number = 0; number < count; ++number) {
    if (!starts_with(uuid_text(number), beginning)) continue;
    if (found >= 0) return -1;
    found = number;
  }
  return found;
}

// Returns the number of the device that an entry of the list names; -1 for an invalid entry. Text
// after the digits of a number has no effect.
int find_device(const std::string& entry, int count) {
  if (starts_with(entry, kKind)) return find_by_uuid(entry, count);
  char* end = nullptr;
  const long number = std::strtol(entry.c_str(), &end, 10);
  const bool is_number = end != entry.c_str();
  return is_number && number >= 0 && number < count ? static_cast<int>(number) : -1;
}

}  // namespace

std::string uuid_text(int number) {
  const std::array<char, 16> uuid = uuid_of(number);
  std::string text = kKind;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(uuid[i]));
    text += digits;
  }
  return text;
}

std::vector<int> select_devices(const std::string& list, int count) {
  std::vector<int> selected;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const int number = find_device(list.substr(begin, end - begin), count);
    if (number < 0) break;
    if (std::find(selected.begin(), selected.end(), number) != selected.end()) return {};
    selected.push_back(number);
    begin = end + 1;
  }
  return selected;
}

void hide_devices() {
  if (!std::exchange(state().reads_visible_devices, false)) return;
  const char* list = std::getenv("KERNKIT_VISIBLE_DEVICES");
  if (list == nullptr) list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return;
  const std::vector<CudaDevice> all = std::exchange(state().devices, {});
  state().device_states.clear();
  for (const int number : select_devices(list, static_cast<int>(all.size()))) {
    state().devices.push_back(all[static_cast<size_t>(number)]);
    state().device_states.emplace_back().ordinal = number;
  }
  make_default_pools(&state());
  const bool names_a_device = *list != '\0' && *list != '-';  // "" and "-1" hide all devices
  if (!state().devices.empty() || all.empty() || !names_a_device) return;
  std::fprintf(
      stderr,
      "kernkit: CUDA_VISIBLE_DEVICES: the list %s selects none of the devices 0 to %zu, so "
      "the program has no device; change the list, or set the number of devices by "
      "kernkit run --devices\n",
      list, all.size() - 1);
}

}  // namespace kernkit::simulator
