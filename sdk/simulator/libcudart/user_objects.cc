// SPDX-License-Identifier: Apache-2.0
#include "libcudart/user_objects.h"

#include <climits>

#include "runtime/state.h"
#include "runtime/user_objects.h"

namespace kernkit::simulator {
namespace {

constexpr unsigned kNoDestructorSync = 1, kMove = 1;

bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

bool exists(CUuserObject_st* object) { return state().user_objects.count(object) != 0; }

}  // namespace

namespace core {

cudaError_t create_user_object(CUuserObject_st** object, void* pointer, void (*destroy)(void*),
                               unsigned count, unsigned flags) {
  if (object == nullptr || destroy == nullptr || !is_count(count)) return cudaErrorInvalidValue;
  if (flags != kNoDestructorSync) return cudaErrorInvalidValue;
  *object = new CUuserObject_st{pointer, destroy, count};
  state().user_objects.insert(*object);
  return cudaSuccess;
}

cudaError_t retain_user_object(CUuserObject_st* object, unsigned count) {
  if (!exists(object) || !is_count(count)) return cudaErrorInvalidValue;
  object->owned += count;
  return cudaSuccess;
}

cudaError_t release_user_object(CUuserObject_st* object, unsigned count) {
  if (!exists(object) || !is_count(count) || object->owned < count) return cudaErrorInvalidValue;
  object->owned -= count;
  destroy_unreferenced(object);
  return cudaSuccess;
}

cudaError_t retain_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count,
                            unsigned flags) {
  if (state().graphs.count(graph) == 0 || !exists(object)) return cudaErrorInvalidValue;
  if (!is_count(count) || (flags & ~kMove) != 0) return cudaErrorInvalidValue;
  if (flags == kMove && object->owned < count) return cudaErrorInvalidValue;
  graph->user_objects.add(object, count);
  if (flags == kMove) object->owned -= count;
  return cudaSuccess;
}

cudaError_t release_in_graph(cudaGraph_t graph, CUuserObject_st* object, unsigned count) {
  if (state().graphs.count(graph) == 0 || !exists(object)) return cudaErrorInvalidValue;
  if (!is_count(count)) return cudaErrorInvalidValue;
  return graph->user_objects.release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaUserObjectCreate(CUuserObject_st** object, void* pointer, void (*destroy)(void*),
                                 unsigned count, unsigned flags) {
  return call("cudaUserObjectCreate", ApiScope::kHost,
              [&] { return core::create_user_object(object, pointer, destroy, count, flags); });
}
cudaError_t cudaUserObjectRetain(CUuserObject_st* object, unsigned count) {
  return call("cudaUserObjectRetain", ApiScope::kHost,
              [&] { return core::retain_user_object(object, count); });
}
cudaError_t cudaUserObjectRelease(CUuserObject_st* object, unsigned count) {
  return call("cudaUserObjectRelease", ApiScope::kHost,
              [&] { return core::release_user_object(object, count); });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, CUuserObject_st* object, unsigned count,
                                      unsigned flags) {
  return call("cudaGraphRetainUserObject", ApiScope::kHost,
              [&] { return core::retain_in_graph(graph, object, count, flags); });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, CUuserObject_st* object, unsigned count) {
  return call("cudaGraphReleaseUserObject", ApiScope::kHost,
              [&] { return core::release_in_graph(graph, object, count); });
}

}  // extern "C"
