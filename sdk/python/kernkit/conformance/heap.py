# SPDX-License-Identifier: Apache-2.0
"""Reads the number of bytes that malloc() has allocated. Rules compare this number before and after calls to find
leaks."""

import ctypes

from .rule import NotApplicable


class _Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc 2.33 and later."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]  # fmt: skip


def bytes_in_use() -> int:
    """Returns the number of bytes that malloc() has allocated in glibc's main arena and in large blocks. Raises
    NotApplicable if glibc is older than 2.33."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        raise NotApplicable("mallinfo2() is missing: glibc is older than 2.33, or another libc") from None
    mallinfo.restype = _Mallinfo
    usage = mallinfo()
    return int(usage.uordblks + usage.hblkhd)
