// SPDX-License-Identifier: Apache-2.0
// Recorder: a folder for each recorded call, with the arguments before the call and the results
// after it. `kernkit replay` repeats the call.
#pragma once

#include <sys/syscall.h>

#include "kernkit/base/version.h"
#include "kernkit/logging/impl/call_error.h"
#include "kernkit/logging/impl/snapshot.h"

namespace kernkit::logging {

/// Selects the calls that are recorded: the first call for each combination of types, dtypes,
/// shapes and devices (kNew), all calls (kAll), or all calls that fail or do not return (kFailed).
enum class Recorded : uint8_t { kNew, kAll, kFailed };

/// The values of the environment variables KERNKIT_RECORD and KERNKIT_RECORD_*.
struct RecordSettings {
  const char* folder = nullptr;  // null if nothing is recorded
  Recorded calls = Recorded::kNew;
  Values values = Values::kAll;
  Selection ops;
  uint64_t most_bytes = uint64_t{256} << 20;    // limit for one call [bytes]
  uint64_t total_bytes = uint64_t{4096} << 20;  // limit for all calls of this library [bytes]

  static RecordSettings read() {
    RecordSettings result;
    const char* folder = kept(variable("KERNKIT_RECORD"));
    if (folder == nullptr) return result;
    constexpr char kEffect[] = "no call is recorded";
    if (const char* value = kept(variable("KERNKIT_RECORD_CALLS"))) {
      static constexpr const char* kCalls[] = {"new", "all", "failed"};
      const int choice = read_choice("KERNKIT_RECORD_CALLS", value, kCalls, kEffect);
      if (choice < 0) return result;
      result.calls = static_cast<Recorded>(choice);
      result.ops = Selection(after_comma(value));
    }
    if (const char* value = kept(variable("KERNKIT_RECORD_VALUES"))) {
      static constexpr const char* kValues[] = {"all", "integers", "none"};
      const int choice = read_choice("KERNKIT_RECORD_VALUES", value, kValues, kEffect);
      if (choice < 0) return result;
      result.values = static_cast<Values>(choice);
    }
    if (const char* value = variable("KERNKIT_RECORD_LIMIT")) {
      unsigned long long call = 0, total = 0;
      char more = 0;
      const int found = sscanf(value, "%llu,%llu%c", &call, &total, &more);
      if (found != 2 || call > 1 << 24 || total > 1 << 24) {
        report(Cause::kSettings,
               Message().stream()
                   << "KERNKIT_RECORD_LIMIT: \"" << value
                   << "\" is not supported; supported: limits in MiB for a call and for all calls, "
                      "as in 256,4096; "
                   << kEffect);
        return result;
      }
      result.most_bytes = uint64_t{call} << 20;
      result.total_bytes = uint64_t{total} << 20;
    }
    result.folder = folder;
    return result;
  }
};

/// A recording in progress: the open folder of the call.
struct Recording {
  int folder = -1;
  Values values;
  const char* skipped = nullptr;  // why values that were requested are not recorded, or null
  char name[160];
};

class Recorder {
 public:
  explicit Recorder(const char* library) : settings_(RecordSettings::read()), library_(library) {
    if (settings_.folder != nullptr) open_folder();
  }

  bool selects(const char* op) const { return folder_ >= 0 && settings_.ops.contains(op); }

  bool keeps_calls_that_succeed() const { return settings_.calls != Recorded::kFailed; }

  /// Begins to record a call and records its arguments. If the call is not recorded, the member
  /// `folder` of the result is -1.
  Recording begin(const Call& call) {
    Recording recording;
    recording.values = settings_.values;
    if (settings_.calls == Recorded::kNew && !is_new(call)) return recording;
    Snapshot before;
    add_arguments(before, call);
    before.merge();
    const uint64_t bytes = before.bytes(settings_.values, false);
    if (before.error() != nullptr) {
      return skip(Cause::kRecordTypes, call, before.error());
    }
    if (bytes > settings_.most_bytes) {
      Message why;
      why << "its tensors have " << bytes << " bytes, and KERNKIT_RECORD_LIMIT is "
          << settings_.most_bytes / (1 << 20) << " MiB";
      return skip(Cause::kRecordSize, call, why.c_str());
    }
    const uint64_t total = __atomic_add_fetch(&recorded_bytes_, bytes, __ATOMIC_RELAXED);
    if (total > settings_.total_bytes) {
      Message why;
      why << "all recordings would exceed KERNKIT_RECORD_LIMIT, "
          << settings_.total_bytes / (1 << 20) << " MiB";
      return skip(Cause::kRecordTotal, call, why.c_str());
    }
    make_folder(call, &recording);
    if (recording.folder < 0) return recording;
    if (!write_before(&recording, call, before) || !finish(&recording)) discard(&recording);
    return recording;
  }

  /// Records the results of a call that returned `code` after `duration` [ns].
  void end(Recording recording, const Call& call, const KernkitAny& result, int code,
           int64_t duration) {
    if (recording.folder < 0) return;
    if (settings_.calls == Recorded::kFailed && code == 0) return discard(&recording);
    Snapshot after, returned;
    add_arguments(after, call);
    after.merge();
    bool is_written = write_entries(&recording, "outputs.safetensors", after, true);
    if (code == 0) {
      returned.add(Message().stream() << "result", result, true);
      returned.merge();
      is_written = is_written && write_entries(&recording, "result.safetensors", returned, false);
    }
    Message json;
    json << "{\"version\":1,\"code\":" << code << ",\"nanoseconds\":" << duration;
    if (recording.skipped != nullptr) json << ",\"skipped\":\"" << recording.skipped << "\"";
    if (code == 0) {
      json << ",\"result\":" << returned.values().c_str() << ",\n \"result_storages\":";
      returned.append_storages(json, recording.values, false);
    } else {
      append_error_json(json);
    }
    json << ",\n \"storages\":";
    after.append_storages(json, recording.values, true);
    json << "}\n";
    is_written = is_written && write_text(recording, "results.json.new", json);
    if (is_written &&
        renameat(recording.folder, "results.json.new", recording.folder, "results.json") != 0) {
      failed(recording, errno);
    }
    close(recording.folder);
  }

 private:
  static constexpr size_t kMostKinds = 4096;

  Recording skip(Cause cause, const Call& call, const char* why) {
    report(cause, Message().stream() << "KERNKIT_RECORD: a call of " << call.site->name
                                     << " is not recorded: " << why
                                     << "; later messages of this kind are left out");
    return {};
  }

  void failed(const Recording& recording, int error) {
    report(Cause::kRecordWrite, Message().stream()
                                    << "KERNKIT_RECORD: " << settings_.folder << "/"
                                    << recording.name << ": " << ErrorText(error).text
                                    << "; calls are not recorded if this error occurs");
  }

  void open_folder() {
    if (mkdir(settings_.folder, 0700) != 0 && errno != EEXIST) return reject(ErrorText(errno).text);
    const int folder = open(settings_.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return reject(ErrorText(errno).text);
    struct stat status {};
    const bool is_private =
        fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 022) == 0;
    if (!is_private) {
      close(folder);
      return reject("other users may write in the folder; use a folder of your own with mode 0700");
    }
    folder_ = folder;
  }
  void reject(const char* why) {
    report(Cause::kRecordFolder, Message().stream() << "KERNKIT_RECORD: " << settings_.folder
                                                    << ": " << why << "; no call is recorded");
  }

  static void add_arguments(Snapshot& snapshot, const Call& call) {
    for (int32_t i = 0; i < call.num_args; ++i) {
      const schema::Param* param = call.param(i);
      Message name;
      append_name(name, call, i);
      // If the parameter is unknown, assumes that the op may write the tensor.
      const bool is_known = param != nullptr && strncmp(name.c_str(), "argument_", 9) != 0;
      snapshot.add(name, call.args[i], !is_known || param->is_written);
    }
  }

  // Returns the FNV-1a hash of the op's name and of the types, dtypes, shapes and devices of the
  // arguments.
  static uint64_t kind_of(const Call& call) {
    uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&](const void* data, size_t size) {
      for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
      }
    };
    mix(call.site->name, strlen(call.site->name));
    for (int32_t i = 0; i < call.num_args; ++i) {
      mix(&call.args[i].type_index, sizeof call.args[i].type_index);
      const DLTensor* tensor = tensor_of(call.args[i]);
      if (tensor == nullptr || !has_shape(tensor)) continue;
      mix(&tensor->dtype, sizeof tensor->dtype);
      mix(&tensor->device, sizeof tensor->device);
      mix(&tensor->ndim, sizeof tensor->ndim);
      mix(tensor->shape, static_cast<size_t>(tensor->ndim) * sizeof(int64_t));
      const bool is_contiguous = detail::is_contiguous(tensor);
      mix(&is_contiguous, sizeof is_contiguous);
    }
    return hash == 0 ? 1 : hash;
  }

  bool is_new(const Call& call) {
    const uint64_t kind = kind_of(call);
    for (size_t i = 0; i < kMostKinds; ++i) {
      uint64_t* slot = &kinds_[(kind + i) % kMostKinds];
      uint64_t found = 0;
      if (__atomic_compare_exchange_n(slot, &found, kind, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
        return true;
      if (found == kind) return false;
    }
    return false;
  }

  void make_folder(const Call& call, Recording* recording) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const unsigned long long number = __atomic_add_fetch(&recordings_, 1, __ATOMIC_RELAXED);
      snprintf(recording->name, sizeof recording->name, "%.100s-%d-%llu", call.site->name,
               static_cast<int>(getpid()), number);
      const Message temporary = temporary_name(*recording);
      if (mkdirat(folder_, temporary.c_str(), 0700) == 0) {
        // Another library of the process may already have used this number. The check is free of
        // races: a library creates the final name only while it owns the temporary folder of this
        // name.
        if (faccessat(folder_, recording->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
          (void)unlinkat(folder_, temporary.c_str(), AT_REMOVEDIR);
          continue;
        }
        recording->folder =
            openat(folder_, temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (recording->folder < 0) failed(*recording, errno);
        return;
      }
      if (errno != EEXIST) return failed(*recording, errno);
    }
  }

  static Message temporary_name(const Recording& recording) {
    Message name;
    name << ".new-" << recording.name;
    return name;
  }

  bool finish(Recording* recording) {
    const Message temporary = temporary_name(*recording);
    if (renameat(folder_, temporary.c_str(), folder_, recording->name) == 0) return true;
    failed(*recording, errno);
    return false;
  }

  void discard(Recording* recording) {
    for (const char* file :
         {"inputs.safetensors", "call.json", "outputs.safetensors", "result.safetensors"}) {
      (void)unlinkat(recording->folder, file, 0);
    }
    close(recording->folder);
    recording->folder = -1;
    const Message temporary = temporary_name(*recording);
    if (unlinkat(folder_, temporary.c_str(), AT_REMOVEDIR) != 0)
      (void)unlinkat(folder_, recording->name, AT_REMOVEDIR);
  }

  static int create(const Recording& recording, const char* name) {
    return openat(recording.folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                  0600);
  }

  bool write_text(const Recording& recording, const char* name, const Message& text) {
    const int file = create(recording, name);
    const int error = file < 0 ? errno : write_all(file, text.c_str(), text.size());
    if (file >= 0) close(file);
    if (error != 0) failed(recording, error);
    return error == 0;
  }

  /// Writes the tensors of a snapshot to a file. If a tensor cannot be read, the file contains no
  /// values.
  bool write_entries(Recording* recording, const char* name, const Snapshot& snapshot,
                     bool only_written) {
    int error = 0;
    const char* why = nullptr;
    do {
      const int file = create(*recording, name);
      if (file < 0) {
        error = errno;
        break;
      }
      why = snapshot.write(file, recording->values, only_written, settings_.most_bytes, &error);
      close(file);
      if (why == nullptr || error != 0) break;
      report(Cause::kRecordDevice,
             Message().stream() << "KERNKIT_RECORD: " << settings_.folder << "/" << recording->name
                                << " has no values: a tensor cannot be read: " << why);
      recording->values = Values::kNone;
      recording->skipped = why;
    } while (unlinkat(recording->folder, name, 0) == 0);
    if (error != 0) failed(*recording, error);
    return why == nullptr && error == 0;
  }

  bool write_before(Recording* recording, const Call& call, const Snapshot& before) {
    if (!write_entries(recording, "inputs.safetensors", before, false)) return false;
    Message json;
    json << "{\"format\":\"kernkit call\",\"version\":1,\n \"op\":\"" << call.site->name
         << "\",\"schema\":\"";
    detail::append_json(json, call.site->line, strlen(call.site->line));
    json << "\",\n \"library\":\"";
    detail::append_json(json, library_, strlen(library_));
    json << "\",\"kernkit\":\"" << KERNKIT_VERSION_MAJOR << "." << KERNKIT_VERSION_MINOR << "."
         << KERNKIT_VERSION_PATCH << "\",\"pid\":" << getpid() << ",\"tid\":" << syscall(SYS_gettid)
         << ",\"time\":" << int64_t{time(nullptr)};
    if (recording->skipped != nullptr) json << ",\"skipped\":\"" << recording->skipped << "\"";
    json << ",\n \"arguments\":[\n  " << before.values().c_str() << "],\n \"storages\":";
    before.append_storages(json, recording->values, false);
    json << "}\n";
    return write_text(*recording, "call.json", json);
  }

  static void append_error_json(Message& json) {
    Message text;
    append_error(text);
    json << ",\"error\":\"";
    detail::append_json(json, text.c_str(), text.size());
    json << "\"";
  }

  RecordSettings settings_;
  const char* library_;
  int folder_ = -1;
  uint64_t recordings_ = 0;
  uint64_t recorded_bytes_ = 0;
  uint64_t kinds_[kMostKinds] = {};
};

}  // namespace kernkit::logging
