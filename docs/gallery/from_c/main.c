/* SPDX-License-Identifier: Apache-2.0 */
/* Calls an exported op from C, with no host in the process. Usage: main LIBRARY */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "kernkit/abi/any_tensor.h"

int main(int argc, char** argv) {
  float x[3] = {1, 2, 3};
  float y[3] = {0, 0, 0};
  int64_t shape[1] = {3};
  DLTensor tensors[2];
  KernkitAny args[3];
  KernkitAny result;
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  KernkitFunction scale;
  const char* (*last_error)(void);
  int i;
  if (library == NULL) return fprintf(stderr, "cannot load the library\n"), 1;
  *(void**)&scale = dlsym(library, "__tvm_ffi_scale");
  *(void**)&last_error = dlsym(library, "kernkit_last_error");
  if (scale == NULL || last_error == NULL) return fprintf(stderr, "a symbol is missing\n"), 1;

  // [call]
  memset(tensors, 0, sizeof(tensors));
  memset(args, 0, sizeof(args));
  memset(&result, 0, sizeof(result));
  for (i = 0; i < 2; ++i) {
    tensors[i].data = i == 0 ? y : x;
    tensors[i].device.device_type = kDLCPU;
    tensors[i].ndim = 1;
    tensors[i].dtype.code = kDLFloat;
    tensors[i].dtype.bits = 32;
    tensors[i].dtype.lanes = 1;
    tensors[i].shape = shape;
    KernkitDLTensorToAnyView(&tensors[i], &args[i]);
  }
  args[2].type_index = kKernkitFloat;
  args[2].v.f64 = 2.0;
  if (scale(NULL, args, 3, &result) != 0) return fprintf(stderr, "%s\n", last_error()), 1;
  printf("%g %g %g\n", y[0], y[1], y[2]);
  // [/call]

  if (scale(NULL, args, 2, &result) != -1) return fprintf(stderr, "two arguments accepted\n"), 1;
  printf("%s\n", last_error());
  return 0;
}
