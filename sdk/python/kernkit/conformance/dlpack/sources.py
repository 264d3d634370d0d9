# SPDX-License-Identifier: Apache-2.0
"""The documents from which the rules of DLPack come: dlpack.h 1.3, DLPack's specification for Python, and the array API
standard of December 2024."""

PYTHON = "DLPack, Python specification, Implementation"
SEMANTICS = "DLPack, Python specification, Semantics"
METHOD = "array API standard, array.__dlpack__"
DEVICE = "array API standard, array.__dlpack_device__"
TENSOR = "dlpack.h, DLTensor"
DTYPE = "dlpack.h, DLDataType"
MANAGED = "dlpack.h, DLManagedTensorVersioned"
FLAGS = "dlpack.h, DLPACK_FLAG_BITMASK"
VERSION = "dlpack.h, DLPackVersion"
EXCHANGE = "dlpack.h, DLPackExchangeAPI"
