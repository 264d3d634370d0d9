# SPDX-License-Identifier: Apache-2.0
"""XLA call frames, built by hand, for the handlers of a library."""

import ctypes

P, I32, I64, SIZE = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
# The values of XLA's enumeration XLA_FFI_DataType.
DTYPES = {"bool": 1, "int8": 2, "int32": 4, "int64": 5, "float16": 10, "float32": 11, "float64": 12, "float8_e4m3fn": 20}


class Struct(ctypes.Structure):
    """A struct of XLA's interface, which starts with its size and the pointer to the first of its extensions."""

    def __init__(self, *values):
        super().__init__(ctypes.sizeof(self), None, *values)


class Array(Struct):
    _fields_ = [("size", SIZE), ("extension", P), ("dtype", I32), ("data", P), ("rank", I64), ("dims", P)]


class Buffers(Struct):
    _fields_ = [("struct_size", SIZE), ("extension", P), ("size", I64), ("types", P), ("buffers", P)]


class Attributes(Struct):
    _fields_ = [("struct_size", SIZE), ("extension", P), ("size", I64), ("types", P), ("names", P), ("values", P)]


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", SIZE)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", I32), ("value", P)]


class Metadata(Struct):
    """Arguments of the queries for a stream or a device; `context` is unused."""

    _fields_ = [("size", SIZE), ("extension", P), ("context", P), ("answer", I64)]


class ErrorArgs(ctypes.Structure):
    _fields_ = [("size", SIZE), ("extension", P), ("message", ctypes.c_char_p), ("code", I32)]


Create, Get = ctypes.CFUNCTYPE(P, ctypes.POINTER(ErrorArgs)), ctypes.CFUNCTYPE(P, ctypes.POINTER(Metadata))


class Api(Struct):
    _fields_ = [("size", SIZE), ("extension", P), ("version", I64 * 3), ("internal", P), ("error_create", Create),
                ("others", P * 3), ("stream_get", Get), ("more", P * 12), ("ordinal_get", Get)]  # fmt: skip


class Frame(Struct):
    _fields_ = [("size", SIZE), ("extension", P), ("api", P), ("context", P), ("stage", I32), ("args", Buffers),
                ("rets", Buffers), ("attributes", Attributes)]  # fmt: skip


class XlaError(Exception):
    """An error returned by a handler; `code` is a code of absl::Status."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def pointers(values):
    return (P * len(values))(*(ctypes.cast(ctypes.pointer(value), P) for value in values))


def pointer(array):
    return ctypes.cast(array, P)


class Handler:
    """The function kernkit_xla_<device>_<op> of a library. A call takes (address, dtype, shape) of each result and
    operand."""

    def __init__(self, library, op, device="cpu"):
        self.function = getattr(ctypes.CDLL(str(library)), f"kernkit_xla_{device}_{op}")
        self.function.restype = P

    def __call__(self, results, operands, stream=0, **attributes):
        references, errors = [], []

        def keep(value):
            references.append(value)
            return value

        def buffers(tensors):
            arrays = [Array(DTYPES[str(dtype)], address, len(shape), pointer(keep((I64 * len(shape))(*shape))))
                      for address, dtype, shape in tensors]  # fmt: skip
            return Buffers(len(tensors), pointer(keep((I32 * len(tensors))(*[1] * len(tensors)))), pointer(keep(pointers(keep(arrays)))))

        def value(number):
            kind = {bool: (1, ctypes.c_bool), int: (5, I64), float: (12, ctypes.c_double)}[type(number)]
            return Scalar(kind[0], pointer(keep(ctypes.pointer(kind[1](number)))))

        names = sorted(attributes)
        values = [Text(attributes[n].encode(), len(attributes[n])) if isinstance(attributes[n], str) else value(attributes[n])
                  for n in names]  # fmt: skip
        types = [4 if isinstance(attributes[n], str) else 3 for n in names]
        texts = [Text(name.encode(), len(name)) for name in names]
        written = Attributes(len(names), pointer(keep((I32 * len(names))(*types))), pointer(keep(pointers(keep(texts)))),
                           pointer(keep(pointers(keep(values)))))  # fmt: skip

        @Create
        def create(args):
            errors.append((args[0].code, args[0].message.decode()))
            return 1

        def answering(number):
            @Get
            def get(args):
                args[0].answer = number
            return keep(get)

        api = Api((I64 * 3)(24, 0, 3 << 32), None, create, (P * 3)(), answering(stream), (P * 12)(), answering(0))
        self.function(ctypes.byref(Frame(pointer(ctypes.pointer(api)), None, 3, buffers(operands), buffers(results), written)))
        if errors:
            raise XlaError(*errors[0])


def of_numpy(array):
    """Returns (address, dtype, shape) of an array."""
    return array.ctypes.data, array.dtype, array.shape
