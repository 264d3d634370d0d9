/* SPDX-License-Identifier: Apache-2.0 */
/* Reference counting of the host's objects; valid C99. */
#pragma once

#include "kernkit/abi/abi.h"

/* The low 32 bits hold the strong count, the high 32 bits the weak count. All strong references
 * together hold one weak reference, as in tvm-ffi's C++. */

/** Adds an owner to an object, which must not be null and must have an owner during the call. Safe
 * from any thread (relaxed increment). */
static inline void KernkitObjectIncRef(KernkitObject* object) {
  __atomic_fetch_add(&object->ref_counts, (uint64_t)1, __ATOMIC_RELAXED);
}

/** Removes an owner of an object, which must not be null; the last owner destroys the object by its
 * deleter, in this thread. Safe from any thread: writes of other owners happen before the
 * destruction. */
static inline void KernkitObjectDecRef(KernkitObject* object) {
  enum { kDestroy = 1, kFree = 2 };
  const uint64_t weak = (uint64_t)1 << 32;
  const uint64_t before = __atomic_fetch_sub(&object->ref_counts, (uint64_t)1, __ATOMIC_RELEASE);
  if ((before & (weak - 1)) != 1) return;
  /* Not a fence: ThreadSanitizer ignores fences, and would report earlier accesses as races. */
  (void)__atomic_load_n(&object->ref_counts, __ATOMIC_ACQUIRE);
  if (before == (weak | 1)) {
    object->deleter(object, kDestroy | kFree);
    return;
  }
  object->deleter(object, kDestroy);
  if (__atomic_fetch_sub(&object->ref_counts, weak, __ATOMIC_RELEASE) == weak) {
    (void)__atomic_load_n(&object->ref_counts, __ATOMIC_ACQUIRE);
    object->deleter(object, kFree);
  }
}
