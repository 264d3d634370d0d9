// SPDX-License-Identifier: Apache-2.0
// The trace: a ring of the last calls in a mapped file, which stays readable after abort() and
// SIGKILL. A call makes no system call. Without KERNKIT_TRACE the ring is in memory, for the
// messages of CUDA errors.
//
// `kernkit calls FILE` reads the file (sdk/python/kernkit/calls/trace.py), in the byte order of the
// machine. The libraries of a process, and processes that fork() makes, share one ring.
#pragma once

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kernkit/env.h"
#include "kernkit/logging/impl/describe.h"
#include "kernkit/logging/impl/known_op.h"

namespace kernkit::logging {

/// Values of both clocks, read at the same time.
struct ClockPair {
  uint64_t ticks;        // value of ticks(), the processor's counter
  uint64_t nanoseconds;  // time since 1970 [ns]
};

struct TraceHeader {
  static constexpr char kMagic[] = "kktrace";
  static constexpr uint32_t kVersion = 1, kCalls = 4096, kOps = 1024;

  char magic[8];
  uint32_t version, header_bytes, num_ops, op_bytes, num_calls, call_bytes;
  uint64_t pid, start_time;   // id and start time of the process that made the file
  uint64_t next_call;         // number of calls so far
  uint32_t next_op, padding;  // number of ops so far
  ClockPair first, last;
};

/// An op in the trace's table. The text has three parts, each with a terminating NUL: the library's
/// file, the name of the op, and the names of the parameters, each followed by a comma.
struct TraceOp {
  uint32_t is_complete;
  char text[508];
};

enum class TraceState : uint8_t { kRunning = 1, kOk = 2, kFailed = 3 };

/// A call in the ring of the trace. `number` is 0 while another member is being written.
struct TraceCall {
  uint64_t number, begin, end;  // number of the call, from 1; begin and end [ticks]
  uint32_t tid, pid;
  uint16_t op;
  uint8_t state, num_args;
  uint16_t size;         // size of the encoded arguments [bytes]
  uint16_t num_encoded;  // number of encoded arguments; below num_args if `args` is too small
  uint64_t stream;       // current stream of the device of the first tensor on a device
  uint64_t padding;
  unsigned char args[200];
};

inline constexpr size_t kTraceHeaderBytes = 4096;
inline constexpr size_t kTraceBytes = kTraceHeaderBytes + TraceHeader::kOps * sizeof(TraceOp) +
                                      TraceHeader::kCalls * sizeof(TraceCall);
static_assert(sizeof(TraceHeader) <= kTraceHeaderBytes && sizeof(TraceOp) == 512 &&
              sizeof(TraceCall) == 256);

/// Returns the processor's counter. Reading it takes a third of the time of clock_gettime().
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
#endif
}

inline ClockPair clock_pair() {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return {ticks(),
          static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec)};
}

/// Encodes arguments, each as a byte for its type, followed by its value. The encoding ends at the
/// first argument that does not fit.
class TraceEncoder {
 public:
  TraceEncoder(unsigned char* out, size_t size) : begin_(out), at_(out), end_(out + size) {}

  size_t size() const { return static_cast<size_t>(at_ - begin_); }

  bool add(const KernkitAny& any) {
    const DLTensor* tensor = tensor_of(any);
    if (__builtin_expect(tensor != nullptr, 1)) return add_tensor(tensor);
    switch (any.type_index) {
      case kKernkitNone: return has(1) && (put('0'), true);
      case kKernkitInt: return has(9) && (put('i'), put(any.v.i64), true);
      case kKernkitBool:
        return has(2) && (put('b'), put(static_cast<uint8_t>(any.v.i64 != 0)), true);
      case kKernkitFloat: return has(9) && (put('f'), put(any.v.f64), true);
      case kKernkitDataType: return has(5) && (put('d'), put(any.v.dtype), true);
      case kKernkitDevice: return has(9) && (put('D'), put(any.v.device), true);
      default: break;
    }
    KernkitByteArray text;
    if (detail::read_text(any, &text)) {
      const size_t size = text.size < 32 ? text.size : 32;
      if (!has(2 + size)) return false;
      put(text.size > size ? 'S' : 's');
      put(static_cast<uint8_t>(size));
      memcpy(at_, text.data, size);
      at_ += size;
      return true;
    }
    return has(5) && (put('o'), put(any.type_index), true);
  }

 private:
  bool has(size_t size) const { return size <= static_cast<size_t>(end_ - at_); }
  void put(char type) { *at_++ = static_cast<unsigned char>(type); }
  template <class T>
  void put(const T& value) {
    memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

  // Writes the type byte 't' for sizes of 32 bits or 'T' for sizes of 64 bits, then rank, whether
  // the tensor has strides, dtype, device and sizes.
  bool add_tensor(const DLTensor* tensor) {
    if (!has_shape(tensor)) return has(5) && (put('o'), put(int32_t{kKernkitDLTensorPtr}), true);
    const auto ndim = static_cast<size_t>(tensor->ndim);
    bool is_small = true;
    for (size_t i = 0; i < ndim; ++i)
      is_small &= static_cast<uint64_t>(tensor->shape[i]) >> 32 == 0;
    if (!has(3 + 4 + 8 + (is_small ? 4 : 8) * ndim)) return false;
    put(is_small ? 't' : 'T');
    put(static_cast<uint8_t>(ndim));
    put(static_cast<uint8_t>(!detail::is_contiguous(tensor)));
    put(tensor->dtype);
    put(tensor->device);
    for (size_t i = 0; i < ndim; ++i) {
      is_small ? put(static_cast<uint32_t>(tensor->shape[i])) : put(tensor->shape[i]);
    }
    return true;
  }

  unsigned char* begin_;
  unsigned char* at_;
  unsigned char* end_;
};

/// The ids of this thread and of this process. A forked process queries its ids again.
struct ThreadIds {
  uint32_t generation = 0, tid = 0, pid = 0;
};

class Trace {
 public:
  /// Opens the trace file that KERNKIT_TRACE names. `library` is the name of this library's file.
  explicit Trace(const char* library) : library_(library), path_(kept(variable("KERNKIT_TRACE"))) {
    if (path_ != nullptr) open_file();
    if (header_ == nullptr) open_memory();
  }

  bool is_open() const { return header_ != nullptr; }

  /// Adds an op to the table and returns the op's index; -1 if the table is full.
  int32_t add_op(const detail::CallSite* site) {
    if (!is_open()) return -1;
    const uint32_t index = __atomic_fetch_add(&header_->next_op, 1, __ATOMIC_RELAXED);
    if (index >= TraceHeader::kOps) {
      if (path_ == nullptr) return -1;
      report(Cause::kTraceOps, Message().stream()
                                   << "KERNKIT_TRACE: " << path_ << " has no room for more than "
                                   << TraceHeader::kOps << " ops; calls of other ops are left out");
      return -1;
    }
    TraceOp& op = ops()[index];
    Message text;
    text << library_ << '\0' << site->name << '\0';
    const schema::Signature& line = site->signature;
    for (int i = 0; i < line.num_params; ++i) {
      text.append(site->line + line.params[i].name.begin,
                  static_cast<size_t>(line.params[i].name.size))
          << ',';
    }
    const size_t size = text.size() < sizeof op.text - 1 ? text.size() : sizeof op.text - 1;
    memcpy(op.text, text.c_str(), size);
    op.text[size] = '\0';
    __atomic_store_n(&op.is_complete, 1, __ATOMIC_RELEASE);
    return static_cast<int32_t>(index);
  }

  /// Adds a call to the ring and returns the number of the call, counted from 1.
  uint64_t begin(const Call& call) {
    const uint64_t index = __atomic_fetch_add(&header_->next_call, 1, __ATOMIC_RELAXED);
    TraceCall& entry = calls()[index % TraceHeader::kCalls];
    __atomic_store_n(&entry.number, 0, __ATOMIC_RELEASE);
    const ThreadIds ids = thread_ids();
    entry.tid = ids.tid;
    entry.pid = ids.pid;
    entry.op = static_cast<uint16_t>(call.op->trace_index);
    entry.state = static_cast<uint8_t>(TraceState::kRunning);
    entry.num_args = static_cast<uint8_t>(call.num_args < 255 ? call.num_args : 255);
    entry.stream = 0;
    entry.end = 0;
    TraceEncoder encoder(entry.args, sizeof entry.args);
    int32_t i = 0;
    while (i < call.num_args && encoder.add(call.args[i])) ++i;
    entry.size = static_cast<uint16_t>(encoder.size());
    entry.num_encoded = static_cast<uint16_t>(i);
    const DLDevice device = device_of(call.args, call.num_args);
    if (__builtin_expect(device.device_type != kDLCPU, 0)) {
      entry.stream = reinterpret_cast<uintptr_t>(current_stream(device));
    }
    if (__builtin_expect(index % 1024 == 1023, 0)) header_->last = clock_pair();
    entry.begin = ticks();
    __atomic_store_n(&entry.number, index + 1, __ATOMIC_RELEASE);
    return index + 1;
  }

  void end(uint64_t number, int code) {
    TraceCall& entry = calls()[(number - 1) % TraceHeader::kCalls];
    // Does nothing if a later call has already replaced this call in the ring.
    if (__atomic_load_n(&entry.number, __ATOMIC_RELAXED) != number) return;
    entry.end = ticks();
    entry.state = static_cast<uint8_t>(code == 0 ? TraceState::kOk : TraceState::kFailed);
  }

  void after_fork() { ++generation_; }

  /// Calls `visit(call, op)` with copies of the last calls, the latest call first, without this
  /// thread's running call, until `visit` returns false.
  template <class Visit>
  void for_each_earlier_call(const Visit& visit) const {
    if (!is_open()) return;
    const ThreadIds ids = thread_ids();
    bool is_earlier = false;  // true after this thread's running call was skipped
    const uint64_t count = __atomic_load_n(&header_->next_call, __ATOMIC_ACQUIRE);
    const uint64_t oldest = count > TraceHeader::kCalls ? count - TraceHeader::kCalls : 0;
    for (uint64_t index = count; index > oldest; --index) {
      const TraceCall& entry = calls()[(index - 1) % TraceHeader::kCalls];
      // Copies the entry, and skips the entry if another thread replaces it during the copy.
      const bool is_complete = __atomic_load_n(&entry.number, __ATOMIC_ACQUIRE) == index;
      const TraceCall call = entry;
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      if (!is_complete || __atomic_load_n(&entry.number, __ATOMIC_RELAXED) != index) continue;
      const bool is_running = call.state == static_cast<uint8_t>(TraceState::kRunning);
      if (!is_earlier && is_running && call.tid == ids.tid && call.pid == ids.pid) {
        is_earlier = true;
        continue;
      }
      if (call.op >= TraceHeader::kOps) continue;
      const TraceOp& op = ops()[call.op];
      if (__atomic_load_n(&op.is_complete, __ATOMIC_ACQUIRE) == 0) continue;
      if (!visit(call, op)) return;
    }
  }

 private:
  ThreadIds thread_ids() const {
    static thread_local ThreadIds ids;
    if (__builtin_expect(ids.generation != generation_, 0)) {
      ids = {generation_, static_cast<uint32_t>(syscall(SYS_gettid)),
             static_cast<uint32_t>(getpid())};
    }
    return ids;
  }

  TraceOp* ops() const {
    return reinterpret_cast<TraceOp*>(reinterpret_cast<char*>(header_) + kTraceHeaderBytes);
  }
  TraceCall* calls() const { return reinterpret_cast<TraceCall*>(ops() + TraceHeader::kOps); }

  /// Returns the start time of this process, which identifies the process together with the process
  /// id.
  static uint64_t start_time() {
    char text[1024];
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return 0;
    text[size] = '\0';
    const char* at = strrchr(text, ')');  // after the name, which may contain ')'
    for (int field = 2; at != nullptr && field < 22; ++field) at = strchr(at + 1, ' ');
    return at == nullptr ? 0 : strtoull(at, nullptr, 10);
  }

  void fail(const char* what, int error) {
    report(Cause::kTraceFile, Message().stream() << "KERNKIT_TRACE: " << what << ": "
                                                 << ErrorText(error).text << "; no call is traced");
  }

  void open_file() {
    const Message name = expanded(path_);
    // The lock ensures that the libraries of a process open the file one after another.
    Message folder;
    const char* slash = strrchr(name.c_str(), '/');
    slash == nullptr
        ? void(folder << ".")
        : void(folder.append(name.c_str(), static_cast<size_t>(slash - name.c_str()) + 1));
    const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0) return fail(folder.c_str(), errno);
    (void)flock(lock, LOCK_EX);
    if (!join(name.c_str())) create(name.c_str());
    close(lock);
  }

  void open_memory() {
    void* memory =
        mmap(nullptr, kTraceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) header_ = static_cast<TraceHeader*>(memory);
  }

  bool map(int file) {
    void* memory = mmap(nullptr, kTraceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return false;
    header_ = static_cast<TraceHeader*>(memory);
    return true;
  }

  /// Opens the trace file if another library of this process has created it; otherwise returns
  /// false.
  bool join(const char* name) {
    const int file = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    TraceHeader header{};
    struct stat status {};
    const bool is_ours =
        fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == static_cast<off_t>(kTraceBytes) &&
        read(file, &header, sizeof header) == static_cast<ssize_t>(sizeof header) &&
        memcmp(header.magic, TraceHeader::kMagic, sizeof header.magic) == 0 &&
        header.version == TraceHeader::kVersion && header.pid == static_cast<uint64_t>(getpid()) &&
        header.start_time == start_time();
    const bool is_mapped = is_ours && map(file);
    close(file);
    return is_mapped;
  }

  /// Creates a new file in place of an earlier file with this name, which remains intact for a
  /// process that still maps it.
  void create(const char* name) {
    Message temporary;
    temporary << name << ".new-" << getpid();
    const int file =
        open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return fail(name, errno);
    // Allocates all blocks of the file, because a write to a mapped file on a full disk would end
    // the process.
    int error = 0;
    {
      BlockedSignals signals;
      error = posix_fallocate(file, 0, static_cast<off_t>(kTraceBytes));
      signals.failed(error);
    }
    if (error != 0 || !map(file)) {
      fail(name, error != 0 ? error : errno);
    } else {
      TraceHeader& header = *header_;
      memcpy(header.magic, TraceHeader::kMagic, sizeof header.magic);
      header.version = TraceHeader::kVersion;
      header.header_bytes = static_cast<uint32_t>(kTraceHeaderBytes);
      header.num_ops = TraceHeader::kOps;
      header.op_bytes = sizeof(TraceOp);
      header.num_calls = TraceHeader::kCalls;
      header.call_bytes = sizeof(TraceCall);
      header.pid = static_cast<uint64_t>(getpid());
      header.start_time = start_time();
      header.first = clock_pair();
      const timespec pause = {0, 2000000};
      (void)nanosleep(&pause, nullptr);
      header.last = clock_pair();
      if (rename(temporary.c_str(), name) != 0) {
        fail(name, errno);
        header_ = nullptr;
      }
    }
    close(file);
    if (header_ == nullptr) (void)unlink(temporary.c_str());
  }

  const char* library_;
  const char* path_;
  TraceHeader* header_ = nullptr;
  uint32_t generation_ = 1;
};

}  // namespace kernkit::logging
