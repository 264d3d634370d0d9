/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions between KernkitAny and tensors, for callers in C; valid C99. Each function returns 0,
 * or -1 with *out unchanged if the value has another type or a pointer is null.
 *
 * An owned tensor converts to a view. A view does not convert to an owned tensor, because nothing
 * would keep its memory alive: there is no conversion from a DLTensor to an owning KernkitAny.
 * Create a tensor through DLPack instead.
 */
#pragma once

#include "kernkit/abi/object.h"

/** Sets *out to the DLTensor of a Tensor object or to a bare DLTensor, borrowed: valid as long as
 * the tensor of the argument. Reads no member of the DLTensor. Returns 0, or -1 with *out unchanged
 * for another type or a null pointer. */
static inline int KernkitAnyToDLTensorView(const KernkitAny* any, DLTensor** out) {
  if (any == NULL || out == NULL || any->v.ptr == NULL) return -1;
  if (any->type_index == kKernkitTensor) {
    *out = (DLTensor*)(void*)(any->v.object + 1);
    return 0;
  }
  if (any->type_index == kKernkitDLTensorPtr) {
    *out = (DLTensor*)any->v.ptr;
    return 0;
  }
  return -1;
}

/** Sets *out to the Tensor object of an argument, with a new reference, which KernkitObjectDecRef()
 * releases. Returns 0, or -1 with *out unchanged for another type (a bare DLTensor included) or a
 * null pointer. */
static inline int KernkitAnyToOwnedTensor(const KernkitAny* any, KernkitObject** out) {
  if (any == NULL || out == NULL) return -1;
  if (any->type_index != kKernkitTensor || any->v.object == NULL) return -1;
  KernkitObjectIncRef(any->v.object);
  *out = any->v.object;
  return 0;
}

/** Sets *out to a Tensor object as an argument, borrowed: valid until the call returns. Returns 0,
 * or -1 with *out unchanged for an object of another type or a null pointer. */
static inline int KernkitTensorToAnyView(KernkitObject* tensor, KernkitAny* out) {
  if (tensor == NULL || out == NULL || tensor->type_index != kKernkitTensor) return -1;
  out->type_index = kKernkitTensor;
  out->small_size = 0;
  out->v.object = tensor;
  return 0;
}

/** Sets *out to a Tensor object as a result, with a new reference, which the receiver of the result
 * releases. Returns 0, or -1 with *out unchanged for another type or a null pointer. */
static inline int KernkitTensorToAny(KernkitObject* tensor, KernkitAny* out) {
  if (KernkitTensorToAnyView(tensor, out) != 0) return -1;
  KernkitObjectIncRef(tensor);
  return 0;
}

/** Sets *out to a bare DLTensor as an argument, borrowed: valid until the call returns. Returns 0,
 * or -1 with *out unchanged for a null pointer. */
static inline int KernkitDLTensorToAnyView(DLTensor* tensor, KernkitAny* out) {
  if (tensor == NULL || out == NULL) return -1;
  out->type_index = kKernkitDLTensorPtr;
  out->small_size = 0;
  out->v.ptr = tensor;
  return 0;
}
