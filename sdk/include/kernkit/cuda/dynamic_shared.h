// SPDX-License-Identifier: Apache-2.0
// dynamic_shared<T>(): the shared memory whose size is set by the launch.
#pragma once

#if defined(__CUDACC__)

namespace kernkit::cuda {

/// Returns the block's dynamic shared memory: LaunchConfig's shared_memory bytes, uninitialised,
/// 16-byte aligned, the same for every T and every thread of the block; valid until the block ends.
/// Replaces `extern __shared__ T name[];`, which a file can declare only once per name, and which
/// the simulator's fibers do not support. Throws nothing.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char kernkit_dynamic_shared[];
  return reinterpret_cast<T*>(kernkit_dynamic_shared);
}

}  // namespace kernkit::cuda

#else

namespace kernkit::simulator {
/// Returns the dynamic shared memory of the running block, at a multiple of 1024 bytes, valid until
/// the block ends, for dynamic_shared() in the simulator's fibers. A call outside of a kernel
/// prints a message and aborts the process.
void* dynamic_shared_memory();
}  // namespace kernkit::simulator

namespace kernkit::cuda {

/// Returns the block's dynamic shared memory: LaunchConfig's shared_memory bytes, uninitialised,
/// 16-byte aligned, the same for every T and every thread of the block; valid until the block ends.
/// This version runs in the simulator's fibers; a call outside of a kernel aborts the process.
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simulator::dynamic_shared_memory());
}

}  // namespace kernkit::cuda

#endif
