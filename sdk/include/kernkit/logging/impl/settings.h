// SPDX-License-Identifier: Apache-2.0
// The settings of the hook, read from the environment once.
#pragma once

#include <fnmatch.h>
#include <limits.h>

#include "kernkit/logging/impl/report.h"

namespace kernkit::logging {

enum class Level : uint8_t { kOff, kNames, kArguments, kStatistics };

/// Returns the value of an environment variable; null if the variable is unset or empty.
inline const char* variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr || value[0] == '\0' ? nullptr : value;
}

/// Returns a copy of the text, which is never freed; null if `text` is null or memory is exhausted.
inline const char* kept(const char* text) { return text == nullptr ? nullptr : strdup(text); }

/// Calls `visit(begin, size)` for each part of a comma-separated text.
template <class Visit>
void for_each_part(const char* text, const Visit& visit) {
  while (text != nullptr) {
    const char* end = strchr(text, ',');
    visit(text, end == nullptr ? strlen(text) : static_cast<size_t>(end - text));
    text = end == nullptr ? nullptr : end + 1;
  }
}

/// The ops that a comma-separated list of glob patterns selects, as in "glob,-glob". An op is
/// selected if its name matches a pattern without '-' (or the list has no such pattern) and matches
/// no pattern with '-'.
class Selection {
 public:
  /// Selects every op if `patterns` is null. `patterns` must outlive the object.
  explicit Selection(const char* patterns = nullptr) : patterns_(patterns) {}

  bool contains(const char* op) const {
    bool has_included = false, is_included = false, is_excluded = false;
    for_each_part(patterns_, [&](const char* begin, size_t size) {
      char pattern[256];
      if (size == 0 || size >= sizeof pattern) return;
      memcpy(pattern, begin, size);
      pattern[size] = '\0';
      const bool excludes = pattern[0] == '-';
      const bool matches = fnmatch(pattern + excludes, op, 0) == 0;
      (excludes ? is_excluded : is_included) |= matches;
      has_included |= !excludes;
    });
    return !is_excluded && (is_included || !has_included);
  }

 private:
  const char* patterns_;
};

/// Returns the index of the choice that equals the first part of a comma-separated list. For an
/// unsupported text, prints a message and returns -1.
template <size_t N>
int read_choice(const char* name, const char* value, const char* const (&choices)[N],
                const char* effect) {
  const char* comma = strchr(value, ',');
  const size_t size = comma == nullptr ? strlen(value) : static_cast<size_t>(comma - value);
  for (size_t i = 0; i < N; ++i) {
    if (strlen(choices[i]) == size && memcmp(choices[i], value, size) == 0) {
      return static_cast<int>(i);
    }
  }
  Message text;
  (text << name << ": \"").append(value, size) << "\" is not supported; supported: ";
  for (size_t i = 0; i < N; ++i) text << (i == 0 ? "" : ", ") << choices[i];
  report(Cause::kSettings, text << "; " << effect);
  return -1;
}

/// Returns the text after the first comma; null if the text has no comma.
inline const char* after_comma(const char* value) {
  const char* comma = value == nullptr ? nullptr : strchr(value, ',');
  return comma == nullptr ? nullptr : comma + 1;
}

/// Returns a path in which each "%p" is replaced by the id of this process.
inline Message expanded(const char* path) {
  Message result;
  for (; *path != '\0'; ++path) {
    if (path[0] == '%' && path[1] == 'p') {
      result << getpid();
      ++path;
    } else {
      result << *path;
    }
  }
  return result;
}

/// The values of the environment variables KERNKIT_LOG and KERNKIT_LOG_FILE.
struct LogSettings {
  Level level = Level::kOff;
  Selection ops;
  const char* file = nullptr;  // null selects standard error

  static LogSettings read() {
    LogSettings result;
    const char* value = kept(variable("KERNKIT_LOG"));
    if (value == nullptr) return result;
    static constexpr const char* kLevels[] = {"names", "args", "stats"};
    const int level = read_choice("KERNKIT_LOG", value, kLevels, "no call is logged");
    result.level = static_cast<Level>(level + 1);
    result.ops = Selection(after_comma(value));
    result.file = kept(variable("KERNKIT_LOG_FILE"));
    return result;
  }
};

/// Returns whether KERNKIT_SYNC=1 requests that each call waits until its work on CUDA devices has
/// completed.
inline bool is_synced() {
#if defined(KERNKIT_WITH_CUDA)
  const char* value = variable("KERNKIT_SYNC");
  return value != nullptr && strcmp(value, "1") == 0;
#else
  return false;
#endif
}

/// Returns whether an environment variable requests the log, the trace or recordings.
inline bool is_observed() {
  for (const char* name : {"KERNKIT_LOG", "KERNKIT_TRACE", "KERNKIT_RECORD"}) {
    if (variable(name) != nullptr) return true;
  }
  return false;
}

}  // namespace kernkit::logging
