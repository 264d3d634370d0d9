// SPDX-License-Identifier: Apache-2.0
// Functions for memory in slices of rows. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at
// cudaMalloc3D, cudaMemset3D and cudaMemcpy3D.
#include "libcudart/memory_3d.h"
#include "runtime/core/copies.h"
#include "runtime/core/memory.h"
#include "runtime/core/streams.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

bool is_empty(const Extent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

// Returns whether a box of size `extent` at this position is within the rows of the memory and,
// unless the box is in slice 0 only, within the slices.
bool contains(const PitchedPtr& memory, const Position& position, const Extent& extent) {
  const bool rows = position.x <= memory.pitch && extent.width <= memory.pitch - position.x;
  const bool one_slice = extent.depth == 1 && position.z == 0;
  const bool slices = position.y <= memory.ysize && extent.height <= memory.ysize - position.y;
  return memory.ptr != nullptr && rows && (one_slice || slices);
}

char* slice_of(const PitchedPtr& memory, const Position& position, size_t slice) {
  return static_cast<char*>(memory.ptr) +
         ((position.z + slice) * memory.ysize + position.y) * memory.pitch + position.x;
}

// Calls work(slice) for each slice number from 0 on. Stops at the first error and returns that
// error.
template <class Work>
cudaError_t for_each_slice(size_t slices, const Work& work) {
  for (size_t slice = 0; slice < slices; ++slice) {
    const cudaError_t error = work(slice);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t allocate(PitchedPtr* memory, const Extent& extent) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
  *memory = {nullptr, 0, extent.width, extent.height};
  return core::allocate_rows(&memory->ptr, &memory->pitch, extent.width, rows);
}

cudaError_t fill(const PitchedPtr& memory, int value, const Extent& extent, cudaStream_t stream) {
  if (is_empty(extent)) return cudaSuccess;
  if (!contains(memory, {}, extent)) return cudaErrorInvalidValue;
  const core::Rows rows{memory.pitch, memory.pitch, extent.width, extent.height};
  const cudaError_t invalid = for_each_slice(extent.depth, [&](size_t slice) {
    return core::check_fill_of_rows(slice_of(memory, {}, slice), rows, stream);
  });
  if (invalid != cudaSuccess) return invalid;
  return for_each_slice(extent.depth, [&](size_t slice) {
    return core::fill_elements(slice_of(memory, {}, slice), static_cast<unsigned>(value), 1, rows,
                               stream);
  });
}

}  // namespace

cudaError_t core::copy_slices(const Memcpy3DParms* all, cudaStream_t stream) {
  if (all == nullptr) return cudaErrorInvalidValue;
  // An array cannot be valid, since cudaMallocArray() and cudaMalloc3DArray() are not supported.
  if (all->srcArray != nullptr || all->dstArray != nullptr) return cudaErrorInvalidValue;
  if (all->kind < cudaMemcpyHostToHost || all->kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (is_empty(all->extent)) return cudaSuccess;
  if (!contains(all->srcPtr, all->srcPos, all->extent) ||
      !contains(all->dstPtr, all->dstPos, all->extent)) {
    return cudaErrorInvalidValue;
  }
  const core::Rows rows{all->dstPtr.pitch, all->srcPtr.pitch, all->extent.width,
                        all->extent.height};
  const auto kind = static_cast<cudaMemcpyKind>(all->kind);
  const auto to = [&](size_t slice) { return slice_of(all->dstPtr, all->dstPos, slice); };
  const auto from = [&](size_t slice) { return slice_of(all->srcPtr, all->srcPos, slice); };
  const cudaError_t invalid = for_each_slice(all->extent.depth, [&](size_t slice) {
    return core::check_copy_of_rows(to(slice), from(slice), rows, kind, stream);
  });
  if (invalid != cudaSuccess) return invalid;
  return for_each_slice(all->extent.depth, [&](size_t slice) {
    return core::copy_rows(to(slice), from(slice), rows, kind, stream);
  });
}

cudaError_t core::copy_slices_and_wait(const Memcpy3DParms* all) {
  const cudaError_t rejected = reject_waiting(nullptr);
  if (rejected != cudaSuccess) return rejected;
  const cudaError_t error = copy_slices(all, nullptr);
  return error != cudaSuccess ? error : wait_for_stream(nullptr);
}

}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMalloc3D(PitchedPtr* memory, Extent extent) {
  return call("cudaMalloc3D", ApiScope::kUnsafe, [&] { return allocate(memory, extent); });
}
cudaError_t cudaMemset3D(PitchedPtr memory, int value, Extent extent) {
  return call("cudaMemset3D", ApiScope::kDevice, [&] {
    const cudaError_t rejected = reject_waiting(nullptr);
    return rejected != cudaSuccess ? rejected : fill(memory, value, extent, nullptr);
  });
}
cudaError_t cudaMemset3DAsync(PitchedPtr memory, int value, Extent extent, cudaStream_t stream) {
  return call("cudaMemset3DAsync", ApiScope::kDevice,
              [&] { return fill(memory, value, extent, stream); });
}
cudaError_t cudaMemcpy3D(const Memcpy3DParms* parameters) {
  return call("cudaMemcpy3D", ApiScope::kDevice,
              [&] { return core::copy_slices_and_wait(parameters); });
}
cudaError_t cudaMemcpy3DAsync(const Memcpy3DParms* parameters, cudaStream_t stream) {
  return call("cudaMemcpy3DAsync", ApiScope::kDevice,
              [&] { return core::copy_slices(parameters, stream); });
}

}  // extern "C"
