// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <atomic>
#include <cstdlib>
#include <initializer_list>

#include "host/tvm_ffi.h"
#include "kernkit/device.h"
#include "kernkit/message.h"

namespace kernkit::host {

namespace {

struct Stream {
  int32_t device_type;
  int32_t device_id;
  void* stream;
};

// What this thread set. When tvm_ffi comes it is moved there, so that there is one table. Without a
// destructor, so that it can be asked until the very end of a thread.
struct Environment {
  static constexpr int kMaxStreams = 64;
  Stream streams[kMaxStreams];
  int num_streams;
  Allocator allocator;

  const Stream* begin() const { return streams; }
  const Stream* end() const { return streams + num_streams; }
};
thread_local Environment mine;
std::atomic<Allocator> allocator_of_all{nullptr};

TvmFfi<decltype(get_stream)> tvm_get_stream("TVMFFIEnvGetStream");
TvmFfi<decltype(set_stream)> tvm_set_stream("TVMFFIEnvSetStream");
TvmFfi<decltype(get_allocator)> tvm_get_allocator("TVMFFIEnvGetDLPackManagedTensorAllocator");
TvmFfi<decltype(set_allocator)> tvm_set_allocator("TVMFFIEnvSetDLPackManagedTensorAllocator");

// What was set there in the meantime stands.
void move_streams() {
  for (const Stream& entry : mine) {
    if (tvm_get_stream.get()(entry.device_type, entry.device_id) == nullptr) {
      tvm_set_stream.get()(entry.device_type, entry.device_id, entry.stream, nullptr);
    }
  }
  mine.num_streams = 0;
}

void move_allocator() {
  Allocator everybodys = allocator_of_all.exchange(nullptr);
  for (const Allocator allocator : {everybodys, mine.allocator}) {
    if (allocator != nullptr && tvm_get_allocator.get()() == nullptr) {
      tvm_set_allocator.get()(allocator, allocator == everybodys, nullptr);
    }
  }
  mine.allocator = nullptr;
}

struct CpuTensor {
  DLManagedTensorVersioned managed;
  void* data;
};

}  // namespace

void* get_stream(int32_t device_type, int32_t device_id) noexcept {
  if (auto* get = tvm_get_stream.get()) {
    move_streams();
    return get(device_type, device_id);
  }
  for (const Stream& entry : mine) {
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
  while (i < mine.num_streams &&
         (mine.streams[i].device_type != device_type || mine.streams[i].device_id != device_id)) {
    ++i;
  }
  if (i == Environment::kMaxStreams) return -1;
  if (i == mine.num_streams) {
    mine.streams[mine.num_streams++] = {device_type, device_id, nullptr};
  }
  if (original != nullptr) *original = mine.streams[i].stream;
  mine.streams[i].stream = stream;
  return 0;
}

Allocator get_allocator() noexcept {
  if (auto* get = tvm_get_allocator.get()) {
    move_allocator();
    return get();
  }
  return mine.allocator != nullptr ? mine.allocator : allocator_of_all.load();
}

int set_allocator(Allocator allocator, int for_all_threads, Allocator* original) noexcept {
  if (auto* set = tvm_set_allocator.get()) {
    move_allocator();
    return set(allocator, for_all_threads, original);
  }
  if (original != nullptr) *original = mine.allocator;
  if (for_all_threads != 0) allocator_of_all.store(allocator);
  mine.allocator = allocator;
  return 0;
}

int allocate_on_cpu(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
                    void (*set_error)(void*, const char*, const char*)) noexcept {
  constexpr size_t kAlignment = 64;
  Message text;
  if (!is_cpu(prototype->device)) {
    text << "no allocator was set for device " << prototype->device;
    return set_error(error_context, "RuntimeError", text.c_str()), -1;
  }
  const auto rank = static_cast<size_t>(prototype->ndim);
  const ShapeView shape(prototype->shape, rank);
  int64_t numel = 0;
  int64_t bits = 0;
  if (!checked_product(shape, &numel) ||
      __builtin_mul_overflow(numel, int64_t{prototype->dtype.bits} * prototype->dtype.lanes,
                             &bits) ||
      bits > INT64_MAX - static_cast<int64_t>(8 * kAlignment)) {
    text << "shape " << shape << " of " << prototype->dtype << " exceeds the address space";
    return set_error(error_context, "ValueError", text.c_str()), -1;
  }
  const size_t bytes = (static_cast<size_t>(bits) + 7) / 8;
  const size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* data = padded == 0 ? nullptr : std::aligned_alloc(kAlignment, padded);
  auto* tensor =
      static_cast<CpuTensor*>(std::malloc(sizeof(CpuTensor) + 2 * rank * sizeof(int64_t)));
  if (tensor == nullptr || (padded != 0 && data == nullptr)) {
    std::free(data);
    std::free(tensor);
    text << "out of memory: " << bytes << " bytes for shape " << shape;
    return set_error(error_context, "MemoryError", text.c_str()), -1;
  }
  auto* sizes = reinterpret_cast<int64_t*>(tensor + 1);
  int64_t* strides = sizes + rank;
  uint64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    sizes[i] = shape[i];
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[i]);
  }
  tensor->data = data;
  tensor->managed = {};
  tensor->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->managed.deleter = [](DLManagedTensorVersioned* self) {
    std::free(reinterpret_cast<CpuTensor*>(self)->data);
    std::free(self);
  };
  tensor->managed.dl_tensor = {
      data, prototype->device, prototype->ndim, prototype->dtype, sizes, strides, 0};
  *out = &tensor->managed;
  return 0;
}

}  // namespace kernkit::host
