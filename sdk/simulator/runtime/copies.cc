// SPDX-License-Identifier: Apache-2.0
// Copies and fills of memory.
#include <cstring>

#include "platform/sanitizers.h"
#include "runtime/core/copies.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

using core::Rows;

void copy(void* to, const void* from, size_t size) {
  const RaceObserved of_device;
  if (size != 0) std::memmove(to, from, size);
  runtime_hooks.memory(MemoryStep::kCopied, to, size, from);
}
void fill(char* pointer, unsigned value, size_t element_size, size_t size) {
  const RaceObserved of_device;
  if (element_size == 1 && size != 0) std::memset(pointer, static_cast<int>(value), size);
  for (size_t at = 0; element_size != 1 && at < size; at += element_size) {
    std::memcpy(pointer + at, &value, element_size);
  }
  runtime_hooks.memory(MemoryStep::kFilled, pointer, size, nullptr);
}

bool is_known(const void* address) {
  cudaPointerAttributes attributes{};
  return allocation_of(address) != nullptr ||
         (is_variable(address, &attributes) && attributes.type == cudaMemoryTypeDevice);
}

// Returns the bytes from the start of the first row to the end of the last row; SIZE_MAX on
// overflow.
size_t extent(size_t pitch, size_t width, size_t height) {
  size_t bytes = 0;
  if (width == 0 || height == 0) return 0;
  if (__builtin_mul_overflow(height - 1, pitch, &bytes)) return SIZE_MAX;
  return __builtin_add_overflow(bytes, width, &bytes) ? SIZE_MAX : bytes;
}

struct Copy {
  MemoryRange to, from;
  Rows rows;
  const char* function;

  void run(int device) const {
    if (!is_still_allocated(to, function, "copy", device)) return;
    if (!is_still_allocated(from, function, "copy", device)) return;
    run(from.at, rows.from_pitch);
  }
  void run(const void* source, size_t source_pitch) const {
    auto* row_to = static_cast<char*>(const_cast<void*>(to.at));
    const auto* row_from = static_cast<const char*>(source);
    for (size_t row = 0; row < rows.height; ++row) {
      copy(row_to + row * rows.to_pitch, row_from + row * source_pitch, rows.width);
    }
  }
};

cudaError_t check(Copy* copy, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool is_captured = captured(stream) != nullptr;
  const cudaError_t error =
      check_range(&copy->to, to_device ? Side::kDevice : Side::kAny, is_captured);
  if (error != cudaSuccess) return error;
  return check_range(&copy->from, from_device ? Side::kDevice : Side::kAny, is_captured);
}

Copy copy_of(void* to, const void* from, const Rows& rows) {
  return {{"dst", to, extent(rows.to_pitch, rows.width, rows.height)},
          {"src", from, extent(rows.from_pitch, rows.width, rows.height)},
          rows,
          thread_state().function};
}

MemoryRange filled_by(void* to, const Rows& rows) {
  return {"devPtr", to, extent(rows.to_pitch, rows.width, rows.height)};
}

Rows one_row(size_t size) { return {size, size, size, 1}; }

}  // namespace

namespace core {

cudaError_t check_pitches(const Rows& rows, cudaError_t error) {
  const bool is_valid =
      rows.height == 0 || (rows.width <= rows.to_pitch && rows.width <= rows.from_pitch);
  if (is_valid) return cudaSuccess;
  return reject_argument(
      "width: rows of " + bytes_text(rows.width) + " are longer than their pitch", error);
}

// CUDA Runtime API, "API synchronization behavior": memory that CUDA did not allocate is read or
// written before the call returns. In a graph, the memory is read when the graph runs.
cudaError_t copy_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  Copy all = copy_of(to, from, rows);
  const cudaError_t invalid = check(&all, kind, stream);
  if (invalid != cudaSuccess) return invalid;
  const int device = device_of(stream);
  const bool is_captured = captured(stream) != nullptr;
  const bool reads = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDefault;
  const bool writes = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
  if (reads && !is_captured && !is_known(from) && is_known(to)) {
    std::vector<unsigned char> staged;
    for (size_t row = 0; row < rows.height; ++row) {
      const auto* bytes = static_cast<const unsigned char*>(from) + row * rows.from_pitch;
      staged.insert(staged.end(), bytes, bytes + rows.width);
    }
    const auto work = [all, device, staged = std::move(staged)] {
      if (!is_still_allocated(all.to, all.function, "copy", device)) return;
      all.run(staged.data(), all.rows.width);
    };
    return enqueue(stream, work, NodeKind::kMemcpy);
  }
  const auto work = [all, device] { all.run(device); };
  const cudaError_t error = enqueue(stream, work, NodeKind::kMemcpy);
  if (error == cudaSuccess && writes && !is_captured && !is_known(to) && is_known(from)) {
    drain(device, stream);
    return error_of_device(device);
  }
  return error;
}

cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  return copy_rows(to, from, one_row(size), kind, stream);
}

cudaError_t copy_rows_and_wait(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind) {
  const cudaError_t rejected = reject_waiting(nullptr);
  if (rejected != cudaSuccess) return rejected;
  Copy all = copy_of(to, from, rows);
  const cudaError_t invalid = check(&all, kind, nullptr);
  if (invalid != cudaSuccess) return invalid;
  const int device = thread_state().device;
  const auto work = [all, device] { all.run(device); };
  const cudaError_t error = enqueue(nullptr, work, NodeKind::kMemcpy);
  if (kind != cudaMemcpyDeviceToDevice) drain(device, nullptr);
  return error != cudaSuccess ? error : error_of_device(device);
}

cudaError_t copy_and_wait(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_rows_and_wait(to, from, one_row(size), kind);
}

cudaError_t check_copy_of_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                               cudaStream_t stream) {
  Copy all = copy_of(to, from, rows);
  return check(&all, kind, stream);
}
cudaError_t check_fill_of_rows(void* to, const Rows& rows, cudaStream_t stream) {
  MemoryRange range = filled_by(to, rows);
  return check_range(&range, Side::kDevice, captured(stream) != nullptr);
}

cudaError_t fill_elements(void* to, unsigned value, size_t element_size, const Rows& rows,
                          cudaStream_t stream) {
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  MemoryRange range = filled_by(to, rows);
  const cudaError_t invalid = check_range(&range, Side::kDevice, captured(stream) != nullptr);
  if (invalid != cudaSuccess) return invalid;
  const char* function = thread_state().function;
  const auto work = [=, device = device_of(stream)] {
    if (!is_still_allocated(range, function, "fill", device)) return;
    auto* row_to = static_cast<char*>(const_cast<void*>(range.at));
    for (size_t row = 0; row < rows.height; ++row) {
      fill(row_to + row * rows.to_pitch, value, element_size, rows.width);
    }
  };
  return enqueue(stream, work, NodeKind::kMemset);
}

cudaError_t copy_between_devices(void* to, int to_device, const void* from, int from_device,
                                 size_t size) {
  const int current = thread_state().device;
  for (const int device : {current, to_device, from_device}) {
    if (reject_device(device)) return cudaErrorStreamCaptureUnsupported;
  }
  for (const int device : {current, to_device, from_device}) drain_device(device);
  const cudaError_t error = copy_and_wait(to, from, size, cudaMemcpyDeviceToDevice);
  drain(current, nullptr);
  return error != cudaSuccess ? error : error_of_device(current);
}

cudaError_t fill_and_wait(void* to, unsigned value, size_t element_size, const Rows& rows) {
  const cudaError_t rejected = reject_waiting(nullptr);
  return rejected != cudaSuccess ? rejected : fill_elements(to, value, element_size, rows, nullptr);
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return call("cudaMemcpy", ApiScope::kDevice,
              [&] { return core::copy_and_wait(to, from, size, kind); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", ApiScope::kDevice,
              [&] { return core::copy_async(to, from, size, kind, stream); });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return call("cudaMemset", ApiScope::kDevice, [&] {
    return core::fill_and_wait(pointer, static_cast<unsigned>(value), 1, one_row(size));
  });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return call("cudaMemsetAsync", ApiScope::kDevice, [&] {
    return core::fill_elements(pointer, static_cast<unsigned>(value), 1, one_row(size), stream);
  });
}

}  // extern "C"
