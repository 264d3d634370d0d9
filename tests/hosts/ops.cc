// SPDX-License-Identifier: Apache-2.0
// Ops that need a host, written for kernkit. peer.cc has the same ops for tvm-ffi's own headers.
#include <stdlib.h>

#include <string>
#include <tuple>

#include "kernkit/env.h"
#include "kernkit/export.h"
#include "kernkit/function.h"

namespace {

using kernkit::Any;
using kernkit::Function;
using kernkit::Tensor;
using kernkit::TensorView;

double sum(TensorView x) {
  double total = 0;
  for (int64_t i = 0; i < x.numel(); ++i) total += static_cast<double>(x.data<float>()[i]);
  return total;
}

void reject(int64_t how) {
  switch (how) {
    case 0: KERNKIT_THROW(TypeError) << "a TypeError";
    case 1: KERNKIT_THROW(ValueError) << "a ValueError";
    default: KERNKIT_THROW(RuntimeError) << "a RuntimeError";
  }
}

Tensor same(Tensor x) { return x; }
std::tuple<int64_t, Tensor> pair(Tensor x) { return {7, x}; }
std::string words() { return "a text longer than seven"; }
Any apply(const Function& f, double x) { return f(x); }
int64_t stream_of(DLDevice device) {
  return reinterpret_cast<int64_t>(kernkit::current_stream(device));
}

int64_t deleted = 0;
int64_t count_deleted() { return deleted; }

// Returns a tensor in memory of this library; the tensor's deleter is code of this library.
Tensor own_memory(int64_t n) {
  struct Block {
    DLManagedTensorVersioned managed;
    int64_t shape, stride;
  };
  auto* block = static_cast<Block*>(calloc(1, sizeof(Block)));
  block->shape = n;
  block->stride = 1;
  block->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  auto* data = static_cast<float*>(calloc(static_cast<size_t>(n), sizeof(float)));
  for (int64_t i = 0; i < n; ++i) data[i] = 1;
  block->managed.dl_tensor = {data,          {kDLCPU, 0},    1, kernkit::dl_float32,
                              &block->shape, &block->stride, 0};
  block->managed.deleter = [](DLManagedTensorVersioned* self) {
    ++deleted;
    free(self->dl_tensor.data);
    free(self);
  };
  return Tensor::FromDLPackVersioned(&block->managed);
}

// Returns a tensor in memory that the caller's framework allocates.
Tensor allocate(int64_t n) { return kernkit::alloc_tensor({n}, kernkit::dl_float32, {kDLCPU, 0}); }

}  // namespace

KERNKIT_EXPORT(sum, "(Tensor x) -> float", "The sum of x.", sum)
KERNKIT_EXPORT(reject, "(int how=0) -> ()", "Raises an error whose kind `how` selects.", reject)
KERNKIT_EXPORT(same, "(Tensor x) -> Tensor", "Returns x.", same)
KERNKIT_EXPORT(pair, "(Tensor x) -> (int, Tensor)", "Returns 7 and x.", pair)
KERNKIT_EXPORT(words, "() -> str", "Returns a text.", words)
KERNKIT_EXPORT(apply, "(Callable f, float x) -> Any", "Returns f(x).", apply)
KERNKIT_EXPORT(stream_of, "(Device device) -> int", "Returns the address of the current stream.",
               stream_of)
KERNKIT_EXPORT(own_memory, "(int n) -> Tensor", "Returns n ones in memory of this library.",
               own_memory)
KERNKIT_EXPORT(count_deleted, "() -> int", "Returns the number of deleted tensors of own_memory.",
               count_deleted)
KERNKIT_EXPORT(allocate, "(int n) -> Tensor",
               "Returns n floats in memory of the caller's framework.", allocate)
