// SPDX-License-Identifier: Apache-2.0
// Graphs that a program builds node by node. A node is recorded by the corresponding call on a
// captured stream, so the call's checks apply to the node's parameters. Source of the rules:
// cuda_runtime_api.h of CUDA 13.0 at the functions' names.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "libcudart/graph_nodes.h"

#include "libcudart/memory_3d.h"
#include "runtime/core/copies.h"
#include "runtime/core/events.h"
#include "runtime/core/graphs.h"
#include "runtime/core/launches.h"
#include "runtime/core/memory.h"
#include "runtime/core/streams.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

enum UpdateResult : int {
  kUpdateSuccess = 0,
  kUpdateError = 1,
  kTopologyChanged = 2,
  kNodeTypeChanged = 3,
  kUpdateNotSupported = 6,
};

constexpr int kPinned = 1;  // cudaMemAllocationTypePinned

bool graph_exists(cudaGraph_t graph) { return state().graphs.count(graph) != 0; }

bool is_of_memory(const GraphNode& node) {
  return node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree;
}
bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), is_of_memory);
}

std::vector<GraphNode>::iterator find(std::vector<GraphNode>* nodes, const CUgraphNode_st* handle) {
  return std::find_if(nodes->begin(), nodes->end(),
                      [&](const GraphNode& node) { return node.handle.get() == handle; });
}

// A stream that is captured during the object's lifetime.
class Recorder {
 public:
  explicit Recorder(int device) : stream_{device, true, {}, 0, 0} {
    stream_.point.capture = std::make_shared<Capture>(
        Capture{&stream_, cudaStreamCaptureModeRelaxed, thread_number(), false, false, {}});
    state().streams.insert(&stream_);
  }
  ~Recorder() { state().streams.erase(&stream_); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  cudaStream_t stream() { return &stream_; }
  /// Returns the captured work as one node.
  GraphNode node(NodeKind kind) {
    std::vector<GraphNode> nodes = std::move(stream_.point.capture->nodes);
    GraphNode node;
    if (nodes.size() == 1) {
      node = std::move(nodes.front());
      node.after.clear();
    } else {
      node.graph = std::move(nodes);
    }
    node.kind = kind;
    node.handle = std::make_shared<CUgraphNode_st>();
    return node;
  }

 private:
  CUstream_st stream_;
};

// Adds the indices of `count` nodes of a graph to *numbers. Returns false if a node is not in the
// graph, or is in `nodes` twice.
bool numbers_of(cudaGraph_t graph, const cudaGraphNode_t* nodes, size_t count,
                std::vector<size_t>* numbers) {
  for (size_t i = 0; i < count; ++i) {
    const auto node_position = find(&graph->nodes, nodes[i]);
    if (node_position == graph->nodes.end()) return false;
    const auto number = static_cast<size_t>(node_position - graph->nodes.begin());
    if (std::count(numbers->begin(), numbers->end(), number) != 0) return false;
    numbers->push_back(number);
  }
  return true;
}

using core::NodePosition;

cudaError_t add(const NodePosition& position, GraphNode node) {
  if (position.handle == nullptr || !graph_exists(position.graph)) return cudaErrorInvalidValue;
  if (position.after == nullptr && position.count != 0) return cudaErrorInvalidValue;
  std::vector<size_t> numbers;
  if (!numbers_of(position.graph, position.after, position.count, &numbers))
    return cudaErrorInvalidValue;
  node.after = std::move(numbers);
  *position.handle = node.handle.get();
  position.graph->nodes.push_back(std::move(node));
  return cudaSuccess;
}

// Calls `work(stream)` with a captured stream of the device, and stores the captured work as *node.
// Stores nothing if `work` returns an error.
template <class Work>
cudaError_t record(NodeKind kind, int device, GraphNode* node, const Work& work) {
  Recorder recorder(device);
  const cudaError_t error = work(recorder.stream());
  if (error == cudaSuccess) *node = recorder.node(kind);
  return error;
}
template <class Work>
cudaError_t add(const NodePosition& position, NodeKind kind, int device, const Work& work) {
  GraphNode node;
  const cudaError_t error = record(kind, device, &node, work);
  return error != cudaSuccess ? error : add(position, std::move(node));
}
template <class Work>
cudaError_t add(const NodePosition& position, NodeKind kind, const Work& work) {
  return add(position, kind, thread_state().device, work);
}

cudaError_t launch(const KernelNodeParams* parameters, cudaStream_t stream) {
  if (parameters == nullptr || parameters->func == nullptr) return cudaErrorInvalidValue;
  if (parameters->extra != nullptr) {
    if (parameters->kernelParams != nullptr) return cudaErrorInvalidValue;
    return reject_argument("extra: arguments as one buffer are not supported; pass kernelParams",
                           cudaErrorNotSupported);
  }
  core::LaunchRequest request;
  request.grid = parameters->gridDim;
  request.block = parameters->blockDim;
  request.shared_memory = parameters->sharedMemBytes;
  request.stream = stream;
  return core::launch_kernel(request, parameters->func, parameters->kernelParams);
}

bool is_valid(const MemsetParams& all) {
  const bool has_size = all.elementSize == 1 || all.elementSize == 2 || all.elementSize == 4;
  if (all.dst == nullptr || !has_size || all.height == 0 || all.width > SIZE_MAX / 4) return false;
  if (reinterpret_cast<uintptr_t>(all.dst) % all.elementSize != 0) return false;
  return all.height == 1 ||
         (all.pitch % all.elementSize == 0 && all.width <= all.pitch / all.elementSize);
}

}  // namespace

cudaError_t core::add_fill_node(const NodePosition& position, const MemsetParams* all) {
  if (all == nullptr || !is_valid(*all)) return cudaErrorInvalidValue;
  return add(position, NodeKind::kMemset, [&](cudaStream_t stream) {
    const size_t width = all->width * all->elementSize;
    const size_t pitch = all->height == 1 ? width : all->pitch;
    return fill_elements(all->dst, all->value, all->elementSize, {pitch, pitch, width, all->height},
                         stream);
  });
}

cudaError_t core::add_allocation_node(const NodePosition& position, MemAllocNodeParams* all) {
  if (all == nullptr || all->bytesize == 0) return cudaErrorInvalidValue;
  const MemPoolProps& properties = all->poolProps;
  if (properties.allocType != kPinned || properties.location.type != kLocationDevice) {
    return cudaErrorInvalidValue;
  }
  const int device = properties.location.id;
  if (!exists(device)) return cudaErrorInvalidDevice;
  if (properties.handleTypes != 0) {
    return reject_argument(
        "nodeParams: memory that other processes share is not supported; set poolProps.handleTypes "
        "to 0",
        cudaErrorNotSupported);
  }
  return add(position, NodeKind::kMemAlloc, device, [&](cudaStream_t stream) {
    const auto& pool = state().device_states[static_cast<size_t>(device)].pool;
    return allocate_from_pool(&all->dptr, all->bytesize, pool, stream);
  });
}

cudaError_t core::add_free_node(const NodePosition& position, void* memory) {
  if (!graph_exists(position.graph)) return cudaErrorInvalidValue;
  for (const GraphNode& node : position.graph->nodes) {
    if (memory != nullptr && node.frees == memory) {
      return reject_argument(
          "dptr: the graph already frees this memory; use one free node for each allocation");
    }
  }
  const Allocation* allocation = allocation_of(memory);
  if (allocation == nullptr || !allocation->of_graph) {
    return reject_argument(
        "dptr: " + address_text(memory) +
        ", which no graph allocated; expected the address of an allocation node");
  }
  return add(position, NodeKind::kMemFree, allocation->device,
             [&](cudaStream_t stream) { return free_async(memory, stream); });
}

namespace {

// Returns copies of nodes with new handles.
std::vector<GraphNode> cloned(const std::vector<GraphNode>& nodes) {
  std::vector<GraphNode> clones = nodes;
  for (GraphNode& node : clones) {
    node.handle = std::make_shared<CUgraphNode_st>();
    node.graph = cloned(node.graph);
  }
  return clones;
}

}  // namespace

cudaError_t core::clone_graph(cudaGraph_t* copy, cudaGraph_t graph) {
  if (copy == nullptr || !graph_exists(graph)) return cudaErrorInvalidValue;
  if (has_memory_nodes(*graph)) return cudaErrorNotSupported;
  *copy = new CUgraph_st{cloned(graph->nodes), graph->user_objects};
  state().graphs.insert(*copy);
  return cudaSuccess;
}

cudaError_t core::add_child_graph(const NodePosition& position, cudaGraph_t child) {
  if (!graph_exists(child)) return cudaErrorInvalidValue;
  if (has_memory_nodes(*child)) return cudaErrorNotSupported;
  GraphNode node;
  node.kind = NodeKind::kGraph;
  node.graph = cloned(child->nodes);
  node.handle = std::make_shared<CUgraphNode_st>();
  const cudaError_t error = add(position, std::move(node));
  if (error == cudaSuccess) position.graph->user_objects.add(child->user_objects);
  return error;
}

cudaError_t core::read_node_type(cudaGraphNode_t handle, int* kind) {
  if (kind == nullptr) return cudaErrorInvalidValue;
  for (cudaGraph_t graph : state().graphs) {
    const auto node_position = find(&graph->nodes, handle);
    if (node_position == graph->nodes.end()) continue;
    *kind = static_cast<int>(node_position->kind);
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

namespace {

// Returns the node with this handle and stores the node's graph in *graph; returns null if no graph
// has the node.
const GraphNode* node_of(cudaGraphNode_t handle, cudaGraph_t* graph) {
  for (cudaGraph_t each : state().graphs) {
    const auto position = find(&each->nodes, handle);
    if (position == each->nodes.end()) continue;
    *graph = each;
    return &*position;
  }
  return nullptr;
}

// Writes handles to an array of `count` elements, followed by nulls.
void copy_handles(const std::vector<cudaGraphNode_t>& handles, cudaGraphNode_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = i < handles.size() ? handles[i] : nullptr;
}

cudaError_t list_neighbours(const std::vector<cudaGraphNode_t>& handles, cudaGraphNode_t* nodes,
                            void* edges, size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (nodes != nullptr) {
    copy_handles(handles, nodes, *count);
    if (edges != nullptr) std::memset(edges, 0, core::kEdgeDataSize * *count);
  }
  *count = nodes == nullptr ? handles.size() : std::min(*count, handles.size());
  return cudaSuccess;
}

}  // namespace

cudaError_t core::list_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                             void* edges, size_t* count) {
  if (!graph_exists(graph) || count == nullptr) return cudaErrorInvalidValue;
  if ((from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> begins, ends;
  for (const GraphNode& node : graph->nodes) {
    for (const size_t before : node.after) {
      begins.push_back(graph->nodes[before].handle.get());
      ends.push_back(node.handle.get());
    }
  }
  if (from != nullptr) copy_handles(begins, from, *count);
  return list_neighbours(ends, to, edges, count);
}

namespace {

const char* name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kKernel: return "kernel";
    case NodeKind::kMemcpy: return "memcpy";
    case NodeKind::kMemset: return "memset";
    case NodeKind::kHost: return "host";
    case NodeKind::kGraph: return "graph";
    case NodeKind::kEmpty: return "empty";
    case NodeKind::kEventWait: return "event wait";
    case NodeKind::kEventRecord: return "event record";
    case NodeKind::kMemAlloc: return "mem alloc";
    case NodeKind::kMemFree: return "mem free";
  }
  return "unknown";
}

// Writes the nodes of a graph and of its child graphs as text of Graphviz. The name of each written
// node begins with `prefix`.
void print_nodes(const std::vector<GraphNode>& nodes, const std::string& prefix,
                 std::ostream* file) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string name = prefix + std::to_string(i);
    *file << name << " [label=\"" << name_of(nodes[i].kind) << "\"];\n";
    for (const size_t before : nodes[i].after) *file << prefix << before << " -> " << name << ";\n";
    if (nodes[i].graph.empty()) continue;
    *file << "subgraph cluster_" << name << " {\n";
    print_nodes(nodes[i].graph, name + "_", file);
    *file << "}\n";
  }
}

}  // namespace

cudaError_t core::print_graph(cudaGraph_t graph, const char* path) {
  if (!graph_exists(graph) || path == nullptr) return cudaErrorInvalidValue;
  std::ofstream file(path);
  file << "digraph graph_ {\n";
  print_nodes(graph->nodes, "node_", &file);
  file << "}\n";
  file.close();
  return file ? cudaSuccess : cudaErrorOperatingSystem;
}

cudaError_t core::list_dependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, void* edges,
                                    size_t* count) {
  cudaGraph_t graph = nullptr;
  const GraphNode* node = node_of(handle, &graph);
  if (node == nullptr) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> handles;
  for (const size_t before : node->after) handles.push_back(graph->nodes[before].handle.get());
  return list_neighbours(handles, nodes, edges, count);
}

cudaError_t core::list_dependent_nodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, void* edges,
                                       size_t* count) {
  cudaGraph_t graph = nullptr;
  const GraphNode* node = node_of(handle, &graph);
  if (node == nullptr) return cudaErrorInvalidValue;
  const auto number = static_cast<size_t>(node - graph->nodes.data());
  std::vector<cudaGraphNode_t> handles;
  for (const GraphNode& other : graph->nodes) {
    if (std::count(other.after.begin(), other.after.end(), number) != 0) {
      handles.push_back(other.handle.get());
    }
  }
  return list_neighbours(handles, nodes, edges, count);
}

cudaError_t core::read_event_of_node(cudaGraphNode_t handle, int kind, cudaEvent_t* event) {
  cudaGraph_t graph = nullptr;
  const GraphNode* node = node_of(handle, &graph);
  if (event == nullptr || node == nullptr || static_cast<int>(node->kind) != kind) {
    return cudaErrorInvalidValue;
  }
  *event = node->event;
  return cudaSuccess;
}

cudaError_t core::read_allocation_node(cudaGraphNode_t handle, MemAllocNodeParams* parameters) {
  cudaGraph_t graph = nullptr;
  const GraphNode* node = node_of(handle, &graph);
  if (parameters == nullptr || node == nullptr || node->allocates == nullptr) {
    return cudaErrorInvalidValue;
  }
  const Allocation& allocation = state().allocations.at(node->allocates);
  *parameters = {};
  parameters->poolProps.allocType = kPinned;
  parameters->poolProps.location = {kLocationDevice, allocation.device};
  parameters->bytesize = allocation.size;
  parameters->dptr = node->allocates;
  return cudaSuccess;
}

cudaError_t core::read_free_node(cudaGraphNode_t handle, void** memory) {
  cudaGraph_t graph = nullptr;
  const GraphNode* node = node_of(handle, &graph);
  if (memory == nullptr || node == nullptr || node->frees == nullptr) return cudaErrorInvalidValue;
  *memory = node->frees;
  return cudaSuccess;
}

cudaError_t core::set_kernel_of_instance(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                         const KernelNodeParams* parameters) {
  if (state().execs.count(exec) == 0) return cudaErrorInvalidValue;
  const auto node_position = find(&exec->nodes, handle);
  if (node_position == exec->nodes.end() || node_position->kind != NodeKind::kKernel)
    return cudaErrorInvalidValue;
  GraphNode node;
  const cudaError_t error = record(NodeKind::kKernel, thread_state().device, &node,
                                   [&](cudaStream_t stream) { return launch(parameters, stream); });
  if (error == cudaSuccess) node_position->work = std::move(node.work);
  return error;
}

namespace {

// Compares the i-th node of one graph with the i-th node of the other graph, for each i. Returns
// the first difference.
GraphExecUpdateResultInfo compared(const std::vector<GraphNode>& before,
                                   const std::vector<GraphNode>& after) {
  if (before.size() != after.size()) return {kTopologyChanged, nullptr, nullptr};
  for (size_t i = 0; i < after.size(); ++i) {
    cudaGraphNode_t const node = after[i].handle.get();
    if (before[i].kind != after[i].kind) return {kNodeTypeChanged, node, nullptr};
    if (before[i].after.size() != after[i].after.size()) return {kTopologyChanged, node, nullptr};
    const auto differs =
        std::mismatch(before[i].after.begin(), before[i].after.end(), after[i].after.begin());
    if (differs.first != before[i].after.end()) {
      return {kTopologyChanged, node, after[*differs.second].handle.get()};
    }
    if (is_of_memory(after[i])) return {kUpdateNotSupported, node, nullptr};
  }
  return {kUpdateSuccess, nullptr, nullptr};
}

}  // namespace

cudaError_t core::update_instance(cudaGraphExec_t exec, cudaGraph_t graph,
                                  GraphExecUpdateResultInfo* info) {
  if (info == nullptr) return cudaErrorInvalidValue;
  *info = {kUpdateError, nullptr, nullptr};
  if (state().execs.count(exec) == 0 || !graph_exists(graph)) return cudaErrorInvalidValue;
  std::vector<GraphNode> nodes = flattened(graph->nodes);
  *info = compared(exec->nodes, nodes);
  if (info->result != kUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
  for (size_t i = 0; i < nodes.size(); ++i) {
    exec->nodes[i].work = std::move(nodes[i].work);
    exec->nodes[i].event = nodes[i].event;
  }
  return cudaSuccess;
}

namespace core {

cudaError_t add_kernel_node(const NodePosition& position, const KernelNodeParams* parameters) {
  return add(position, NodeKind::kKernel,
             [&](cudaStream_t stream) { return launch(parameters, stream); });
}
cudaError_t add_copy_node(const NodePosition& position, const Memcpy3DParms* parameters) {
  return add(position, NodeKind::kMemcpy,
             [&](cudaStream_t stream) { return copy_slices(parameters, stream); });
}
cudaError_t add_copy_node(const NodePosition& position, void* to, const void* from, size_t size,
                          cudaMemcpyKind kind) {
  return add(position, NodeKind::kMemcpy,
             [&](cudaStream_t stream) { return copy_async(to, from, size, kind, stream); });
}
cudaError_t add_host_node(const NodePosition& position, const HostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  return add(position, NodeKind::kHost, [&](cudaStream_t stream) {
    return enqueue_host_function(stream, parameters->fn, parameters->userData);
  });
}
cudaError_t add_event_record_node(const NodePosition& position, cudaEvent_t event) {
  constexpr unsigned kExternal = 1;
  return add(position, NodeKind::kEventRecord,
             [&](cudaStream_t stream) { return record_event(event, stream, kExternal); });
}
cudaError_t add_event_wait_node(const NodePosition& position, cudaEvent_t event) {
  return add(position, NodeKind::kEventWait, [&](cudaStream_t stream) {
    return wait_in_stream(stream, event, cudaEventWaitExternal);
  });
}
cudaError_t add_empty_node(const NodePosition& position) {
  return add(position, NodeKind::kEmpty, [](cudaStream_t) { return cudaSuccess; });
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call("cudaGraphCreate", ApiScope::kHost, [&] { return core::create_graph(graph, flags); });
}
cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  return call("cudaGraphClone", ApiScope::kHost, [&] { return core::clone_graph(copy, graph); });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int* kind) {
  return call("cudaGraphNodeGetType", ApiScope::kHost,
              [&] { return core::read_node_type(node, kind); });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const KernelNodeParams* parameters) {
  return call("cudaGraphAddKernelNode", ApiScope::kDevice, [&] {
    return core::add_kernel_node({node, graph, after, count}, parameters);
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const Memcpy3DParms* parameters) {
  return call("cudaGraphAddMemcpyNode", ApiScope::kDevice, [&] {
    return core::add_copy_node({node, graph, after, count}, parameters);
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* to,
                                     const void* from, size_t size, cudaMemcpyKind kind) {
  return call("cudaGraphAddMemcpyNode1D", ApiScope::kDevice, [&] {
    return core::add_copy_node({node, graph, after, count}, to, from, size, kind);
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const MemsetParams* parameters) {
  return call("cudaGraphAddMemsetNode", ApiScope::kDevice, [&] {
    return core::add_fill_node({node, graph, after, count}, parameters);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const HostNodeParams* parameters) {
  return call("cudaGraphAddHostNode", ApiScope::kDevice, [&] {
    return core::add_host_node({node, graph, after, count}, parameters);
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return call("cudaGraphAddEmptyNode", ApiScope::kDevice, [&] {
    return core::add_empty_node({node, graph, after, count});
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  return call("cudaGraphAddChildGraphNode", ApiScope::kDevice, [&] {
    return core::add_child_graph({node, graph, after, count}, child);
  });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     MemAllocNodeParams* parameters) {
  return call("cudaGraphAddMemAllocNode", ApiScope::kDevice, [&] {
    return core::add_allocation_node({node, graph, after, count}, parameters);
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* memory) {
  return call("cudaGraphAddMemFreeNode", ApiScope::kDevice, [&] {
    return core::add_free_node({node, graph, after, count}, memory);
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return call("cudaGraphAddEventRecordNode", ApiScope::kDevice, [&] {
    return core::add_event_record_node({node, graph, after, count}, event);
  });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return call("cudaGraphAddEventWaitNode", ApiScope::kDevice, [&] {
    return core::add_event_wait_node({node, graph, after, count}, event);
  });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return call("cudaGraphEventRecordNodeGetEvent", ApiScope::kHost, [&] {
    return core::read_event_of_node(node, static_cast<int>(NodeKind::kEventRecord), event);
  });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return call("cudaGraphEventWaitNodeGetEvent", ApiScope::kHost, [&] {
    return core::read_event_of_node(node, static_cast<int>(NodeKind::kEventWait), event);
  });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              void* edges, size_t* count) {
  return call("cudaGraphGetEdges", ApiScope::kHost,
              [&] { return core::list_edges(graph, from, to, edges, count); });
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned /*flags*/) {
  return call("cudaGraphDebugDotPrint", ApiScope::kHost,
              [&] { return core::print_graph(graph, path); });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* edges,
                                         size_t* count) {
  return call("cudaGraphNodeGetDependencies", ApiScope::kHost,
              [&] { return core::list_dependencies(node, nodes, edges, count); });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           void* edges, size_t* count) {
  return call("cudaGraphNodeGetDependentNodes", ApiScope::kHost,
              [&] { return core::list_dependent_nodes(node, nodes, edges, count); });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, MemAllocNodeParams* parameters) {
  return call("cudaGraphMemAllocNodeGetParams", ApiScope::kHost,
              [&] { return core::read_allocation_node(node, parameters); });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  return call("cudaGraphMemFreeNodeGetParams", ApiScope::kHost,
              [&] { return core::read_free_node(node, static_cast<void**>(memory)); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const KernelNodeParams* parameters) {
  return call("cudaGraphExecKernelNodeSetParams", ApiScope::kDevice,
              [&] { return core::set_kernel_of_instance(exec, node, parameters); });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                GraphExecUpdateResultInfo* info) {
  return call("cudaGraphExecUpdate", ApiScope::kDevice,
              [&] { return core::update_instance(exec, graph, info); });
}

}  // extern "C"
