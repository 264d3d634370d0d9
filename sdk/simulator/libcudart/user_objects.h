// SPDX-License-Identifier: Apache-2.0
// The core's user objects. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at
// cudaUserObjectCreate and cudaGraphRetainUserObject.
#pragma once

#include <cuda_runtime.h>

struct CUuserObject_st;

namespace kernkit::simulator::core {

/// Creates an object with `count` references of the program. `destroy` is called with `pointer`
/// after the last reference was released, in the thread that released the reference.
cudaError_t create_user_object(CUuserObject_st** object, void* pointer, void (*destroy)(void*),
                               unsigned count, unsigned flags);
/// Adds or releases references of the program.
cudaError_t retain_user_object(CUuserObject_st* object, unsigned count);
cudaError_t release_user_object(CUuserObject_st* object, unsigned count);
/// Adds references of a graph, which its clones, its executable graphs and their launches get too.
/// flags: 0, or 1 to move references of the program.
cudaError_t retain_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count,
                            unsigned flags);
cudaError_t release_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count);

}  // namespace kernkit::simulator::core
