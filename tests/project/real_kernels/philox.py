# SPDX-License-Identifier: Apache-2.0
"""Computes Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) with cuRAND's seeding:
the subsequence is the upper half of the counter, and each step of the lower half yields four numbers."""

import numpy as np

MASK = np.uint64(0xFFFFFFFF)
ROUNDS = 10


def block(seed, subsequence, step):
    """Returns four 32-bit numbers for each subsequence."""
    subsequence = np.asarray(subsequence, "uint64")
    counter = [np.full_like(subsequence, step & 0xFFFFFFFF), np.full_like(subsequence, step >> 32),
               subsequence & MASK, subsequence >> np.uint64(32)]  # fmt: skip
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(ROUNDS):
        products = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        high, low = zip(*((product >> np.uint64(32), product & MASK) for product in products))
        counter = [high[1] ^ counter[1] ^ np.uint64(keys[0]), low[1], high[0] ^ counter[3] ^ np.uint64(keys[1]), low[0]]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def uniform(number):
    """Returns numbers in (0, 1] of type float, computed like curand_uniform()."""
    return number.astype("float32") * np.float32(2**-32) + np.float32(2**-33)


def uniforms(seed, subsequence, offset, count=None):
    """Returns the uniform numbers of one subsequence, or `count` numbers of each subsequence, starting at an offset
    that is a multiple of 4."""
    if count is not None:
        return np.stack([uniform(number) for number in block(seed, subsequence, offset // 4)])[:count]
    return one_by_one(seed, subsequence, offset)


def one_by_one(seed, subsequence, offset):
    while True:
        for at in range(offset % 4, 4):
            yield uniform(block(seed, subsequence, offset // 4)[at])
        offset = offset // 4 * 4 + 4
