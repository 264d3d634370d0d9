// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture.h"

#include <algorithm>

#include "platform/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

template <class Conflicts>
std::vector<Capture*> captures_that(const Conflicts& conflict) {
  std::vector<Capture*> conflicting;
  for (const CUstream_st* stream : state().streams) {
    Capture* capture = stream->point.capture.get();
    if (capture != nullptr && conflict(*stream, *capture)) conflicting.push_back(capture);
  }
  return conflicting;
}

bool invalidate(const std::vector<Capture*>& captures) {
  for (Capture* capture : captures) capture->invalidated = true;
  return !captures.empty();
}

// Returns the captures of blocking streams, see CUDA Runtime API, "Stream synchronization
// behavior".
std::vector<Capture*> captures_of_blocking_streams(int device) {
  return captures_that([&](const CUstream_st& stream, const Capture&) {
    return stream.device == device && !stream.non_blocking;
  });
}

void unite(std::vector<size_t>* nodes, const std::vector<size_t>& others) {
  nodes->insert(nodes->end(), others.begin(), others.end());
  std::sort(nodes->begin(), nodes->end());
  nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
}

void append(const std::vector<GraphNode>& nodes, const std::vector<size_t>& roots_after,
            std::vector<GraphNode>* flat) {
  std::vector<size_t> index_of;  // index in `flat` of each element of `nodes`
  for (const GraphNode& node : nodes) {
    std::vector<size_t> after = node.after.empty() ? roots_after : std::vector<size_t>();
    for (const size_t before : node.after) after.push_back(index_of[before]);
    if (!node.graph.empty()) {
      const size_t first = flat->size();
      append(node.graph, after, flat);
      for (size_t i = first; i < flat->size(); ++i) after.push_back(i);
    }
    index_of.push_back(flat->size());
    flat->push_back({node.work,
                     std::move(after),
                     node.kind,
                     {},
                     node.handle,
                     node.allocates,
                     node.frees,
                     node.event});
  }
}

// Returns the indices of the nodes in an order that respects their dependencies; the seed selects
// the order.
std::vector<size_t> some_order(const std::vector<GraphNode>& nodes) {
  std::vector<size_t> missing(nodes.size()), ready, order;
  std::vector<std::vector<size_t>> dependents(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].after.size();
    for (const size_t before : nodes[i].after) dependents[before].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const auto next = ready.begin() + static_cast<ptrdiff_t>(state().random() % ready.size());
    const size_t node = *next;
    ready.erase(next);
    order.push_back(node);
    for (const size_t i : dependents[node]) {
      if (--missing[i] == 0) ready.push_back(i);
    }
  }
  return order;
}

}  // namespace

CapturePoint* captured(cudaStream_t stream) {
  if (is_default_stream(stream) || stream->point.capture == nullptr) return nullptr;
  return &stream->point;
}

void add_node(CapturePoint* point, GraphNode node) {
  std::vector<GraphNode>& nodes = point->capture->nodes;
  node.after = point->nodes;
  node.handle = std::make_shared<CUgraphNode_st>();
  point->nodes = {nodes.size()};
  nodes.push_back(std::move(node));
}

cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event) {
  const CapturePoint& recorded = event->point;
  CapturePoint* point = captured(stream);
  if (point != nullptr && point->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  const auto reject = [&](cudaError_t error) {
    if (point != nullptr) point->capture->invalidated = true;
    if (recorded.capture != nullptr) recorded.capture->invalidated = true;
    return error;
  };
  if (recorded.capture == nullptr) return reject(cudaErrorStreamCaptureIsolation);
  if (recorded.capture->ended || recorded.capture->invalidated) {
    return reject(cudaErrorInvalidValue);
  }
  if (is_default_stream(stream)) {
    return reject(stream == cudaStreamPerThread ? cudaErrorStreamCaptureUnsupported
                                                : cudaErrorStreamCaptureImplicit);
  }
  if (point == nullptr) {
    stream->point = recorded;
    return cudaSuccess;
  }
  if (point->capture != recorded.capture) return reject(cudaErrorStreamCaptureMerge);
  unite(&point->nodes, recorded.nodes);
  return cudaSuccess;
}

void end_capture(Capture* capture) {
  capture->ended = true;
  const auto owner = capture->origin->point.capture;  // keeps the capture alive in this function
  for (CUstream_st* stream : state().streams) {
    if (stream->point.capture.get() == capture) stream->point = {};
  }
}

bool is_joined(const Capture& capture) {
  const std::vector<GraphNode>& nodes = capture.nodes;
  std::vector<bool> before(nodes.size());
  for (const size_t node : capture.origin->point.nodes) before[node] = true;
  for (size_t i = nodes.size(); i-- > 0;) {  // a node's dependencies have lower indices
    if (!before[i]) return false;
    for (const size_t node : nodes[i].after) before[node] = true;
  }
  return true;
}

bool reject_unsafe_call() {
  const cudaStreamCaptureMode of_thread = thread_state().capture_mode;
  if (of_thread == cudaStreamCaptureModeRelaxed) return false;
  return invalidate(captures_that([&](const CUstream_st&, const Capture& capture) {
    if (capture.thread == thread_number()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return of_thread == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
  }));
}

bool reject_legacy_stream(int device) { return invalidate(captures_of_blocking_streams(device)); }

bool legacy_stream_is_unusable(int device) { return !captures_of_blocking_streams(device).empty(); }

bool reject_device(int device) {
  return invalidate(captures_that(
      [&](const CUstream_st& stream, const Capture&) { return stream.device == device; }));
}

std::vector<GraphNode> flattened(const std::vector<GraphNode>& nodes) {
  std::vector<GraphNode> flat;
  append(nodes, {}, &flat);
  return flat;
}

void launch(const std::vector<GraphNode>& nodes, int device, cudaStream_t stream) {
  // Elements whose addresses are passed to race_release() and race_acquire(): an element for each
  // node, and the last element for the work before the graph.
  const auto ended = std::make_shared<std::vector<char>>(nodes.size() + 1);
  give(device, stream, {0, [ended] { race_release(&ended->back()); }, nullptr});
  for (const size_t i : some_order(nodes)) {
    const auto work = [ended, i, node = nodes[i]] {
      race_acquire(&ended->back());
      for (const size_t before : node.after) race_acquire(&(*ended)[before]);
      if (node.work) node.work();
      race_release(&(*ended)[i]);
    };
    Task task{0, work, nullptr, nodes[i].kind == NodeKind::kHost, false};
    cudaEvent_t const event = exists(nodes[i].event) ? nodes[i].event : nullptr;
    if (event != nullptr && nodes[i].kind == NodeKind::kEventRecord) {
      task.work = [work, recording = recording_of(event)] {
        work();
        recording();
      };
    } else if (event != nullptr && event->record != nullptr) {
      add_before(&queue_of(device, stream).before, event->before);
      task.ready = [record = event->record] { return record->is_reached; };
      task.work = [work, record = event->record] {
        race_acquire(record.get());
        work();
      };
    }
    give(device, stream, task);
    if (event != nullptr && nodes[i].kind == NodeKind::kEventRecord) {
      event->before = queue_of(device, stream).before;
    }
  }
  const auto join = [ended] {
    for (char& node : *ended) race_acquire(&node);
  };
  give(device, stream, {0, join, nullptr});
}

}  // namespace kernkit::simulator
