# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of cub.cu and groups.cu and compares the results with references in NumPy."""

import numpy as np
from device import run_plain
from table import assert_near, assert_same, kernel

THREADS, ITEMS = 128, 4
COUNT = 20011  # number of elements, not a multiple of a tile


def ints(random, count, low=-1000, high=1000):
    return random.integers(low, high, count, dtype="int32")


def floats(random, count):
    # The numbers are multiples of 1/8, so their sums are exact in any order.
    return (random.integers(-64, 64, count) / 8).astype("float32")


@kernel("cub", "DeviceReduce::Sum")
def _(cub, random):
    x = floats(random, COUNT)
    assert_same(run_plain(cub.device_sum, x, np.zeros(1, "float32"), COUNT)[1], x.sum(dtype="float64"))


@kernel("cub", "DeviceReduce::Min")
def _(cub, random):
    x = ints(random, COUNT)
    assert_same(run_plain(cub.device_min, x, np.zeros(1, "int32"), COUNT)[1], x.min())


@kernel("cub", "DeviceReduce::Max")
def _(cub, random):
    x = random.standard_normal(COUNT)
    assert_same(run_plain(cub.device_max, x, np.zeros(1), COUNT)[1], x.max())


@kernel("cub", "DeviceSegmentedReduce::Sum")
def _(cub, random):
    x, begins = ints(random, COUNT), np.sort(ints(random, 41, 0, COUNT))
    sums = run_plain(cub.device_segments_sum, x, np.zeros(40, "int32"), begins, 40)[1]
    assert_same(sums, [x[first:last].sum() for first, last in zip(begins, begins[1:])])


@kernel("cub", "DeviceScan::InclusiveSum")
def _(cub, random):
    x = ints(random, COUNT)
    assert_same(run_plain(cub.device_inclusive_sum, x, np.zeros(COUNT, "int32"), COUNT)[1], np.cumsum(x))


@kernel("cub", "DeviceScan::ExclusiveSum")
def _(cub, random):
    x = random.integers(0, 2**60, COUNT, dtype="uint64")
    expected = np.cumsum(x, dtype="uint64") - x
    assert_same(run_plain(cub.device_exclusive_sum, x, np.zeros(COUNT, "uint64"), COUNT)[1], expected)


@kernel("cub", "DeviceRadixSort::SortKeys", {"one tile": (1000,), "tiles": (COUNT,)})
def _(cub, random, count):
    x = random.integers(0, 2**32, count, dtype="uint32")
    assert_same(run_plain(cub.device_sort_keys, x, np.zeros(count, "uint32"), count)[1], np.sort(x))


@kernel("cub", "DeviceRadixSort::SortPairsDescending")
def _(cub, random):
    keys, values = floats(random, COUNT), np.arange(COUNT, dtype="int32")
    out = run_plain(cub.device_sort_pairs_descending, keys, np.zeros(COUNT, "float32"), values, np.zeros(COUNT, "int32"), COUNT)
    order = np.argsort(-keys, kind="stable")
    assert_same(out[1], keys[order])
    assert_same(out[3], order)


@kernel("cub", "DeviceHistogram::HistogramEven")
def _(cub, random):
    x = random.standard_normal(COUNT).astype("float32")
    bins = run_plain(cub.device_histogram_even, x, np.zeros(32, "int32"), 33, COUNT)[1]
    assert_same(bins, np.histogram(x[x < 2], 32, (-2, 2))[0])


@kernel("cub", "DeviceHistogram::HistogramRange")
def _(cub, random):
    x, levels = ints(random, COUNT), np.array([-1000, -500, -3, 0, 17, 400, 1000], "int32")
    bins = run_plain(cub.device_histogram_range, x, np.zeros(6, "int32"), levels, 7, COUNT)[1]
    assert_same(bins, np.histogram(x, levels)[0])


@kernel("cub", "DeviceSelect::If")
def _(cub, random):
    x = ints(random, COUNT)
    _, chosen, count = run_plain(cub.device_select_odd, x, np.zeros(COUNT, "int32"), np.zeros(1, "int32"), COUNT)
    odd = x[x % 2 == 1]
    assert_same(count, len(odd))
    assert_same(chosen[: len(odd)], odd)


@kernel("cub", "DeviceRunLengthEncode::Encode")
def _(cub, random):
    x = np.sort(ints(random, COUNT, 0, 500))
    out = run_plain(cub.device_run_lengths, x, *(np.zeros(COUNT, "int32") for _ in range(2)), np.zeros(1, "int32"), COUNT)
    values, lengths = np.unique(x, return_counts=True)
    assert_same(out[3], len(values))
    assert_same(out[1][: len(values)], values)
    assert_same(out[2][: len(values)], lengths)


@kernel("cub", "BlockReduce::Sum", {how: (how,) for how in ("raking", "commutative", "warps")})
def _(cub, random, how):
    x = floats(random, 5 * THREADS)
    sums = run_plain(getattr(cub, f"block_sum_{how}"), x, np.zeros(5, "float32"), 5)[1]
    assert_same(sums, x.reshape(5, -1).sum(1))


@kernel("cub", "BlockReduce::Reduce", {"all": (THREADS,), "some": (77,)})
def _(cub, random, valid):
    x = ints(random, 5 * THREADS)
    most = run_plain(cub.block_max, x, np.zeros(5, "int32"), 5, valid)[1]
    assert_same(most, x.reshape(5, -1)[:, :valid].max(1))


@kernel("cub", "BlockScan::InclusiveSum", {how: (how,) for how in ("raking", "memoize", "warps")})
def _(cub, random, how):
    x = ints(random, 3 * THREADS * ITEMS)
    sums = run_plain(getattr(cub, f"block_scan_{how}"), x, np.zeros_like(x), 3)[1]
    assert_same(sums, np.cumsum(x.reshape(3, -1), 1).ravel())


@kernel("cub", "BlockRadixSort::Sort", {"int": (0, "int32"), "double": (0, "float64"),
                                        "int, descending": (1, "int32")})  # fmt: skip
def _(cub, random, descending, dtype):
    x = random.standard_normal(3 * THREADS * ITEMS) if dtype == "float64" else ints(random, 3 * THREADS * ITEMS)
    function = cub.block_sort_doubles if dtype == "float64" else cub.block_sort_ints
    expected = np.sort(x.reshape(3, -1), 1)
    assert_same(run_plain(function, x, np.zeros_like(x), 3, descending)[1],
                (expected[:, ::-1] if descending else expected).ravel())  # fmt: skip


@kernel("cub", "BlockMergeSort::Sort")
def _(cub, random):
    x = ints(random, 3 * THREADS * ITEMS)
    assert_same(run_plain(cub.block_sort_by_merging, x, np.zeros_like(x), 3)[1], np.sort(x.reshape(3, -1), 1).ravel())


@kernel("cub", "BlockHistogram::Histogram", {how: (how,) for how in ("atomic", "sort")})
def _(cub, random, how):
    x = random.integers(0, 256, 3 * THREADS * ITEMS, dtype="uint8")
    bins = run_plain(getattr(cub, f"block_histogram_{how}"), x, np.zeros(768, "int32"), 3)[1]
    assert_same(bins, np.concatenate([np.bincount(one, minlength=256) for one in x.reshape(3, -1)]))


@kernel("cub", "WarpReduce::Sum, WarpScan::ExclusiveSum")
def _(cub, random):
    x = floats(random, 2 * THREADS)
    _, sums, scans = run_plain(cub.warp_sum_and_scan, x, np.zeros(2 * THREADS // 16, "float32"), np.zeros_like(x), 2)
    assert_same(sums, x.reshape(-1, 16).sum(1))
    assert_same(scans, (np.cumsum(x.reshape(-1, 32), 1) - x.reshape(-1, 32)).ravel())


@kernel("groups", "thread_block_tile::shfl_xor", {"4": (4,), "32": (32,)})
def _(groups, random, size):
    x = floats(random, 3 * THREADS)
    sums = run_plain(getattr(groups, f"tiles_of_{size}"), x, np.zeros(len(x) // size, "float32"), 3)[1]
    assert_same(sums, x.reshape(-1, size).sum(1))


@kernel("groups", "reduce")
def _(groups, random):
    x = ints(random, 3 * THREADS)
    _, sums, most = run_plain(groups.tiles_reduce, x, np.zeros_like(x), np.zeros_like(x), 3)
    assert_same(sums, np.repeat(x.reshape(-1, 16).sum(1), 16))
    assert_same(most, np.repeat(x.reshape(-1, 16).max(1), 16))


@kernel("groups", "inclusive_scan, exclusive_scan")
def _(groups, random):
    x = ints(random, 3 * THREADS)
    _, inclusive, exclusive = run_plain(groups.tiles_scan, x, np.zeros_like(x), np.zeros_like(x), 3)
    sums = np.cumsum(x.reshape(-1, 32), 1).ravel()
    assert_same(inclusive, sums)
    assert_same(exclusive, sums - x)


@kernel("groups", "coalesced_threads")
def _(groups, random):
    x = ints(random, 3 * THREADS, 0)
    empty = [np.zeros_like(x), np.zeros_like(x), np.zeros(1, "int32")]
    _, rank, size, total = run_plain(groups.coalesced, x, *empty, 3)
    odd = (x % 2 == 1).reshape(-1, 32)
    assert_same(rank, np.where(odd, np.cumsum(odd, 1) - 1, -1).ravel())
    assert_same(size, np.where(odd, odd.sum(1, keepdims=True), -1).ravel())
    assert_same(total, odd.sum())


@kernel("groups", "binary_partition")
def _(groups, random):
    x = ints(random, 3 * THREADS, 0)
    warps, third = x.reshape(-1, 32), x.reshape(-1, 32) % 3 == 0
    sums = [(warps * part).sum(1, keepdims=True) for part in (third, ~third)]
    assert_same(run_plain(groups.partition_in_two, x, np.zeros_like(x), 3)[1], np.where(third, *sums).ravel())


@kernel("groups", "labeled_partition")
def _(groups, random):
    labels = ints(random, 3 * THREADS, 0, 5)
    warps = labels.reshape(-1, 32)
    equal = warps[:, :, None] == warps[:, None, :]
    rank = np.tril(equal, -1).sum(2)
    expected = (equal.sum(2) * 100 + rank).ravel()
    assert_same(run_plain(groups.partition_by_label, labels, np.zeros_like(labels), 3)[1], expected)


@kernel("groups", "grid_group::sync")
def _(groups, random):
    x = ints(random, 5000)
    _, between, y = run_plain(groups.grid_sync, x, np.zeros_like(x), np.zeros_like(x), len(x), 7)
    expected = np.roll(x[::-1], -2500) + 1
    assert_same(y, expected)
    assert_same(between, np.roll(expected, -1))


@kernel("groups", "memcpy_async")
def _(groups, random):
    x = floats(random, 3 * 5 * THREADS)
    sums = run_plain(groups.asynchronous, x, np.zeros(3 * THREADS, "float32"), 5, 3)[1]
    assert_near(sums, x.reshape(3, 5, THREADS)[:, :, ::-1].sum(1).ravel())


@kernel("groups", "malloc, free")
def _(groups, random):
    lengths = ints(random, 2 * THREADS, 0, 12)
    sums = run_plain(groups.heap, lengths, np.zeros_like(lengths), 2)[1]
    assert_same(sums, lengths * (lengths - 1) // 2)
