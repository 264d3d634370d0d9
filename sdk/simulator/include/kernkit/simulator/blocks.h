/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that a framework's allocator gives out of larger allocations, so that an access past the
 * end of a block is a fault. A C header: a program that does not link the simulator looks up the
 * functions by dlsym(). */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Begins a block of `size` bytes at `memory`, inside an allocation of the runtime. From the first
 * block on, kernels may access only the blocks of the allocation; copies and memsets may access all
 * of the allocation. Blocks may overlap. Does nothing if `memory` is in no allocation. Call the
 * function from any thread.
 */
void kernkit_begin_block(const void* memory, size_t size);

/**
 * Ends the last block that began at `memory`, at this point of a stream: earlier work of the stream
 * may still access the block. Does nothing if no block began at `memory`. Returns without waiting.
 * Call the function from any thread.
 */
void kernkit_end_block(const void* memory, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
