/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the layouts of XLA's FFI, C API 0.1 to 0.3, that handlers read; valid C99.
 *
 * Source: xla/ffi/api/c_api.h, which is part of jaxlib; tests/interop/frameworks/xla_layout.cc
 * compares every size, offset and number with that header. XLA calls a handler with a call frame:
 * once for its metadata, then to run the op. XLA's structs may be longer: struct_size is the size
 * in XLA's version.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Versions and numbers of XLA's FFI. */
enum {
  kKernkitXlaMajor = 0, /**< XLA_FFI_API_MAJOR */
  kKernkitXlaMinor = 3, /**< XLA_FFI_API_MINOR: the newest version compared with this file */
  kKernkitXlaExtensionMetadata = 1, /**< type of an extension: a query of the handler's metadata */
  kKernkitXlaStageInstantiate = 0,  /**< stage: once, for each call site of a program */
  kKernkitXlaStageExecute = 3,      /**< stage: run the op */
  kKernkitXlaBuffer = 1,            /**< the only kind of argument and result */
  kKernkitXlaAttributeScalar = 3,   /**< kind of an attribute: a KernkitXlaScalar */
  kKernkitXlaAttributeString = 4,   /**< kind of an attribute: a KernkitXlaText */
  kKernkitXlaGraphs = 1 /**< trait: calls may be captured into a command buffer and replayed */
};

/** Dtypes of scalars (XLA_FFI_DataType); kernkit/shapes/xla_dtype.h has the dtypes of buffers. */
enum {
  kKernkitXlaBool = 1,    /**< one byte, 0 or 1 */
  kKernkitXlaInt64 = 5,   /**< int64_t */
  kKernkitXlaFloat64 = 12 /**< double */
};

/** Codes of errors, the same as in absl::Status. */
enum {
  kKernkitXlaInvalidArgument = 3,   /**< reports TypeError and ValueError */
  kKernkitXlaResourceExhausted = 8, /**< reports MemoryError */
  kKernkitXlaOutOfRange = 11,       /**< reports IndexError */
  kKernkitXlaUnimplemented = 12,    /**< reports NotImplementedError */
  kKernkitXlaInternal = 13          /**< reports all other kinds of errors */
};

/** An error that XLA owns once a handler has returned the pointer; null means success. */
typedef struct KernkitXlaError KernkitXlaError;

/** Header of an extension; the extensions of a struct form a linked list. */
typedef struct KernkitXlaExtension {
  size_t struct_size; /**< size of the struct in XLA's version [bytes] */
  int32_t type;       /**< kind of the extension, such as kKernkitXlaExtensionMetadata */
  struct KernkitXlaExtension* next; /**< the next extension, or null */
} KernkitXlaExtension;

/** A version of XLA's FFI. */
typedef struct KernkitXlaVersion {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  int32_t major_version;          /**< changes with an incompatible interface */
  int32_t minor_version;          /**< changes with an addition to the interface */
} KernkitXlaVersion;

/** The properties of a handler. */
typedef struct KernkitXlaMetadata {
  size_t struct_size;        /**< size of the struct in XLA's version [bytes] */
  KernkitXlaVersion version; /**< out: the version that the handler uses */
  uint32_t traits;           /**< out: 0 or kKernkitXlaGraphs */
} KernkitXlaMetadata;

/** Extension of a call frame by which XLA queries a handler's properties. */
typedef struct KernkitXlaMetadataExtension {
  KernkitXlaExtension base;     /**< type kKernkitXlaExtensionMetadata */
  KernkitXlaMetadata* metadata; /**< written by the handler */
} KernkitXlaMetadataExtension;

/** Arguments of error_create(). */
typedef struct KernkitXlaErrorArgs {
  size_t struct_size;             /**< size of the struct in the caller's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  const char* message;            /**< text with a terminating NUL; copied */
  int32_t code;                   /**< code of the error, such as kKernkitXlaInvalidArgument */
} KernkitXlaErrorArgs;

/** Arguments of stream_get(). */
typedef struct KernkitXlaStreamArgs {
  size_t struct_size;             /**< size of the struct in the caller's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  void* context;                  /**< context of the call frame */
  void* stream;                   /**< out: for CUDA, a cudaStream_t */
} KernkitXlaStreamArgs;

/** Arguments of ordinal_get(). */
typedef struct KernkitXlaOrdinalArgs {
  size_t struct_size;             /**< size of the struct in the caller's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  void* context;                  /**< context of the call frame */
  int32_t ordinal;                /**< out: index of the device in this process */
} KernkitXlaOrdinalArgs;

/** XLA's functions for handlers. The functions return null, or an error. */
typedef struct KernkitXlaApi {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  KernkitXlaVersion version;      /**< FFI version of the running XLA */
  const void* internal;           /**< unused here */
  /** Returns a new error, for a handler to return. */
  KernkitXlaError* (*error_create)(KernkitXlaErrorArgs* args);
  const void* others[3]; /**< functions that kernkit does not call */
  /** Sets args->stream to the stream of the call. kernkit uses no later member of version 0.1. */
  KernkitXlaError* (*stream_get)(KernkitXlaStreamArgs* args);
  const void* more[12]; /**< functions that kernkit does not call */
  /** Sets args->ordinal to the device of the call. Absent if struct_size ends before the member. */
  KernkitXlaError* (*ordinal_get)(KernkitXlaOrdinalArgs* args);
} KernkitXlaApi;

/** A buffer, contiguous in row-major order (XLA_FFI_Buffer). */
typedef struct KernkitXlaArray {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  int32_t dtype; /**< XLA_FFI_DataType, which kernkit::shapes::dtype_of_xla() converts */
  void* data;    /**< the first element, in the memory of the call's device */
  int64_t rank;  /**< number of dimensions */
  int64_t* dims; /**< `rank` sizes */
} KernkitXlaArray;

/** Text of a name or of an attribute (XLA_FFI_ByteSpan). */
typedef struct KernkitXlaText {
  const char* data; /**< the first byte, without a terminating NUL */
  size_t size;      /**< number of bytes */
} KernkitXlaText;

/** Value of a scalar attribute. */
typedef struct KernkitXlaScalar {
  int32_t dtype; /**< XLA_FFI_DataType, such as kKernkitXlaInt64 */
  void* value;   /**< address of the value */
} KernkitXlaScalar;

/** Arguments, or results, of a call. */
typedef struct KernkitXlaBuffers {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  int64_t size;                   /**< number of buffers */
  int32_t* types;                 /**< `size` kinds, kKernkitXlaBuffer */
  void** buffers;                 /**< `size` addresses of a KernkitXlaArray */
} KernkitXlaBuffers;

/** Attributes of a call, sorted by name. */
typedef struct KernkitXlaAttributes {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension, or null */
  int64_t size;                   /**< number of attributes */
  int32_t* types;                 /**< `size` kinds, such as kKernkitXlaAttributeScalar */
  KernkitXlaText** names;         /**< `size` names */
  void** values;                  /**< `size` addresses of a KernkitXlaScalar or a KernkitXlaText */
} KernkitXlaAttributes;

/** What XLA passes to a handler. */
typedef struct KernkitXlaCallFrame {
  size_t struct_size;             /**< size of the struct in XLA's version [bytes] */
  KernkitXlaExtension* extension; /**< first extension; a metadata query has one */
  const KernkitXlaApi* api;       /**< functions of XLA that a handler may call */
  void* context;                  /**< the call, for stream_get() and ordinal_get() */
  int32_t stage; /**< kKernkitXlaStageInstantiate, kKernkitXlaStageExecute, or another stage */
  KernkitXlaBuffers args;          /**< operands */
  KernkitXlaBuffers rets;          /**< results, in memory that XLA has allocated */
  KernkitXlaAttributes attributes; /**< parameters that are no tensors */
} KernkitXlaCallFrame;

/** The type of handlers registered with XLA. Returns null, or an error that XLA then owns. */
typedef KernkitXlaError* KernkitXlaHandler(KernkitXlaCallFrame* frame);

#ifdef __cplusplus
} /* extern "C" */
#endif
