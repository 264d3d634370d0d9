/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host in the order of a stream, for frameworks whose operators run on the CPU while
 * their tensors are in simulated device memory. A C header: a program that does not link the
 * simulator looks up the functions by dlsym(). An error that a function returns also becomes the
 * thread's last error, as with functions of the CUDA runtime. */
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
 * Enqueues work in a stream, which may be a default stream. The work runs like a kernel: after
 * earlier work of the stream, by the order of the seed, in a thread that advances the stream, which
 * may be the calling thread during the call. In a captured stream the work becomes a node of the
 * graph and runs at each launch of the graph. A description returned by `run` is reported as a
 * fault of the stream's device: later calls that reach the device return cudaErrorAssert.
 *
 * The structure and its accesses are copied, and the call does not wait for the work. Any thread
 * may call the function. `data` is released once the work has run and no graph contains the work.
 *
 * Returns cudaSuccess, or an error, after which the work does not run: cudaErrorInvalidValue for a
 * null `work` or a null `name` or `run`, without releasing `data`; otherwise `data` is released,
 * and the error is cudaErrorInvalidResourceHandle for a destroyed stream, cudaErrorNoDevice without
 * devices, an error of the stream's capture, or an error of earlier work on the device.
 */
cudaError_t kernkit_enqueue_work(cudaStream_t stream, const kernkit_stream_work* work);

/**
 * Waits until new work of a stream, which may be a default stream, could run: for the earlier work
 * of the stream, and of the streams with which the stream synchronises. Work that the caller then
 * does itself is in the order of the stream. In a captured stream, stores 1 in `*is_captured` and
 * does not wait; otherwise stores 0. Any thread may call the function.
 *
 * Returns cudaSuccess, cudaErrorInvalidValue for a null `is_captured`,
 * cudaErrorInvalidResourceHandle for a destroyed stream, cudaErrorNoDevice without devices, or an
 * error of earlier work on the device. A capture in another stream does not make the call fail,
 * with one exception: if `stream` is the legacy default stream and a stream that synchronises with
 * `stream` is captured, the capture becomes invalid, and the call returns
 * cudaErrorStreamCaptureImplicit.
 */
cudaError_t kernkit_wait_for_turn(cudaStream_t stream, int* is_captured);

#ifdef __cplusplus
}
#endif
