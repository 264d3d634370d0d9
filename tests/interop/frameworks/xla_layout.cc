// SPDX-License-Identifier: Apache-2.0
// Compares the layouts of kernkit/abi/xla.h with XLA's own header. Compiled, and never run.
#include <stddef.h>

#include "kernkit/abi/xla.h"
#include "kernkit/shapes/xla_dtype.h"
#include "xla/ffi/api/c_api.h"

#define SAME_FIELD(ours, field, theirs, their_field)                     \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::field) == sizeof(theirs::their_field))
#define SAME_SIZE(ours, theirs)                  \
  static_assert(sizeof(ours) == sizeof(theirs)); \
  static_assert(alignof(ours) == alignof(theirs))

static_assert(kKernkitXlaMajor == XLA_FFI_API_MAJOR);
static_assert(kKernkitXlaMinor == XLA_FFI_API_MINOR);
static_assert(+kKernkitXlaExtensionMetadata == +XLA_FFI_Extension_Metadata);
static_assert(+kKernkitXlaStageInstantiate == +XLA_FFI_ExecutionStage_INSTANTIATE);
static_assert(+kKernkitXlaStageExecute == +XLA_FFI_ExecutionStage_EXECUTE);
static_assert(+kKernkitXlaBuffer == +XLA_FFI_ArgType_BUFFER);
static_assert(+kKernkitXlaBuffer == +XLA_FFI_RetType_BUFFER);
static_assert(+kKernkitXlaAttributeScalar == +XLA_FFI_AttrType_SCALAR);
static_assert(+kKernkitXlaAttributeString == +XLA_FFI_AttrType_STRING);
static_assert(+kKernkitXlaGraphs == +XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);
static_assert(+kKernkitXlaBool == +XLA_FFI_DataType_PRED);
static_assert(+kKernkitXlaInt64 == +XLA_FFI_DataType_S64);
static_assert(+kKernkitXlaFloat64 == +XLA_FFI_DataType_F64);
static_assert(+kKernkitXlaInvalidArgument == +XLA_FFI_Error_Code_INVALID_ARGUMENT);
static_assert(+kKernkitXlaResourceExhausted == +XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
static_assert(+kKernkitXlaOutOfRange == +XLA_FFI_Error_Code_OUT_OF_RANGE);
static_assert(+kKernkitXlaUnimplemented == +XLA_FFI_Error_Code_UNIMPLEMENTED);
static_assert(+kKernkitXlaInternal == +XLA_FFI_Error_Code_INTERNAL);

SAME_SIZE(KernkitXlaExtension, XLA_FFI_Extension_Base);
SAME_FIELD(KernkitXlaExtension, struct_size, XLA_FFI_Extension_Base, struct_size);
SAME_FIELD(KernkitXlaExtension, type, XLA_FFI_Extension_Base, type);
SAME_FIELD(KernkitXlaExtension, next, XLA_FFI_Extension_Base, next);

SAME_SIZE(KernkitXlaVersion, XLA_FFI_Api_Version);
SAME_FIELD(KernkitXlaVersion, major_version, XLA_FFI_Api_Version, major_version);
SAME_FIELD(KernkitXlaVersion, minor_version, XLA_FFI_Api_Version, minor_version);

SAME_FIELD(KernkitXlaMetadata, struct_size, XLA_FFI_Metadata, struct_size);
SAME_FIELD(KernkitXlaMetadata, version, XLA_FFI_Metadata, api_version);
SAME_FIELD(KernkitXlaMetadata, traits, XLA_FFI_Metadata, traits);

SAME_SIZE(KernkitXlaMetadataExtension, XLA_FFI_Metadata_Extension);
SAME_FIELD(KernkitXlaMetadataExtension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME_FIELD(KernkitXlaMetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);

SAME_SIZE(KernkitXlaErrorArgs, XLA_FFI_Error_Create_Args);
SAME_FIELD(KernkitXlaErrorArgs, message, XLA_FFI_Error_Create_Args, message);
SAME_FIELD(KernkitXlaErrorArgs, code, XLA_FFI_Error_Create_Args, errc);

SAME_SIZE(KernkitXlaStreamArgs, XLA_FFI_Stream_Get_Args);
SAME_FIELD(KernkitXlaStreamArgs, context, XLA_FFI_Stream_Get_Args, ctx);
SAME_FIELD(KernkitXlaStreamArgs, stream, XLA_FFI_Stream_Get_Args, stream);

SAME_SIZE(KernkitXlaOrdinalArgs, XLA_FFI_DeviceOrdinal_Get_Args);
SAME_FIELD(KernkitXlaOrdinalArgs, context, XLA_FFI_DeviceOrdinal_Get_Args, ctx);
SAME_FIELD(KernkitXlaOrdinalArgs, ordinal, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);

SAME_FIELD(KernkitXlaApi, struct_size, XLA_FFI_Api, struct_size);
SAME_FIELD(KernkitXlaApi, version, XLA_FFI_Api, api_version);
SAME_FIELD(KernkitXlaApi, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_FIELD(KernkitXlaApi, stream_get, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME_FIELD(KernkitXlaApi, ordinal_get, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
static_assert(sizeof(KernkitXlaApi) <= sizeof(XLA_FFI_Api));

SAME_FIELD(KernkitXlaArray, dtype, XLA_FFI_Buffer, dtype);
SAME_FIELD(KernkitXlaArray, data, XLA_FFI_Buffer, data);
SAME_FIELD(KernkitXlaArray, rank, XLA_FFI_Buffer, rank);
SAME_FIELD(KernkitXlaArray, dims, XLA_FFI_Buffer, dims);

SAME_SIZE(KernkitXlaText, XLA_FFI_ByteSpan);
SAME_FIELD(KernkitXlaText, data, XLA_FFI_ByteSpan, ptr);
SAME_FIELD(KernkitXlaText, size, XLA_FFI_ByteSpan, len);

SAME_SIZE(KernkitXlaScalar, XLA_FFI_Scalar);
SAME_FIELD(KernkitXlaScalar, dtype, XLA_FFI_Scalar, dtype);
SAME_FIELD(KernkitXlaScalar, value, XLA_FFI_Scalar, value);

// XLA's call frame contains these structs by value, so their sizes must not change.
SAME_SIZE(KernkitXlaBuffers, XLA_FFI_Args);
SAME_FIELD(KernkitXlaBuffers, size, XLA_FFI_Args, size);
SAME_FIELD(KernkitXlaBuffers, types, XLA_FFI_Args, types);
SAME_FIELD(KernkitXlaBuffers, buffers, XLA_FFI_Args, args);
SAME_SIZE(KernkitXlaBuffers, XLA_FFI_Rets);
SAME_FIELD(KernkitXlaBuffers, size, XLA_FFI_Rets, size);
SAME_FIELD(KernkitXlaBuffers, types, XLA_FFI_Rets, types);
SAME_FIELD(KernkitXlaBuffers, buffers, XLA_FFI_Rets, rets);
SAME_SIZE(KernkitXlaAttributes, XLA_FFI_Attrs);
SAME_FIELD(KernkitXlaAttributes, size, XLA_FFI_Attrs, size);
SAME_FIELD(KernkitXlaAttributes, types, XLA_FFI_Attrs, types);
SAME_FIELD(KernkitXlaAttributes, names, XLA_FFI_Attrs, names);
SAME_FIELD(KernkitXlaAttributes, values, XLA_FFI_Attrs, attrs);

SAME_FIELD(KernkitXlaCallFrame, struct_size, XLA_FFI_CallFrame, struct_size);
SAME_FIELD(KernkitXlaCallFrame, extension, XLA_FFI_CallFrame, extension_start);
SAME_FIELD(KernkitXlaCallFrame, api, XLA_FFI_CallFrame, api);
SAME_FIELD(KernkitXlaCallFrame, context, XLA_FFI_CallFrame, ctx);
SAME_FIELD(KernkitXlaCallFrame, stage, XLA_FFI_CallFrame, stage);
SAME_FIELD(KernkitXlaCallFrame, args, XLA_FFI_CallFrame, args);
SAME_FIELD(KernkitXlaCallFrame, rets, XLA_FFI_CallFrame, rets);
SAME_FIELD(KernkitXlaCallFrame, attributes, XLA_FFI_CallFrame, attrs);

// Checks the dtype that dtype_of_xla() returns for the number of an XLA dtype. Each XLA dtype whose
// elements are whole bytes must have a dtype in kernkit.
#define SAME_DTYPE(theirs, code, bits)                                       \
  static_assert(kernkit::dtype_key(kernkit::shapes::dtype_of_xla(theirs)) == \
                kernkit::dtype_key(kernkit::make_dtype(kernkit::DTypeCode::code, bits)))
SAME_DTYPE(XLA_FFI_DataType_PRED, kBool, 8);
SAME_DTYPE(XLA_FFI_DataType_S8, kInt, 8);
SAME_DTYPE(XLA_FFI_DataType_S16, kInt, 16);
SAME_DTYPE(XLA_FFI_DataType_S32, kInt, 32);
SAME_DTYPE(XLA_FFI_DataType_S64, kInt, 64);
SAME_DTYPE(XLA_FFI_DataType_U8, kUInt, 8);
SAME_DTYPE(XLA_FFI_DataType_U16, kUInt, 16);
SAME_DTYPE(XLA_FFI_DataType_U32, kUInt, 32);
SAME_DTYPE(XLA_FFI_DataType_U64, kUInt, 64);
SAME_DTYPE(XLA_FFI_DataType_F16, kFloat, 16);
SAME_DTYPE(XLA_FFI_DataType_F32, kFloat, 32);
SAME_DTYPE(XLA_FFI_DataType_F64, kFloat, 64);
SAME_DTYPE(XLA_FFI_DataType_BF16, kBfloat, 16);
SAME_DTYPE(XLA_FFI_DataType_C64, kComplex, 64);
SAME_DTYPE(XLA_FFI_DataType_C128, kComplex, 128);
SAME_DTYPE(XLA_FFI_DataType_F8E5M2, kFloat8E5M2, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E3M4, kFloat8E3M4, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E4M3, kFloat8E4M3, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E4M3FN, kFloat8E4M3FN, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E4M3B11FNUZ, kFloat8E4M3B11FNUZ, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E5M2FNUZ, kFloat8E5M2FNUZ, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E4M3FNUZ, kFloat8E4M3FNUZ, 8);
SAME_DTYPE(XLA_FFI_DataType_F8E8M0FNU, kFloat8E8M0FNU, 8);
static_assert(kernkit::shapes::dtype_of_xla(XLA_FFI_DataType_TOKEN).bits == 0);
static_assert(kernkit::shapes::dtype_of_xla(XLA_FFI_DataType_S4).bits == 0);
