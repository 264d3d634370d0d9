// SPDX-License-Identifier: Apache-2.0
#include "runtime/user_objects.h"

#include "runtime/state.h"

namespace kernkit::simulator {

void destroy_unreferenced(CUuserObject_st* object) {
  if (object->owned != 0 || object->graph_references != 0) return;
  state().user_objects.erase(object);
  object->destroy(object->pointer);
  delete object;
}

void UserObjectReferences::add(CUuserObject_st* object, unsigned long count) {
  counts_[object] += count;
  object->graph_references += count;
}

void UserObjectReferences::add(const UserObjectReferences& other) {
  for (const auto& [object, count] : other.counts_) add(object, count);
}

bool UserObjectReferences::release(CUuserObject_st* object, unsigned count) {
  const auto position = counts_.find(object);
  if (position == counts_.end() || position->second < count) return false;
  position->second -= count;
  if (position->second == 0) counts_.erase(position);
  object->graph_references -= count;
  destroy_unreferenced(object);
  return true;
}

UserObjectReferences::~UserObjectReferences() {
  for (const auto& [object, count] : counts_) {
    object->graph_references -= count;
    destroy_unreferenced(object);
  }
}

}  // namespace kernkit::simulator
