// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <atomic>
#include <initializer_list>

#include "host/tvm_ffi.h"

namespace kernkit::host {

namespace {

struct Stream {
  int32_t device_type;
  int32_t device_id;
  void* stream;
};

// The streams and the allocator of this thread. Both move to tvm_ffi once tvm_ffi is loaded, so
// that the process has only one table of streams. The struct has no destructor, so that queries
// work until the end of a thread.
struct Environment {
  static constexpr int kMaxStreams = 64;
  Stream streams[kMaxStreams];
  int num_streams;
  TensorAllocator allocator;

  const Stream* begin() const { return streams; }
  const Stream* end() const { return streams + num_streams; }
};
thread_local Environment current;
std::atomic<TensorAllocator> allocator_of_all{nullptr};

TvmFfi<decltype(get_stream)> tvm_get_stream("TVMFFIEnvGetStream");
TvmFfi<decltype(set_stream)> tvm_set_stream("TVMFFIEnvSetStream");
TvmFfi<decltype(get_allocator)> tvm_get_allocator("TVMFFIEnvGetDLPackManagedTensorAllocator");
TvmFfi<decltype(set_allocator)> tvm_set_allocator("TVMFFIEnvSetDLPackManagedTensorAllocator");

// Sets the streams of this thread in tvm_ffi, except for a device whose stream was already set in
// tvm_ffi.
void move_streams() {
  for (const Stream& entry : current) {
    if (tvm_get_stream.get()(entry.device_type, entry.device_id) == nullptr) {
      tvm_set_stream.get()(entry.device_type, entry.device_id, entry.stream, nullptr);
    }
  }
  current.num_streams = 0;
}

void move_allocator() {
  TensorAllocator global = allocator_of_all.exchange(nullptr);
  for (const TensorAllocator allocator : {global, current.allocator}) {
    if (allocator != nullptr && tvm_get_allocator.get()() == nullptr) {
      tvm_set_allocator.get()(allocator, allocator == global, nullptr);
    }
  }
  current.allocator = nullptr;
}

}  // namespace

void* get_stream(int32_t device_type, int32_t device_id) noexcept {
  if (auto* get = tvm_get_stream.get()) {
    move_streams();
    return get(device_type, device_id);
  }
  for (const Stream& entry : current) {
    if (entry.device_type == device_type && entry.device_id == device_id) return entry.stream;
  }
  return nullptr;
}

int set_stream(int32_t device_type, int32_t device_id, void* stream, void** original) noexcept {
  if (auto* set = tvm_set_stream.get()) {
    move_streams();
    return set(device_type, device_id, stream, original);
  }
  int i = 0;
  while (i < current.num_streams && (current.streams[i].device_type != device_type ||
                                     current.streams[i].device_id != device_id)) {
    ++i;
  }
  if (i == Environment::kMaxStreams) return -1;
  if (i == current.num_streams) {
    current.streams[current.num_streams++] = {device_type, device_id, nullptr};
  }
  if (original != nullptr) *original = current.streams[i].stream;
  current.streams[i].stream = stream;
  return 0;
}

TensorAllocator get_allocator() noexcept {
  if (auto* get = tvm_get_allocator.get()) {
    move_allocator();
    return get();
  }
  return current.allocator != nullptr ? current.allocator : allocator_of_all.load();
}

int set_allocator(TensorAllocator allocator, int for_all_threads,
                  TensorAllocator* original) noexcept {
  if (auto* set = tvm_set_allocator.get()) {
    move_allocator();
    return set(allocator, for_all_threads, original);
  }
  if (original != nullptr) *original = current.allocator;
  if (for_all_threads != 0) allocator_of_all.store(allocator);
  current.allocator = allocator;
  return 0;
}

}  // namespace kernkit::host
