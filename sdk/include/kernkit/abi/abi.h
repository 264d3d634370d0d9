/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts of the TVM-FFI stable C ABI (release 0.1) and nothing else; valid C99.
 *
 * This is the only file with these layouts. kernkit reads and passes the structs but never
 * constructs an object: the host's C functions create objects (see host_api.h).
 * tests/sdk/abi/abi_test.cc compares every size, offset and type index with the host's headers.
 */
#pragma once

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(DLPACK_MAJOR_VERSION) || DLPACK_MAJOR_VERSION < 1
#error "kernkit needs dlpack.h 1.0 or newer; the one found is older (Debian's libdlpack-dev is 0.6)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Type of a KernkitAny's value. Indices below 64 are values; from 64 on the value is a pointer to
 * an object. Releases add indices: report a TypeError for an unknown index. */
enum {
  kKernkitNone = 0,
  kKernkitInt = 1,
  kKernkitBool = 2,
  kKernkitFloat = 3,
  kKernkitOpaquePtr = 4,
  kKernkitDataType = 5,
  kKernkitDevice = 6,
  kKernkitDLTensorPtr = 7,
  kKernkitRawStr = 8,
  kKernkitByteArrayPtr = 9,
  kKernkitObjectRValueRef = 10,
  kKernkitSmallStr = 11,
  kKernkitSmallBytes = 12,
  kKernkitObject = 64,
  kKernkitStr = 65,
  kKernkitBytes = 66,
  kKernkitError = 67,
  kKernkitFunction = 68,
  kKernkitShape = 69,
  kKernkitTensor = 70,
  kKernkitArray = 71,
  kKernkitMap = 72,
  kKernkitModule = 73,
  kKernkitOpaquePyObject = 74,
  kKernkitList = 75,
  kKernkitDict = 76,
  kKernkitBigInt = 78
};

/* Header of every object: strong count in the low 32 bits, weak count in the high 32. The
 * object's data (its cell) follows the header. */
typedef struct KernkitObject {
  uint64_t ref_counts;
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void* self, int flags);
} KernkitObject;

/* An argument or a result. */
typedef struct KernkitAny {
  int32_t type_index;
  uint32_t small_size; /* bytes of a small string or small bytes, at most 7; otherwise 0 */
  union {
    int64_t i64;
    double f64;
    void* ptr;
    const char* c_str;
    KernkitObject* object;
    DLDataType dtype;
    DLDevice device;
    char small[8];
  } v;
} KernkitAny;

/* Cell of Str and Bytes. Text is also passed to the host in this form. */
typedef struct KernkitByteArray {
  const char* data;
  size_t size;
} KernkitByteArray;

/* Cell of Shape. */
typedef struct KernkitShapeCell {
  const int64_t* data;
  size_t size;
} KernkitShapeCell;

/* Cell of Array and List; data points to KernkitAny elements. */
typedef struct KernkitSeqCell {
  void* data;
  int64_t size;
  int64_t capacity;
  void (*data_deleter)(void* data);
} KernkitSeqCell;

/* Cell of Error. */
typedef struct KernkitErrorCell {
  KernkitByteArray kind;
  KernkitByteArray message;
  KernkitByteArray backtrace;
  void (*update_backtrace)(void* self, const KernkitByteArray* backtrace, int32_t mode);
  KernkitObject* cause;
  KernkitObject* extra;
} KernkitErrorCell;

/* The type of every exported function. Returns 0 on success, -1 with an error in the host's slot.
 */
typedef int (*KernkitFunction)(void* self, const KernkitAny* args, int32_t num_args,
                               KernkitAny* result);

/* Cell of Function. `call` takes the object as its self. */
typedef struct KernkitFunctionCell {
  KernkitFunction call;
  void* cpp_call; /* null for other than C++ functions; not to be called across libraries */
} KernkitFunctionCell;

#ifdef __cplusplus
} /* extern "C" */
#endif
