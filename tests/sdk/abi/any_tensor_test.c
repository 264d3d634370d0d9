/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions for callers in C, compiled as C99. */
#include "kernkit/abi/any_tensor.h"

#include <stdio.h>

static int failures = 0;
#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      ++failures;                                                    \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

typedef struct {
  KernkitObject object;
  DLTensor tensor;
} TensorObject;

static int destroyed = 0, freed = 0;
static void delete_tensor(void* self, int flags) {
  CHECK(self != NULL);
  destroyed += flags & 1;
  freed += (flags >> 1) & 1;
}

static void init(TensorObject* tensor, uint64_t strong, uint64_t weak) {
  tensor->object.ref_counts = weak << 32 | strong;
  tensor->object.type_index = kKernkitTensor;
  tensor->object.deleter = delete_tensor;
}

static void views(void) {
  TensorObject tensor;
  KernkitAny any;
  DLTensor* view = NULL;
  init(&tensor, 1, 1);
  CHECK(KernkitTensorToAnyView(&tensor.object, &any) == 0);
  CHECK(any.type_index == kKernkitTensor && any.small_size == 0 && any.v.object == &tensor.object);
  CHECK(KernkitAnyToDLTensorView(&any, &view) == 0 && view == &tensor.tensor);
  CHECK(KernkitDLTensorToAnyView(&tensor.tensor, &any) == 0);
  CHECK(any.type_index == kKernkitDLTensorPtr && any.small_size == 0);
  view = NULL;
  CHECK(KernkitAnyToDLTensorView(&any, &view) == 0 && view == &tensor.tensor);
  CHECK(tensor.object.ref_counts == ((uint64_t)1 << 32 | 1));
}

static void owners(void) {
  TensorObject tensor;
  KernkitObject* owner = NULL;
  KernkitAny any, result;
  init(&tensor, 1, 1);
  CHECK(KernkitTensorToAnyView(&tensor.object, &any) == 0);
  CHECK(KernkitAnyToOwnedTensor(&any, &owner) == 0 && owner == &tensor.object);
  CHECK(KernkitTensorToAny(&tensor.object, &result) == 0);
  CHECK(tensor.object.ref_counts == ((uint64_t)1 << 32 | 3));
  KernkitObjectDecRef(result.v.object);
  KernkitObjectDecRef(owner);
  CHECK(destroyed == 0 && freed == 0);
  KernkitObjectDecRef(&tensor.object);
  CHECK(destroyed == 1 && freed == 1);
  /* A weak reference keeps the memory, not the tensor. */
  init(&tensor, 1, 2);
  KernkitObjectDecRef(&tensor.object);
  CHECK(destroyed == 2 && freed == 1);
}

static void rejections(void) {
  TensorObject tensor;
  KernkitAny any = {kKernkitInt, 0, {3}}, out = {kKernkitBool, 0, {1}};
  DLTensor* view = &tensor.tensor;
  KernkitObject* owner = &tensor.object;
  init(&tensor, 1, 1);
  CHECK(KernkitAnyToDLTensorView(&any, &view) == -1 && view == &tensor.tensor);
  CHECK(KernkitAnyToOwnedTensor(&any, &owner) == -1);
  CHECK(KernkitDLTensorToAnyView(NULL, &out) == -1 && out.type_index == kKernkitBool);
  CHECK(KernkitTensorToAny(NULL, &out) == -1 && out.type_index == kKernkitBool);
  /* A bare DLTensor never becomes an owner. */
  CHECK(KernkitDLTensorToAnyView(&tensor.tensor, &any) == 0);
  CHECK(KernkitAnyToOwnedTensor(&any, &owner) == -1 && owner == &tensor.object);
  any.v.ptr = NULL;
  CHECK(KernkitAnyToDLTensorView(&any, &view) == -1);
  /* An object of another type is rejected. */
  tensor.object.type_index = kKernkitArray;
  CHECK(KernkitTensorToAny(&tensor.object, &out) == -1 && out.type_index == kKernkitBool);
  CHECK(tensor.object.ref_counts == ((uint64_t)1 << 32 | 1));
}

int main(void) {
  views();
  owners();
  rejections();
  return failures != 0;
}
