# SPDX-License-Identifier: Apache-2.0
"""Names of DLPack's dtypes and devices, as in messages of the C++ library (kernkit/types/)."""

_WITH_BITS = {0: "int", 1: "uint", 2: "float", 3: "handle", 4: "bfloat", 5: "complex"}
_WITHOUT_BITS = {(6, 8): "bool", (7, 8): "float8_e3m4", (8, 8): "float8_e4m3", (9, 8): "float8_e4m3b11fnuz",
                 (10, 8): "float8_e4m3fn", (11, 8): "float8_e4m3fnuz", (12, 8): "float8_e5m2", (13, 8): "float8_e5m2fnuz",
                 (14, 8): "float8_e8m0fnu", (15, 6): "float6_e2m3fn", (16, 6): "float6_e3m2fn", (17, 4): "float4_e2m1fn"}  # fmt: skip
_DEVICES = {2: "cuda", 3: "cuda_host", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 13: "cuda_managed", 14: "oneapi"}


def dtype_name(code: int, bits: int, lanes: int) -> str:
    name = _WITHOUT_BITS.get((code, bits)) or (_WITH_BITS[code] + str(bits) if code in _WITH_BITS else f"dtype(code={code}, bits={bits})")
    return name if lanes == 1 else f"{name}x{lanes}"


def device_name(kind: int, index: int) -> str:
    if kind == 1:
        return "cpu" if index == 0 else f"cpu:{index}"
    return f"{_DEVICES.get(kind, f'device(type={kind})')}:{index}"
