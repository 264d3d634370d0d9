// SPDX-License-Identifier: Apache-2.0
// The core's user objects. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at
// cudaUserObjectCreate and cudaGraphRetainUserObject.
#pragma once

#include <cuda_runtime.h>

struct CUuserObject_st;

namespace kernkit::simulator::core {

/// Creates an object to which the program has `count` references. When the last reference is
/// released, destroy(pointer) is called in the releasing thread.
cudaError_t create_user_object(CUuserObject_st** object, void* pointer, void (*destroy)(void*),
                               unsigned count, unsigned flags);
/// Adds `count` references of the program. release_user_object() releases references of the
/// program.
cudaError_t retain_user_object(CUuserObject_st* object, unsigned count);
cudaError_t release_user_object(CUuserObject_st* object, unsigned count);
/// Adds `count` references of a graph. Clones of the graph, its executable graphs and their
/// launches also get these references. `flags` is 0, or 1 to move references of the program to the
/// graph.
cudaError_t retain_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count,
                            unsigned flags);
cudaError_t release_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count);

}  // namespace kernkit::simulator::core
