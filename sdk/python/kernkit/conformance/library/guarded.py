# SPDX-License-Identifier: Apache-2.0
"""Memory that ends where an inaccessible page begins, so that an access past the end of the memory ends the process."""

import ctypes
import mmap

_PROT_NONE = 0


class GuardedPage:
    """One page of memory, followed by an inaccessible page."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.end = start + mmap.PAGESIZE
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if protect(self.end, mmap.PAGESIZE, _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect failed")

    def address_of_end(self, size: int) -> int:
        """Returns the address `size` bytes before the inaccessible page. Raises ValueError if `size` exceeds the size
        of a page."""
        if not 0 <= size <= mmap.PAGESIZE:
            raise ValueError(f"{size} bytes do not fit into a page of {mmap.PAGESIZE} bytes")
        return self.end - size
