# SPDX-License-Identifier: Apache-2.0
"""The documents that the rules for libraries come from."""

SAFE_CALL = "tvm/ffi/c_api.h, TVMFFISafeCallType"
ERRORS = "tvm/ffi/c_api.h, TVMFFIErrorMoveFromRaised"
OBJECTS = "tvm/ffi/c_api.h, TVMFFIObject"
TYPES = "tvm/ffi/c_api.h, TVMFFITypeIndex"
EXPORTS = "tvm/ffi/function.h, TVM_FFI_DLL_EXPORT_TYPED_FUNC"
SYMBOLS = "tvm/ffi/extra/module.h, namespace symbol"
DLOPEN = "dlopen(3)"
CONVENTION = "kernkit, docs/calling-convention.md, A call"
OWN = "kernkit, docs/command-line.md, kernkit doctor"
