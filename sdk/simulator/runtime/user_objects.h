// SPDX-License-Identifier: Apache-2.0
// User objects: objects of the program that are destroyed when the program, graphs and launches
// have released all references.
#pragma once

#include <map>

/// The object that a cudaUserObject_t or a CUuserObject points to.
struct CUuserObject_st {
  void* pointer;                       // argument of `destroy`
  void (*destroy)(void*);              // called after the last reference was released
  unsigned long owned = 0;             // number of references of the program
  unsigned long graph_references = 0;  // number of references of graphs and of their launches
};

namespace kernkit::simulator {

/// References of a graph, of an executable graph or of a launch to user objects. A copy of this
/// list adds the same number of references.
class UserObjectReferences {
 public:
  UserObjectReferences() = default;
  UserObjectReferences(const UserObjectReferences& other) { add(other); }
  UserObjectReferences(UserObjectReferences&& other) noexcept { counts_.swap(other.counts_); }
  UserObjectReferences& operator=(UserObjectReferences other) noexcept {
    counts_.swap(other.counts_);
    return *this;
  }
  ~UserObjectReferences();

  void add(CUuserObject_st* object, unsigned long count);
  void add(const UserObjectReferences& other);
  /// Releases `count` references to an object. Returns false and releases nothing if there are
  /// fewer references.
  bool release(CUuserObject_st* object, unsigned count);

 private:
  std::map<CUuserObject_st*, unsigned long> counts_;
};

/// If an object has no references, calls its function `destroy` and deletes the object.
void destroy_unreferenced(CUuserObject_st* object);

}  // namespace kernkit::simulator
