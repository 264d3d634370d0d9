// SPDX-License-Identifier: Apache-2.0
// Creates function objects of the host.
#pragma once

#include "kernkit/make_function.h"

namespace kernkit::detail {

KERNKIT_COLD Function create_function(void* self, KernkitFunction call, void (*destroy)(void*)) {
  auto* create = host_api::function_create.get();
  KERNKIT_CHECK(create != nullptr, RuntimeError)
      << "makes a function, which needs a host; found no host in this process; load a host first, "
         "such as tvm_ffi";
  void* object = nullptr;
  if (create(self, call, destroy, &object) != 0) throw_raised("making a function");
  return Function::adopt(static_cast<KernkitObject*>(object));
}

}  // namespace kernkit::detail
