# SPDX-License-Identifier: Apache-2.0
"""The packages whose arrays the rules of DLPack export, and the code by which a package makes an array."""

import importlib
import importlib.metadata
import math
import os
import pkgutil
from typing import Any, Callable, Dict, Optional, Tuple, Type

from ...errors import UserError
from ..rule import described

Shape = Tuple[int, ...]


class NoSuchDtype(Exception):
    """Raised by make() if the package has no dtype of this name."""


class Producer:
    """A package that makes arrays for the rules. The elements of each array are 0, 1, 2, ... in row-major order, modulo
    2 for bool."""

    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        self.name = name
        self.report = report

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        """Returns an array on the CPU with this shape and dtype. Raises NoSuchDtype if the package has no such
        dtype."""
        raise NotImplementedError

    def read_only(self, shape: Shape) -> Optional[Any]:
        """Returns an array that must not be written, or None if the package has no read-only arrays."""
        return None

    def without_dlpack(self) -> Dict[str, Any]:
        """Returns {description: array} of arrays that DLPack cannot describe."""
        return {}


class _NumPy(Producer):
    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        super().__init__(name, report)
        self.numpy = importlib.import_module("numpy")

    def _dtype(self, name: str) -> Any:
        if name in ("bool", "float16") or name.rstrip("0123456789") in ("int", "uint", "float", "complex"):
            try:
                return self.numpy.dtype(name)
            except TypeError:
                pass  # a dtype that only ml_dtypes has, such as int4
        try:
            return self.numpy.dtype(getattr(importlib.import_module("ml_dtypes"), name))
        except (ImportError, AttributeError):
            raise NoSuchDtype(name) from None

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        values = self.numpy.arange(math.prod(shape))
        return (values % 2 if dtype == "bool" else values).astype(self._dtype(dtype)).reshape(shape)

    def read_only(self, shape: Shape) -> Any:
        array = self.make(shape)
        array.flags.writeable = False
        return array

    def without_dlpack(self) -> Dict[str, Any]:
        numpy = self.numpy
        return {"datetime64": numpy.zeros(2, "datetime64[s]"), "object": numpy.array([None, 1], object), "str": numpy.array(["a", "b"]),
                "structured": numpy.zeros(2, [("a", "i4"), ("b", "f4")]),
                "big-endian": numpy.arange(2).astype(">i4"),
                "stride of 1.25 elements": numpy.zeros(4, [("a", "i1"), ("b", "f4")])["b"]}  # fmt: skip


class _Torch(Producer):
    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        super().__init__(name, report)
        self.torch = importlib.import_module("torch")

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        native_dtype = getattr(self.torch, dtype, None)
        if not isinstance(native_dtype, self.torch.dtype):
            raise NoSuchDtype(dtype)
        values = self.torch.arange(math.prod(shape))
        try:
            return (values % 2 if dtype == "bool" else values).to(native_dtype).reshape(shape)
        except (RuntimeError, NotImplementedError):  # a dtype without arithmetic, such as int4
            raise NoSuchDtype(dtype) from None

    def without_dlpack(self) -> Dict[str, Any]:
        torch = self.torch
        return {"requires grad": torch.zeros(2, requires_grad=True), "sparse": torch.eye(2).to_sparse(),
                "conjugated": torch.zeros(2, dtype=torch.complex64).conj(),
                "meta device": torch.zeros(2, device="meta")}  # fmt: skip


class _Jax(Producer):
    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        super().__init__(name, report)
        os.environ["JAX_PLATFORMS"] = "cpu"
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.numpy = importlib.import_module("jax.numpy")

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        native_dtype = self.numpy.bool_ if dtype == "bool" else getattr(self.numpy, dtype, None)
        if native_dtype is None:
            raise NoSuchDtype(dtype)
        values = self.numpy.arange(math.prod(shape))
        try:
            return (values % 2 if dtype == "bool" else values).astype(native_dtype).reshape(shape).block_until_ready()
        except RuntimeError:  # a dtype that the compiler lacks, such as float6_e2m3fn
            raise NoSuchDtype(dtype) from None

    def read_only(self, shape: Shape) -> Any:
        return self.make(shape)  # all arrays of JAX are immutable

    def without_dlpack(self) -> Dict[str, Any]:
        return {"random key": self.jax.random.key(0), "float0": self.numpy.zeros(2, self.jax.dtypes.float0)}


class _TvmFfi(_NumPy):
    """The producer tvm_ffi, whose tensors are made from arrays of NumPy."""

    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        super().__init__(name, report)
        self.tvm_ffi = importlib.import_module("tvm_ffi")

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        array = super().make(shape, dtype)
        try:
            return self.tvm_ffi.from_dlpack(array)
        except BufferError:
            raise NoSuchDtype(dtype) from None

    def read_only(self, shape: Shape) -> Any:
        array = super().make(shape)
        array.flags.writeable = False
        return self.tvm_ffi.from_dlpack(array.__dlpack__(max_version=(1, 0)))

    def without_dlpack(self) -> Dict[str, Any]:
        return {}


class _Function(Producer):
    """A producer for module:function, a function of the user that makes the arrays."""

    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        super().__init__(name, report)
        try:
            self.function = pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise UserError(f"--dlpack {name}: {described(error)}; enter module:function, with the module on PYTHONPATH") from error

    def make(self, shape: Shape, dtype: str = "float32") -> Any:
        try:
            return self.function(shape, dtype)
        except (TypeError, ValueError, KeyError, AttributeError, NotImplementedError) as error:
            if dtype == "float32":
                raise
            raise NoSuchDtype(dtype) from error

    def read_only(self, shape: Shape) -> Optional[Any]:
        return self.function.read_only(shape) if hasattr(self.function, "read_only") else None

    def without_dlpack(self) -> Dict[str, Any]:
        return self.function.without_dlpack() if hasattr(self.function, "without_dlpack") else {}


BUILT_IN: Dict[str, Type[Producer]] = {"numpy": _NumPy, "torch": _Torch, "jax": _Jax, "tvm_ffi": _TvmFfi}
_DISTRIBUTIONS = {"tvm_ffi": "apache-tvm-ffi"}


def find(name: str, report: Callable[[str], None] = lambda text: None) -> Producer:
    """Returns the producer `name`. Raises UserError if the package cannot be imported, or if the name is neither a
    known package nor module:function."""
    if name not in BUILT_IN:
        if ":" not in name:
            raise UserError(f'--dlpack "{name}" is not a producer; enter {", ".join(BUILT_IN)}, or module:function')
        return _Function(name, report)
    try:
        return BUILT_IN[name](name, report)
    except ImportError as error:
        raise UserError(f"--dlpack {name}: the package cannot be imported: {described(error)}") from error


def version_of(name: str) -> str:
    """Returns the installed version of a producer's package, or "" if the module has no version."""
    try:
        return importlib.metadata.version(_DISTRIBUTIONS.get(name, name.partition(":")[0].partition(".")[0]))
    except importlib.metadata.PackageNotFoundError:
        return ""
