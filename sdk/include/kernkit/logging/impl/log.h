// SPDX-License-Identifier: Apache-2.0
// The log of calls: a line before and a line after each call. Each line is written by one write().
#pragma once

#include <sys/syscall.h>

#include "kernkit/logging/impl/call_error.h"
#include "kernkit/logging/impl/known_op.h"
#include "kernkit/logging/impl/statistics.h"

namespace kernkit::logging {

/// The file of the log, which is opened when the first line is written. A forked process opens a
/// file of its own if the file name contains the process id.
class LogFile {
 public:
  void write(const char* path, const Message& line) {
    const int file = opened(path);
    if (file < 0) return;
    const int error = write_all(file, line.c_str(), line.size());
    if (error == 0) return;
    Message text;
    text << (path == nullptr ? "standard error" : path) << ": " << ErrorText(error).text
         << "; lines of the log are lost";
    report(Cause::kLogWrite, text);
  }
  /// Makes the next log line open the file again. Called after a fork, in the child process.
  void forget() { __atomic_store_n(&file_, kNotOpened, __ATOMIC_RELEASE); }

 private:
  static constexpr int kNotOpened = -2;

  int opened(const char* path) {
    if (path == nullptr) return STDERR_FILENO;
    int file = __atomic_load_n(&file_, __ATOMIC_ACQUIRE);
    if (file != kNotOpened) return file;
    const Message name = expanded(path);
    file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (file < 0) {
      Message text;
      text << "KERNKIT_LOG_FILE: " << name.c_str() << ": " << ErrorText(errno).text
           << "; no call is logged";
      report(Cause::kLogFile, text);
    }
    int expected = kNotOpened;
    if (!__atomic_compare_exchange_n(&file_, &expected, file < 0 ? -1 : file, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      if (file >= 0) close(file);  // another thread has already opened the file
      return expected;
    }
    return file;
  }

  int file_ = kNotOpened;
};

inline int64_t nanoseconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

/// Replaces control characters from position `begin` on by spaces, so that the text contains no
/// line break.
inline void remove_line_breaks(Message& line, size_t begin) {
  auto* text = const_cast<char*>(line.c_str());
  for (size_t i = begin; i < line.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x20) text[i] = ' ';
  }
}

class Log {
 public:
  explicit Log(const char* library) : settings_(LogSettings::read()), library_(library) {}

  Level level() const { return settings_.level; }
  bool selects(const char* op) const {
    return settings_.level != Level::kOff && settings_.ops.contains(op);
  }

  /// Writes the log line that precedes a call, and returns the number of the call. `recording` is
  /// the name of the folder that records the call, or null.
  uint64_t begin(const Call& call, const char* recording) {
    const uint64_t number = __atomic_add_fetch(&calls_, 1, __ATOMIC_RELAXED);
    Message line;
    line << "#" << number << " " << call.site->name;
    if (settings_.level >= Level::kArguments) append_arguments(line, call);
    const DLDevice device = device_of(call.args, call.num_args);
    if (device.device_type != kDLCPU) {
      char stream[24];
      snprintf(
          stream, sizeof stream, "%#llx",
          static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(current_stream(device))));
      line << " stream " << stream;
    }
    line << " tid " << syscall(SYS_gettid);
    write(line, recording);
    return number;
  }

  /// Writes the log line that follows a call of `duration` [ns]. `recording` is the name of the
  /// folder that records the call if the line before the call does not contain the name, otherwise
  /// null.
  void end(const Call& call, uint64_t number, int code, int64_t duration, const char* recording) {
    Message line;
    line << "#" << number << " ";
    if (code == 0) {
      line << "ok " << duration / 1000 << " us";
      if (settings_.level == Level::kStatistics) append_written(line, call);
    } else {
      const size_t begin = line.size();
      append_error(line);
      remove_line_breaks(line, begin);
    }
    write(line, recording);
  }

  void after_fork() { file_.forget(); }

 private:
  void append_arguments(Message& line, const Call& call) const {
    line << "(";
    for (int32_t i = 0; i < call.num_args; ++i) {
      const schema::Param* param = call.param(i);
      if (i > 0) line << ", ";
      append_name(line, call, i);
      append_value(line << "=", call.args[i]);
      const DLTensor* tensor = tensor_of(call.args[i]);
      const bool is_read = param == nullptr || !param->is_only_written;
      if (settings_.level == Level::kStatistics && tensor != nullptr && is_read) {
        append_statistics(line, tensor);
      }
    }
    line << ")";
  }

  void write(Message& line, const char* recording) {
    line << " in " << library_;
    if (recording != nullptr) line << " recorded in " << recording;
    line << "\n";
    file_.write(settings_.file, line);
  }

  // Appends statistics of the tensors that the op has written.
  void append_written(Message& line, const Call& call) const {
    for (int32_t i = 0; i < call.num_args; ++i) {
      const schema::Param* param = call.param(i);
      const DLTensor* tensor = tensor_of(call.args[i]);
      if (param == nullptr || !param->is_written || tensor == nullptr) continue;
      append_name(line << " ", call, i);
      append_statistics(line, tensor);
    }
  }

  LogSettings settings_;
  const char* library_;
  uint64_t calls_ = 0;
  LogFile file_;
};

}  // namespace kernkit::logging
