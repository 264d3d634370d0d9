/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host in the order of a stream, for frameworks whose operators run on the CPU while
 * their tensors are in simulated device memory. A C header: a program that does not link the
 * simulator looks up kernkit_enqueue_work() by dlsym(). */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A range of memory that work reads or writes. */
typedef struct kernkit_memory_access {
  const void* at; /**< first byte */
  size_t bytes;   /**< size of the range [bytes] */
  int writes;     /**< whether the work writes the range; otherwise it reads the range */
} kernkit_memory_access;

/** Work of the host in the order of a stream. */
typedef struct kernkit_stream_work {
  /** Name of the work in reports of the tools, such as "aten::add". The string outlives the work.
   */
  const char* name;
  /** Call site in the program, such as "train.py:14", or null. The string outlives the work. */
  const char* place;
  /** Does the work. Returns null, or a description of an error, which lives until the next call of
   * `run` or of `release`. The function may neither call CUDA nor throw. */
  const char* (*run)(void* data);
  /** Called once, when nothing refers to `data` any more. May be null. */
  void (*release)(void* data);
  void* data; /**< argument of `run` and `release`; may be null */
  /** Accesses of the work, for racecheck and initcheck. The array is copied. */
  const kernkit_memory_access* accesses;
  size_t num_accesses; /**< number of `accesses` */
} kernkit_stream_work;

/**
 * Enqueues work in a stream. The work runs like a kernel: after earlier work of the stream, by the
 * seed's order, in a thread that advances the stream. In a captured stream the work becomes a node
 * of the graph and runs at each launch of the graph. A description returned by `run` is reported as
 * a fault of the device, whose later calls return cudaErrorAssert.
 *
 * The structure is copied, and the call does not wait for the work. Call the function from any
 * thread. On an error the work does not run, and `data` is released.
 *
 * Returns cudaErrorInvalidValue without a name or a function `run`, in which case `data` is not
 * released, and the errors of a kernel launch in the stream.
 */
cudaError_t kernkit_enqueue_work(cudaStream_t stream, const kernkit_stream_work* work);

/**
 * Waits until new work of a stream could run: for the earlier work of the stream, and of the
 * streams with which the stream synchronises. Work that the caller then does itself is in the
 * stream's order. In a captured stream, stores 1 in `*is_captured` and does not wait; otherwise
 * stores 0. A capture in another stream does not forbid the call.
 *
 * Returns cudaErrorInvalidValue for a null `is_captured`, cudaErrorInvalidResourceHandle for a
 * destroyed stream, and errors of earlier work.
 */
cudaError_t kernkit_wait_for_turn(cudaStream_t stream, int* is_captured);

#ifdef __cplusplus
}
#endif
