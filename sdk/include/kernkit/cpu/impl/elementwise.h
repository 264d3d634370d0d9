// SPDX-License-Identifier: Apache-2.0
// Choice of a loop and its memory hints, and the elements outside whole blocks.
#pragma once

#include "kernkit/cpu/elementwise.h"
#include "kernkit/cpu/parallel.h"

namespace kernkit::cpu::detail {

// The arguments of a loop: the arrays, or one piece of each array.
struct Work {
  Loop loop;
  const Loops* loops;
  const void* op;
  unsigned hints;
  int64_t n;
  char* out;
  const char* in[kMaxInputs];

  void drop(int64_t count) {
    n -= count;
    out += static_cast<size_t>(count) * loops->sizes[0];
    for (size_t k = 0; k < loops->inputs; ++k)
      in[k] += static_cast<size_t>(count) * loops->sizes[1 + k];
  }
  const void* const* inputs() const { return reinterpret_cast<const void* const*>(in); }
};

// Computes a loop of fewer elements than a block, in a temporary block. The rest of the block is
// filled with copies of the elements, so that the op is applied only to values of the arrays.
KERNKIT_COLD void run_part(const Work& work) {
  alignas(64) unsigned char blocks[kMaxInputs + 1][kBlock * kMaxSize];
  const void* in[kMaxInputs];
  const auto count = static_cast<size_t>(work.n);
  for (size_t k = 0; k < work.loops->inputs; ++k) {
    const size_t size = work.loops->sizes[1 + k];
    memcpy(blocks[k], work.in[k], count * size);
    for (size_t filled = count * size; filled < kBlock * size; filled *= 2) {
      const size_t rest = kBlock * size - filled;
      memcpy(blocks[k] + filled, blocks[k], filled < rest ? filled : rest);  // whole elements
    }
    in[k] = blocks[k];
  }
  work.loop(work.op, kBlock, 0, blocks[kMaxInputs], in);
  memcpy(work.out, blocks[kMaxInputs], count * work.loops->sizes[0]);
}

// Runs whole blocks. With non-temporal stores the first block begins at a cache line.
KERNKIT_COLD void run_blocks(const Work& work) {
  work.loop(work.op, work.n, work.hints, work.out, work.inputs());
  if ((work.hints & kNonTemporal) != 0) end_streaming();
}

// Runs blocks that begin at a cache line of the output: a store across two lines takes the time of
// two stores. The elements before and after these blocks are computed by additional blocks, which
// overlap them. Overlapped inputs are loaded before they are overwritten, since the output may be
// one of the inputs.
KERNKIT_COLD void run_aligned(Work work, size_t bytes, size_t per_element, bool threading) {
  if (work.n < kBlock) return run_part(work);
  const size_t size = work.loops->sizes[0];
  const size_t to_line = (64 - reinterpret_cast<uintptr_t>(work.out) % 64) % 64;
  const bool aligning = bytes >= kAligningBytes || (work.hints & kNonTemporal) != 0;
  const int64_t before = aligning && to_line % size == 0 ? static_cast<int64_t>(to_line / size) : 0;
  const int64_t in_blocks = (work.n - before) & -int64_t{kBlock},
                after = work.n - before - in_blocks;
  alignas(64) unsigned char edge[kBlock * kMaxSize], last[kBlock * kMaxSize];
  if (after != 0) {
    Work end = work;
    end.drop(work.n - kBlock);
    end.loop(end.op, kBlock, 0, last, end.inputs());
  }
  if (before != 0) {
    work.loop(work.op, kBlock, 0, edge, work.inputs());
    memcpy(work.out, edge, static_cast<size_t>(before) * size);
    work.drop(before);
  }
  work.n = in_blocks;
  if (threading && threads() > 1) {
    const auto piece = static_cast<int64_t>(piece_bytes(bytes, kPieceBytes) / per_element);
    parallel_for(in_blocks, piece & -int64_t{kBlock}, [&](int64_t begin, int64_t end) {
      Work part = work;
      part.drop(begin);
      part.n = end - begin;
      run_blocks(part);
    });
  } else {
    run_blocks(work);
  }
  const auto rest = static_cast<size_t>(after) * size;
  memcpy(work.out + static_cast<size_t>(in_blocks) * size, last + kBlock * size - rest, rest);
}

KERNKIT_COLD void run_loop(const Loops& loops, int64_t n, const void* op, void* out,
                           const void* const* in) {
  const Machine& here = machine();
  const size_t out_size = loops.sizes[0];
  size_t per_element = out_size;  // sum of the element sizes of all arrays [bytes]
  bool in_place = false;
  for (size_t k = 0; k < loops.inputs; ++k) {
    per_element += loops.sizes[1 + k];
    in_place |= in[k] == out;
  }
  const size_t bytes = per_element * static_cast<size_t>(n);  // no overflow: the arrays fit in RAM
  // In place, the loop has already loaded the output's cache lines as an input, so non-temporal
  // stores save nothing.
  const bool streaming = bytes >= here.streaming_bytes && !in_place && kMaxSize % out_size == 0 &&
                         reinterpret_cast<uintptr_t>(out) % out_size == 0;
  const unsigned prefetching = bytes >= here.prefetching_bytes ? here.prefetching : 0;
  const unsigned hints = streaming ? here.streaming : prefetching;
  const bool narrow =
      (hints & kHalfWidth) != 0 && loops.waits && here.instruction_set >= InstructionSet::kAvx512;
  const auto set = narrow ? InstructionSet::kAvx2 : here.instruction_set;
  const Loop loop = loops.by_set[static_cast<int>(set)];
  const bool threading = bytes >= here.threading_bytes;
  if ((hints & kNonTemporal) == 0 && !threading && in_whole_lines(n, out, bytes)) {
    return loop(op, n, hints, out, in);
  }

  Work work{loop, &loops, op, hints, n, static_cast<char*>(out), {}};
  for (size_t k = 0; k < loops.inputs; ++k) work.in[k] = static_cast<const char*>(in[k]);
  run_aligned(work, bytes, per_element, threading);
}

}  // namespace kernkit::cpu::detail
