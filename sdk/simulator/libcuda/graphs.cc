// SPDX-License-Identifier: Apache-2.0
// Graphs of the driver's API.
#include "runtime/core/graphs.h"

#include "libcuda/driver_call.h"
#include "libcudart/graph_nodes.h"
#include "libcudart/user_objects.h"

namespace kernkit::simulator::driver {
namespace {

KernelNodeParams kernel_node_of(const CUDA_KERNEL_NODE_PARAMS_v2& all) {
  const void* kernel = all.func != nullptr ? kernel_of(all.func) : kernel_of(all.kern);
  return {const_cast<void*>(kernel),
          dim3(all.gridDimX, all.gridDimY, all.gridDimZ),
          dim3(all.blockDimX, all.blockDimY, all.blockDimZ),
          all.sharedMemBytes,
          all.kernelParams,
          all.extra};
}

CUDA_KERNEL_NODE_PARAMS_v2 widened(const CUDA_KERNEL_NODE_PARAMS_v1& all) {
  return {all.func,         all.gridDimX,  all.gridDimY,  all.gridDimZ,
          all.blockDimX,    all.blockDimY, all.blockDimZ, all.sharedMemBytes,
          all.kernelParams, all.extra,     nullptr,       nullptr};
}

static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(MemsetParams), "the same layout");
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(HostNodeParams), "the same layout");
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(MemAllocNodeParams), "the same layout");
static_assert(sizeof(CUgraphEdgeData) == core::kEdgeDataSize, "the same size");
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(GraphExecUpdateResultInfo),
              "the same layout");

cudaError_t instantiate(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* all) {
  constexpr auto kUpload = static_cast<cuuint64_t>(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  if (all == nullptr) return cudaErrorInvalidValue;
  all->hErrNode_out = nullptr;
  all->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  cudaError_t error = core::instantiate(exec, graph, all->flags & ~kUpload);
  if (error == cudaSuccess && (all->flags & kUpload) != 0) {
    error = core::upload_graph(*exec, all->hUploadStream);
  }
  if (error == cudaSuccess) all->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return error;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return call("cuGraphCreate", ApiScope::kHost, [&] { return core::create_graph(graph, flags); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", ApiScope::kHost, [&] { return core::destroy_graph(graph); });
}
CUresult cuGraphClone(CUgraph* copy, CUgraph graph) {
  return call("cuGraphClone", ApiScope::kHost, [&] { return core::clone_graph(copy, graph); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return call("cuGraphGetNodes", ApiScope::kHost,
              [&] { return core::list_nodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return call("cuGraphGetRootNodes", ApiScope::kHost,
              [&] { return core::list_root_nodes(graph, nodes, count); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return call("cuGraphNodeGetType", ApiScope::kHost, [&] {
    int number = 0;
    if (type == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = core::read_node_type(node, &number);
    if (error == cudaSuccess) *type = static_cast<CUgraphNodeType>(number);
    return error;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* all) {
  return call("cuGraphAddKernelNode", ApiScope::kDevice, [&] {
    if (all == nullptr) return cudaErrorInvalidValue;
    const KernelNodeParams parameters = kernel_node_of(*all);
    return core::add_kernel_node({node, graph, after, count}, &parameters);
  });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* all) {
  if (all == nullptr) return cuGraphAddKernelNode_v2(node, graph, after, count, nullptr);
  const CUDA_KERNEL_NODE_PARAMS_v2 wide = widened(*all);
  return cuGraphAddKernelNode_v2(node, graph, after, count, &wide);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMCPY3D* all, CUcontext) {
  return call("cuGraphAddMemcpyNode", ApiScope::kDevice, [&] {
    Memcpy3DParms parameters{};
    const cudaError_t error = convert(all, &parameters);
    if (error != cudaSuccess) return error;
    return core::add_copy_node({node, graph, after, count}, &parameters);
  });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* all, CUcontext) {
  return call("cuGraphAddMemsetNode", ApiScope::kDevice, [&] {
    return core::add_fill_node({node, graph, after, count},
                               reinterpret_cast<const MemsetParams*>(all));
  });
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            size_t count, const CUDA_HOST_NODE_PARAMS* all) {
  return call("cuGraphAddHostNode", ApiScope::kDevice, [&] {
    return core::add_host_node({node, graph, after, count},
                               reinterpret_cast<const HostNodeParams*>(all));
  });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             size_t count) {
  return call("cuGraphAddEmptyNode", ApiScope::kDevice, [&] {
    return core::add_empty_node({node, graph, after, count});
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraph child) {
  return call("cuGraphAddChildGraphNode", ApiScope::kDevice, [&] {
    return core::add_child_graph({node, graph, after, count}, child);
  });
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* all) {
  return call("cuGraphAddMemAllocNode", ApiScope::kDevice, [&] {
    return core::add_allocation_node({node, graph, after, count},
                                     reinterpret_cast<MemAllocNodeParams*>(all));
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                               size_t count, CUdeviceptr address) {
  return call("cuGraphAddMemFreeNode", ApiScope::kDevice, [&] {
    return core::add_free_node({node, graph, after, count}, pointer_of(address));
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUevent event) {
  return call("cuGraphAddEventRecordNode", ApiScope::kDevice, [&] {
    return core::add_event_record_node({node, graph, after, count}, event);
  });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, CUevent event) {
  return call("cuGraphAddEventWaitNode", ApiScope::kDevice, [&] {
    return core::add_event_wait_node({node, graph, after, count}, event);
  });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call("cuGraphEventRecordNodeGetEvent", ApiScope::kHost, [&] {
    return core::read_event_of_node(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
  });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call("cuGraphEventWaitNodeGetEvent", ApiScope::kHost,
              [&] { return core::read_event_of_node(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); });
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edges, size_t* count) {
  return call("cuGraphGetEdges", ApiScope::kHost,
              [&] { return core::list_edges(graph, from, to, edges, count); });
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                       size_t* count) {
  return call("cuGraphNodeGetDependencies", ApiScope::kHost,
              [&] { return core::list_dependencies(node, nodes, edges, count); });
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* edges, size_t* count) {
  return call("cuGraphNodeGetDependentNodes", ApiScope::kHost,
              [&] { return core::list_dependent_nodes(node, nodes, edges, count); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* all) {
  return call("cuGraphMemAllocNodeGetParams", ApiScope::kHost, [&] {
    return core::read_allocation_node(node, reinterpret_cast<MemAllocNodeParams*>(all));
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return call("cuGraphMemFreeNodeGetParams", ApiScope::kHost,
              [&] { return core::read_free_node(node, pointer_to(address)); });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call("cuGraphInstantiateWithFlags", ApiScope::kUnsafe,
              [&] { return core::instantiate(exec, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* all) {
  return call("cuGraphInstantiateWithParams", ApiScope::kUnsafe,
              [&] { return instantiate(exec, graph, all); });
}
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t log_size) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_size != 0) *log = '\0';
  return call("cuGraphInstantiate", ApiScope::kUnsafe,
              [&] { return core::instantiate(exec, graph, 0); });
}
CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                            size_t log_size) {
  return cuGraphInstantiate_v2(exec, graph, error_node, log, log_size);
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call("cuGraphLaunch", ApiScope::kDevice, [&] { return core::launch_graph(exec, stream); });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return call("cuGraphUpload", ApiScope::kDevice, [&] { return core::upload_graph(exec, stream); });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call("cuGraphExecDestroy", ApiScope::kHost, [&] { return core::destroy_instance(exec); });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* all) {
  return call("cuGraphExecKernelNodeSetParams", ApiScope::kDevice, [&] {
    if (all == nullptr) return cudaErrorInvalidValue;
    const KernelNodeParams parameters = kernel_node_of(*all);
    return core::set_kernel_of_instance(exec, node, &parameters);
  });
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return call("cuGraphExecUpdate", ApiScope::kDevice, [&] {
    return core::update_instance(exec, graph, reinterpret_cast<GraphExecUpdateResultInfo*>(info));
  });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  return call("cuUserObjectCreate", ApiScope::kHost,
              [&] { return core::create_user_object(object, pointer, destroy, count, flags); });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return call("cuUserObjectRetain", ApiScope::kHost,
              [&] { return core::retain_user_object(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return call("cuUserObjectRelease", ApiScope::kHost,
              [&] { return core::release_user_object(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return call("cuGraphRetainUserObject", ApiScope::kHost,
              [&] { return core::retain_in_graph(graph, object, count, flags); });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return call("cuGraphReleaseUserObject", ApiScope::kHost,
              [&] { return core::release_in_graph(graph, object, count); });
}

}  // extern "C"
