// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "host/functions.h"
#include "host/objects.h"
#include "host/tvm_ffi.h"

namespace kernkit::host {
namespace {

// The error that this thread raised; the variable owns one reference. The type has no destructor,
// so that destructors that run at the end of the thread or the process can still raise errors.
thread_local KernkitObject* raised = nullptr;

struct ReleaseAtThreadEnd {
  ~ReleaseAtThreadEnd() {
    if (KernkitObject* left = std::exchange(raised, nullptr)) KernkitObjectDecRef(left);
  }
};

}  // namespace

int error_create(const KernkitByteArray* kind, const KernkitByteArray* message,
                 const KernkitByteArray* backtrace, void** out) noexcept {
  static TvmFfi<decltype(error_create)> real("TVMFFIErrorCreate");
  if (auto* create = real.get()) return create(kind, message, backtrace, out);
  try {
    return give(make_object<ErrorObject>(0, std::string(kind->data, kind->size),
                                         std::string(message->data, message->size),
                                         std::string(backtrace->data, backtrace->size)),
                out);
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

// Stores an error object of this runtime in the runtime's slot, even if tvm_ffi is loaded. Passes
// other error objects to tvm_ffi if tvm_ffi is loaded.
void error_set_raised(void* error) noexcept {
  static TvmFfi<decltype(error_set_raised)> real("TVMFFIErrorSetRaised");
  auto* object = static_cast<KernkitObject*>(error);
  auto* set_raised = real.get();
  if (set_raised != nullptr && !has_own_type(object)) return set_raised(error);
  static thread_local const ReleaseAtThreadEnd at_end;
  (void)at_end;
  KernkitObjectIncRef(object);
  KernkitObject* before = std::exchange(raised, object);
  if (before != nullptr) KernkitObjectDecRef(before);
}

void error_move_from_raised(void** out) noexcept {
  static TvmFfi<decltype(error_move_from_raised)> real("TVMFFIErrorMoveFromRaised");
  *out = nullptr;
  if (auto* move = real.get()) move(out);
  if (*out == nullptr) *out = std::exchange(raised, nullptr);
}

void raise(void*, const char* kind, const char* message) noexcept {
  const KernkitByteArray texts[] = {{kind, strlen(kind)}, {message, strlen(message)}, {"", 0}};
  void* error = nullptr;
  if (error_create(&texts[0], &texts[1], &texts[2], &error) != 0) return;
  error_set_raised(error);
  KernkitObjectDecRef(static_cast<KernkitObject*>(error));
}

int fail(const char* kind, const char* message) noexcept {
  raise(nullptr, kind, message);
  return -1;
}

}  // namespace kernkit::host
