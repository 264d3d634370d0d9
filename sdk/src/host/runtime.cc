// SPDX-License-Identifier: Apache-2.0
// The table of the runtime's functions.
#include "kernkit/host/runtime.h"

#include <dlfcn.h>
#include <string.h>

#include "host/environment.h"
#include "host/functions.h"

namespace kernkit::host {
namespace {

struct Entry {
  const char* name;
  void* function;
};
template <class Function>
Entry entry(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

// Prevents the unloading of the library that contains the runtime, because other libraries keep
// addresses of the runtime's functions.
void stay_mapped() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&error_create), &info) != 0) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace
}  // namespace kernkit::host

void* kernkit_host_find(const char* name) {
  using namespace kernkit::host;  // NOLINT(build/namespaces): a table of their functions
  static const Entry kEntries[] = {
      entry("TVMFFIErrorCreate", error_create),
      entry("TVMFFIErrorSetRaised", error_set_raised),
      entry("TVMFFIErrorMoveFromRaised", error_move_from_raised),
      entry("TVMFFIObjectIncRef", object_inc_ref),
      entry("TVMFFIObjectDecRef", object_dec_ref),
      entry("TVMFFIStringFromByteArray", string_from_byte_array),
      entry("TVMFFIBytesFromByteArray", bytes_from_byte_array),
      entry("TVMFFIFunctionCreate", function_create),
      entry("TVMFFIFunctionCall", function_call),
      entry("TVMFFIFunctionGetGlobal", function_get_global),
      entry("TVMFFITensorFromDLPack", tensor_from_dlpack),
      entry("TVMFFITensorFromDLPackVersioned", tensor_from_dlpack_versioned),
      entry("TVMFFITensorToDLPack", tensor_to_dlpack),
      entry("TVMFFITensorToDLPackVersioned", tensor_to_dlpack_versioned),
      entry("TVMFFIEnvGetStream", get_stream),
      entry("TVMFFIEnvSetStream", set_stream),
      entry("TVMFFIEnvGetDLPackManagedTensorAllocator", get_allocator),
      entry("TVMFFIEnvSetDLPackManagedTensorAllocator", set_allocator),
      entry("TVMFFIEnvTensorAlloc", env_tensor_alloc),
      entry("kernkit_host_adapt", adapt),
  };
  static const bool stays = (stay_mapped(), true);
  (void)stays;
  for (const Entry& entry : kEntries) {
    if (strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}
