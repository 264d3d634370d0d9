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

/** Type of a KernkitAny's value: the numbers of TVMFFITypeIndex in tvm-ffi's c_api.h. Indices below
 * 64 are values; from 64 on the value is a pointer to an object. Releases add indices: report a
 * TypeError for an unknown index. */
enum {
  kKernkitNone = 0,         /**< no value */
  kKernkitInt = 1,          /**< v.i64 */
  kKernkitBool = 2,         /**< v.i64, 0 or 1 */
  kKernkitFloat = 3,        /**< v.f64 */
  kKernkitOpaquePtr = 4,    /**< v.ptr, an address without a type */
  kKernkitDataType = 5,     /**< v.dtype */
  kKernkitDevice = 6,       /**< v.device */
  kKernkitDLTensorPtr = 7,  /**< v.ptr, a borrowed DLTensor*: an argument only */
  kKernkitRawStr = 8,       /**< v.c_str, borrowed text with a terminating NUL: an argument only */
  kKernkitByteArrayPtr = 9, /**< v.ptr, a borrowed KernkitByteArray*: an argument only */
  kKernkitObjectRValueRef = 10, /**< v.ptr, the KernkitObject** of a reference to take over */
  kKernkitSmallStr = 11,        /**< v.small, text of at most 7 bytes */
  kKernkitSmallBytes = 12,      /**< v.small, at most 7 bytes */
  kKernkitObject = 64,          /**< the first index of an object; v.object without a cell */
  kKernkitStr = 65,             /**< v.object with a KernkitByteArray: longer text */
  kKernkitBytes = 66,           /**< v.object with a KernkitByteArray */
  kKernkitError = 67,           /**< v.object with a KernkitErrorCell */
  kKernkitFunction = 68,        /**< v.object with a KernkitFunctionCell */
  kKernkitShape = 69,           /**< v.object with a KernkitShapeCell */
  kKernkitTensor = 70,          /**< v.object with a DLTensor: the tensor of a framework */
  kKernkitArray = 71, /**< v.object with a KernkitSeqCell that does not change: a list or a tuple */
  kKernkitMap = 72,   /**< v.object, a map that does not change; its cell is not read here */
  kKernkitModule = 73,         /**< v.object, a loaded library; its cell is not read here */
  kKernkitOpaquePyObject = 74, /**< v.object, a Python object that the host does not convert */
  kKernkitList = 75,  /**< v.object with a KernkitSeqCell that may change: a List of the host */
  kKernkitDict = 76,  /**< v.object, a map that may change; its cell is not read here */
  kKernkitBigInt = 78 /**< v.object with a count and that many 64-bit words, low word first */
};

/** Header of every object, 24 bytes. The object's data (its cell) follows the header. */
typedef struct KernkitObject {
  uint64_t ref_counts; /**< strong count in the low 32 bits, weak count in the high 32 bits */
  int32_t type_index;  /**< a type index from 64 on */
  uint32_t padding;    /**< unused */
  /** Ends the object `self`. Bit 0 of `flags` destroys the content, bit 1 frees the memory. */
  void (*deleter)(void* self, int flags);
} KernkitObject;

/** An argument or a result, 16 bytes. */
typedef struct KernkitAny {
  int32_t type_index;  /**< names the member of `v` that is in use */
  uint32_t small_size; /**< size of a small string or small bytes, at most 7 [bytes]; otherwise 0 */
  union {
    int64_t i64;           /**< Int and Bool */
    double f64;            /**< Float */
    void* ptr;             /**< OpaquePtr, DLTensorPtr, ByteArrayPtr and ObjectRValueRef */
    const char* c_str;     /**< RawStr */
    KernkitObject* object; /**< all indices from 64 on; an owned reference in a result */
    DLDataType dtype;      /**< DataType */
    DLDevice device;       /**< kind and index of a Device */
    char small[8];         /**< SmallStr and SmallBytes */
  } v;                     /**< the value, in the member that `type_index` names */
} KernkitAny;

/** Cell of Str and Bytes, 16 bytes. Text is also passed to the host in this form. */
typedef struct KernkitByteArray {
  const char* data; /**< the first byte; text needs no terminating NUL */
  size_t size;      /**< number of bytes */
} KernkitByteArray;

/** Cell of Shape, 16 bytes. */
typedef struct KernkitShapeCell {
  const int64_t* data; /**< the first size */
  size_t size;         /**< number of sizes */
} KernkitShapeCell;

/** Cell of Array and List, 32 bytes. */
typedef struct KernkitSeqCell {
  void* data;                       /**< the first of `size` KernkitAny elements */
  int64_t size;                     /**< number of elements */
  int64_t capacity;                 /**< number of elements that the memory holds */
  void (*data_deleter)(void* data); /**< frees `data`; null if `data` belongs to the object */
} KernkitSeqCell;

/** Cell of Error, 72 bytes. */
typedef struct KernkitErrorCell {
  KernkitByteArray kind;    /**< name of a Python exception, such as "ValueError" */
  KernkitByteArray message; /**< text without the kind */
  KernkitByteArray
      backtrace; /**< the stack frames as text, the most recent call first; may be empty */
  /** Replaces the backtrace of the error `self` (mode 0) or appends to it (mode 1). */
  void (*update_backtrace)(void* self, const KernkitByteArray* backtrace, int32_t mode);
  KernkitObject* cause; /**< the Error that caused this error, or null */
  KernkitObject* extra; /**< an object of the host with more context, or null */
} KernkitErrorCell;

/** The type of every exported function. `self` is null for a symbol of a library. The caller owns
 * `args`, and sets `result` to None before the call. Returns 0 with the value in `*result`, or -1
 * with an error in the host's thread-local slot. Source: TVMFFISafeCallType of tvm-ffi. */
typedef int (*KernkitFunction)(void* self, const KernkitAny* args, int32_t num_args,
                               KernkitAny* result);

/** Cell of Function, 16 bytes. */
typedef struct KernkitFunctionCell {
  KernkitFunction call; /**< the function, which takes the object as its `self` */
  void* cpp_call;       /**< null for other than C++ functions; not to be called across libraries */
} KernkitFunctionCell;

#ifdef __cplusplus
} /* extern "C" */
#endif
