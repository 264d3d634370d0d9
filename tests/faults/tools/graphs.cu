// SPDX-License-Identifier: Apache-2.0
// Faults of programs on graphs. The graph is a circle of 64 nodes, each with edges to its two
// neighbours. The edges of node v are the elements from rows[v] to before rows[v + 1] of `to`.
#include <vector>

#include "faults.h"

constexpr int kNodes = 64, kEdges = 2 * kNodes;

struct Graph {
  Graph() : rows(undefined(kNodes + 1)), to(undefined(kEdges)) {
    std::vector<int> of_rows, of_edges;
    for (int v = 0; v <= kNodes; ++v) of_rows.push_back(2 * v);
    for (int v = 0; v < kNodes; ++v) {
      of_edges.push_back((v + kNodes - 1) % kNodes);
      of_edges.push_back((v + 1) % kNodes);
    }
    cudaMemcpy(rows, of_rows.data(), of_rows.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(to, of_edges.data(), of_edges.size() * sizeof(int), cudaMemcpyHostToDevice);
  }
  int *rows, *to;
};

__global__ void add_neighbours(Graph g, int* y, int nodes, bool planted) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= nodes) return;
  const int end = g.rows[v + 1] + (planted ? 1 : 0);      // nodes_of_edges
  for (int i = g.rows[v]; i < end; ++i) y[v] += g.to[i];  // edge_past_the_row
}
FAULT(edge_past_the_row, "a loop over a node's edges with `<=`, at the last node", "memcheck") {
  add_neighbours<<<2, 32>>>(Graph(), zeros(kNodes), kNodes, planted);
}
FAULT(nodes_of_edges, "a loop over nodes that ends at the number of edges", "memcheck") {
  add_neighbours<<<4, 32>>>(Graph(), zeros(kEdges), planted ? kEdges : kNodes, false);
}

__global__ void start_list(int* list, int* size) {
  list[threadIdx.x] = static_cast<int>(threadIdx.x);
  *size = 32;
}
__global__ void visit(const int* list, const int* size, int* visited, bool planted) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < *size || (planted && i == *size)) visited[list[i] & (kNodes - 1)] = 1;  // past_the_list
}
FAULT(past_the_list, "`<=` reads a slot of a worklist that no thread has filled", "initcheck") {
  int *list = undefined(kNodes), *size = undefined(1);
  start_list<<<1, 32>>>(list, size);
  visit<<<2, 32>>>(list, size, zeros(kNodes), planted);
}

__global__ void enlist(int* list, int* size, int* rounds) {
  const int v = static_cast<int>(threadIdx.x) % 16;
  if (atomicMax(&rounds[v], 1) < 1) list[atomicAdd(size, 1)] = v;  // rounds_undefined
}
FAULT(rounds_undefined, "an atomic maximum on uninitialised memory", "initcheck") {
  enlist<<<1, 32>>>(zeros(32), zeros(1), planted ? undefined(16) : zeros(16));
}

__global__ void relax(Graph g, int* distance, bool planted) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int own = distance[v];
  for (int i = g.rows[v]; i < g.rows[v + 1]; ++i) {
    if (planted) {
      if (distance[g.to[i]] > own + 1) distance[g.to[i]] = own + 1;  // relaxed_in_place
    } else {
      atomicMin(&distance[kNodes + g.to[i]], own + 1);
    }
  }
}
FAULT(relaxed_in_place, "distances are lowered without an atomic", "racecheck") {
  int* distance = zeros(2 * kNodes);
  cudaMemset(distance + 1, 1, (kNodes - 1) * sizeof(int));
  relax<<<2, 32>>>(Graph(), distance, planted);
}

__global__ void step(const int* distance, int* next, int unreached, bool planted) {
  const int own = distance[threadIdx.x];
  if (planted || own != unreached) next[threadIdx.x] = own + 1;
}
FAULT(unreached_plus_one, "one is added to the largest integer: no tool checks overflows", "none") {
  int* distance = undefined(32);
  const std::vector<int> unreached(32, 0x7fffffff);
  cudaMemcpy(distance, unreached.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
  step<<<1, 32>>>(distance, zeros(32), 0x7fffffff, planted);
}

constexpr int kThreadsOfNode = 1024;
__global__ void mark(int* y) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread % kThreadsOfNode == 0) y[thread / kThreadsOfNode] = 1;
}
// The planted fault truncates the number of threads to 16 bits.
FAULT(too_few_blocks, "the size of a grid overflows: no tool checks which elements are written",
      "none") {
  const unsigned threads = (kNodes + 1) * kThreadsOfNode;
  mark<<<(planted ? static_cast<unsigned short>(threads) : threads) / 32, 32>>>(zeros(kNodes + 1));
}
