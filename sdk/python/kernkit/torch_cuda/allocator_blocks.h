// SPDX-License-Identifier: Apache-2.0
// The blocks of PyTorch's caching allocator, so that the simulator finds an access past a block
// inside of the allocator's larger allocations.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>
#include <kernkit/simulator/blocks.h>

namespace kernkit::torch_cuda {

/// Passes to the simulator the beginning and the end of each block that PyTorch's allocator makes
/// after this call. Blocks of a graph's private pool stay accessible after their tensors are freed,
/// since each replay uses the blocks.
inline void track_blocks() {
  using Entry = c10::cuda::CUDACachingAllocator::TraceEntry;
  c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker([](const Entry& entry) {
    const auto* memory = reinterpret_cast<const void*>(entry.addr_);
    const bool is_of_graph = entry.mempool_.first != 0 || entry.mempool_.second != 0;
    if (entry.action_ == Entry::ALLOC) {
      kernkit_begin_block(memory, entry.size_);
    } else if (entry.action_ == Entry::FREE_COMPLETED && !is_of_graph) {
      kernkit_end_block(memory, static_cast<cudaStream_t>(entry.stream_));
    }
  });
}

}  // namespace kernkit::torch_cuda
