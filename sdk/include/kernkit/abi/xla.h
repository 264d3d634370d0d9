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

enum {
  kKernkitXlaMajor = 0,
  kKernkitXlaMinor = 3, /* the newest version compared with this file */
  kKernkitXlaExtensionMetadata = 1,
  kKernkitXlaStageInstantiate = 0, /* once, for each place of a program */
  kKernkitXlaStageExecute = 3,
  kKernkitXlaBuffer = 1, /* the only kind of argument and result */
  kKernkitXlaAttributeScalar = 3,
  kKernkitXlaAttributeString = 4,
  kKernkitXlaGraphs = 1 /* trait: calls may be captured into a command buffer and replayed */
};

/* Dtypes of scalars; kernkit/shapes/xla_dtype.h has the dtypes of buffers. */
enum { kKernkitXlaBool = 1, kKernkitXlaInt64 = 5, kKernkitXlaFloat64 = 12 };

/* Codes of errors, the same as in absl::Status. */
enum {
  kKernkitXlaInvalidArgument = 3,
  kKernkitXlaResourceExhausted = 8,
  kKernkitXlaOutOfRange = 11,
  kKernkitXlaUnimplemented = 12,
  kKernkitXlaInternal = 13
};

typedef struct KernkitXlaError KernkitXlaError; /* null: no error */

typedef struct KernkitXlaExtension {
  size_t struct_size;
  int32_t type;
  struct KernkitXlaExtension* next;
} KernkitXlaExtension;

typedef struct KernkitXlaVersion {
  size_t struct_size;
  KernkitXlaExtension* extension;
  int32_t major_version;
  int32_t minor_version;
} KernkitXlaVersion;

typedef struct KernkitXlaMetadata {
  size_t struct_size;
  KernkitXlaVersion version;
  uint32_t traits;
} KernkitXlaMetadata;

typedef struct KernkitXlaMetadataExtension {
  KernkitXlaExtension base;
  KernkitXlaMetadata* metadata; /* written by the handler */
} KernkitXlaMetadataExtension;

typedef struct KernkitXlaErrorArgs {
  size_t struct_size;
  KernkitXlaExtension* extension;
  const char* message; /* copied */
  int32_t code;
} KernkitXlaErrorArgs;

typedef struct KernkitXlaStreamArgs {
  size_t struct_size;
  KernkitXlaExtension* extension;
  void* context;
  void* stream; /* out: for CUDA, a cudaStream_t */
} KernkitXlaStreamArgs;

typedef struct KernkitXlaOrdinalArgs {
  size_t struct_size;
  KernkitXlaExtension* extension;
  void* context;
  int32_t ordinal; /* out: index of the device in this process */
} KernkitXlaOrdinalArgs;

typedef struct KernkitXlaApi {
  size_t struct_size;
  KernkitXlaExtension* extension;
  KernkitXlaVersion version;
  const void* internal;
  KernkitXlaError* (*error_create)(KernkitXlaErrorArgs* args);
  const void* others[3];
  KernkitXlaError* (*stream_get)(KernkitXlaStreamArgs* args); /* the last member of 0.1 */
  const void* more[12];
  KernkitXlaError* (*ordinal_get)(KernkitXlaOrdinalArgs* args);
} KernkitXlaApi;

typedef struct KernkitXlaArray {
  size_t struct_size;
  KernkitXlaExtension* extension;
  int32_t dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
} KernkitXlaArray;

typedef struct KernkitXlaText {
  const char* data; /* without a terminating NUL */
  size_t size;
} KernkitXlaText;

typedef struct KernkitXlaScalar {
  int32_t dtype;
  void* value;
} KernkitXlaScalar;

/* Arguments, or results; each is a KernkitXlaArray. */
typedef struct KernkitXlaBuffers {
  size_t struct_size;
  KernkitXlaExtension* extension;
  int64_t size;
  int32_t* types;
  void** buffers;
} KernkitXlaBuffers;

/* Attributes, sorted by name. */
typedef struct KernkitXlaAttributes {
  size_t struct_size;
  KernkitXlaExtension* extension;
  int64_t size;
  int32_t* types;
  KernkitXlaText** names;
  void** values; /* KernkitXlaScalar*, KernkitXlaText* */
} KernkitXlaAttributes;

typedef struct KernkitXlaCallFrame {
  size_t struct_size;
  KernkitXlaExtension* extension;
  const KernkitXlaApi* api;
  void* context;
  int32_t stage;
  KernkitXlaBuffers args;
  KernkitXlaBuffers rets;
  KernkitXlaAttributes attributes;
} KernkitXlaCallFrame;

/* The type of handlers registered with XLA. */
typedef KernkitXlaError* KernkitXlaHandler(KernkitXlaCallFrame* frame);

#ifdef __cplusplus
} /* extern "C" */
#endif
