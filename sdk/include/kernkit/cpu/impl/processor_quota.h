// SPDX-License-Identifier: Apache-2.0
// The processor time that a container grants its processes, as a number of processors.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernkit/base/cold.h"

namespace kernkit::cpu::detail {

/// Reads a short file, at most `size` - 1 bytes, and appends a terminating 0. `text` is empty if
/// the file cannot be read.
KERNKIT_COLD void read_short_file(const char* path, char* text, size_t size) noexcept {
  text[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t count = read(file, text, size - 1);
  text[count < 0 ? 0 : count] = '\0';
  close(file);
}

/// The quota of one control group [processors, rounded up], or 0 without a quota. Version 2 of
/// control groups has the line "QUOTA PERIOD" in cpu.max; version 1 has two files. The unit is the
/// microsecond.
KERNKIT_COLD int quota_of_group(const char* folder) noexcept {
  char path[4200], text[64];
  snprintf(path, sizeof(path), "%s/cpu.max", folder);
  read_short_file(path, text, sizeof(text));
  char* end = text;
  int64_t quota = strtoll(text, &end, 10), period = strtoll(end, nullptr, 10);
  if (text[0] == '\0') {
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    read_short_file(path, text, sizeof(text));
    quota = strtoll(text, nullptr, 10);
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    read_short_file(path, text, sizeof(text));
    period = strtoll(text, nullptr, 10);
  }
  if (quota <= 0 || period <= 0) return 0;
  const int64_t processors = quota / period + (quota % period != 0);
  return processors < INT32_MAX ? static_cast<int>(processors) : INT32_MAX;
}

/// The smallest quota of the process's control group and of the groups that contain that group
/// [processors], or 0 without a quota. A container may see its own group as the root, so missing
/// groups are ignored. `root` replaces "/" in tests.
KERNKIT_COLD int processor_quota(const char* root) noexcept {
  char path[4200], groups[4096];
  snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
  read_short_file(path, groups, sizeof(groups));
  int smallest = 0;
  char* rest = nullptr;
  // Each line is ID:CONTROLLERS:PATH; CONTROLLERS is empty for a control group of version 2.
  for (char* line = strtok_r(groups, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
    char* controllers = strchr(line, ':');
    char* group = controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
    if (group == nullptr) continue;
    *group++ = '\0';
    ++controllers;
    const bool is_version_2 = controllers[0] == '\0';
    if (!is_version_2 && strstr(controllers, "cpu") == nullptr) continue;
    // Control groups of version 1: the controllers cpu and cpuacct are mounted together, in a
    // folder with the two names in either order, or separately.
    const char* const mounts[] = {controllers, "cpu"};
    const int num_mounts = is_version_2 ? 1 : 2;
    for (;;) {
      int quota = 0;
      for (int i = 0; i < num_mounts && quota == 0; ++i) {
        char folder[4130];
        snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup/%s%s", root, mounts[i], group);
        quota = quota_of_group(folder);
      }
      if (quota != 0 && (smallest == 0 || quota < smallest)) smallest = quota;
      char* slash = strrchr(group, '/');
      if (slash == nullptr) break;
      *slash = '\0';
    }
  }
  return smallest;
}

}  // namespace kernkit::cpu::detail
