# SPDX-License-Identifier: Apache-2.0
"""Kernels of Numba; their results are compared with formulas in float64: kernkit run python -m pytest
numba_kernels.py"""

import math

import numpy as np
from checks import EPS16, EPS32, assert_close, product_bound, sum_bound
from numba import cuda, float32, float64, guvectorize, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

rng = np.random.default_rng(38)
EPS64 = float(np.finfo(np.float64).eps)
TILE = 16
WEIGHTS = np.array([0.25, 0.5, 0.25])


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# [saxpy]
@cuda.jit
def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def test_saxpy():
    x, y = normal(1000), normal(1000)
    on_device = cuda.to_device(y)
    saxpy[8, 128](on_device, cuda.to_device(x), np.float32(2.5))
    expected = y + 2.5 * x.astype(np.float64)
    assert_close(on_device.copy_to_host(), expected, EPS32 * np.abs(expected) + 1e-12)  # an fma rounds once
# [/saxpy]


@cuda.jit
def matmul(a, b, c):
    row, column = cuda.grid(2)
    tile_a, tile_b = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[i, j] = a[row, start + j] if row < a.shape[0] and start + j < a.shape[1] else 0
        tile_b[i, j] = b[start + i, column] if start + i < b.shape[0] and column < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[i, k] * tile_b[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def test_matmul_in_shared_tiles():
    a, b = normal(37, 45), normal(45, 29)
    c = np.zeros((37, 29), np.float32)
    matmul[(3, 2), (TILE, TILE)](a, b, c)  # Numba copies NumPy arrays to the device and back
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


@cuda.jit
def block_sums(x, sums):
    shared = cuda.shared.array(128, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    width = 64
    while width > 0:
        if t < width:
            shared[t] += shared[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = shared[0]


def test_sums_of_blocks():
    x = rng.standard_normal(500)
    sums = np.zeros(4)
    block_sums[4, 128](x, sums)
    padded = np.pad(x, (0, 12)).reshape(4, 128)
    assert_close(sums, padded.sum(1), sum_bound(128, np.abs(padded).sum(1), EPS64))


@cuda.jit
def warp_sums(x, sums, ranks):
    i, lane = cuda.grid(1), cuda.laneid
    value = x[i]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if lane == 0:
        sums[i // 32] = value
    positive = cuda.ballot_sync(0xFFFFFFFF, x[i] > 0)
    ranks[i] = cuda.popc(positive & ((1 << lane) - 1))


def test_warp_shuffles_and_votes():
    x = rng.integers(-50, 50, 96, np.int32)
    sums, ranks = np.zeros(3, np.int32), np.zeros(96, np.int32)
    warp_sums[1, 96](x, sums, ranks)
    rows = x.reshape(3, 32)
    np.testing.assert_array_equal(sums, rows.sum(1))
    np.testing.assert_array_equal(ranks.reshape(3, 32), np.cumsum(rows > 0, 1) - (rows > 0))


@cuda.jit
def block_scan(x, out):
    buffers = cuda.shared.array((2, 256), int32)
    t, now = cuda.threadIdx.x, 0
    buffers[0, t] = x[t]
    cuda.syncthreads()
    offset = 1
    while offset < 256:
        buffers[1 - now, t] = buffers[now, t] + (buffers[now, t - offset] if t >= offset else 0)
        now = 1 - now
        cuda.syncthreads()
        offset *= 2
    out[t] = buffers[now, t]


def test_scan_of_a_block():
    x = rng.integers(-9, 9, 256, np.int32)
    out = np.zeros(256, np.int32)
    block_scan[1, 256](x, out)
    np.testing.assert_array_equal(out, np.cumsum(x))


@cuda.jit
def histogram(x, counts):
    own = cuda.shared.array(64, int32)
    if cuda.threadIdx.x < 64:
        own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 64:
        cuda.atomic.add(counts, cuda.threadIdx.x, own[cuda.threadIdx.x])


def test_histogram():
    x = rng.integers(0, 64, 3000, np.int32)
    counts = np.zeros(64, np.int32)
    histogram[4, 128](x, counts)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=64))


@cuda.jit
def atomics(x, largest, sums, owners, bits):
    i = cuda.grid(1)
    cuda.atomic.max(largest, 0, x[i])
    cuda.atomic.add(sums, i % 4, x[i])
    cuda.atomic.cas(owners, i // 2, -1, i)
    cuda.atomic.or_(bits, 0, 1 << (i % 32))


def test_atomics():
    x = rng.standard_normal(256)
    largest, sums, owners, bits = np.full(1, -np.inf), np.zeros(4), np.full(128, -1, np.int64), np.zeros(1, np.uint32)
    atomics[4, 64](x, largest, sums, owners, bits)
    columns = x.reshape(-1, 4)
    assert largest[0] == x.max() and bits[0] == 0xFFFFFFFF
    assert_close(sums, columns.sum(0), sum_bound(64, np.abs(columns).sum(0), EPS64))
    np.testing.assert_array_equal(owners // 2, np.arange(128))  # either thread of a pair may store its index first


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), float64)  # an additional column avoids bank conflicts
    row, column = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        if row + i < x.shape[0] and column + cuda.threadIdx.x < x.shape[1]:
            tile[i, cuda.threadIdx.x] = x[row + i, column + cuda.threadIdx.x]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        if column + i < x.shape[1] and row + cuda.threadIdx.x < x.shape[0]:
            out[column + i, row + cuda.threadIdx.x] = tile[cuda.threadIdx.x, i]


def test_transpose():
    x = rng.standard_normal((70, 45))
    out = np.zeros((45, 70))
    transpose[(2, 3), (32, 8)](x, out)
    np.testing.assert_array_equal(out, x.T)


@cuda.jit
def smooth(x, out):
    weights = cuda.const.array_like(WEIGHTS)
    row, column = cuda.grid(2)
    if 0 < row < x.shape[0] - 1 and 0 < column < x.shape[1] - 1:
        total = 0.0
        for i in range(3):
            for j in range(3):
                total += weights[i] * weights[j] * x[row + i - 1, column + j - 1]
        out[row, column] = total


def test_stencil_with_constant_memory():
    x = rng.standard_normal((40, 30))
    out = x.copy()
    smooth[(3, 2), (16, 16)](x, out)
    inner = sum(WEIGHTS[i] * WEIGHTS[j] * x[i : 38 + i, j : 28 + j] for i in range(3) for j in range(3))
    assert_close(out[1:-1, 1:-1], inner, sum_bound(9, np.abs(x).max(), EPS64))
    np.testing.assert_array_equal(out[0], x[0])


@cuda.jit
def estimate_pi(states, rounds, hits):
    i = cuda.grid(1)
    found = 0
    for _ in range(rounds):
        x, y = xoroshiro128p_uniform_float32(states, i), xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            found += 1
    hits[i] = found


def test_random_numbers():
    hits = np.zeros(128, np.int32)
    estimate_pi[2, 64](create_xoroshiro128p_states(128, seed=1), 100, hits)
    share, samples = math.pi / 4, 128 * 100
    assert abs(hits.sum() / samples - share) < 5 * math.sqrt(share * (1 - share) / samples)  # 5 standard deviations
    assert len(set(hits.tolist())) > 10  # the threads' random sequences differ


@cuda.jit(device=True)
def steps_until_escape(c, limit):
    z, count = 0j, 0
    while count < limit and z.real * z.real + z.imag * z.imag < 4:
        z = z * z + c
        count += 1
    return count


@cuda.jit
def mandelbrot(out, limit):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = steps_until_escape(complex(-2 + column * 3 / out.shape[1], -1 + row * 2 / out.shape[0]), limit)


def test_mandelbrot():
    out = np.zeros((16, 24), np.int32)
    mandelbrot[(2, 3), (8, 8)](out, 50)
    c = (-2 + np.arange(24) * 3 / 24) + 1j * (-1 + np.arange(16) * 2 / 16)[:, None]
    z, expected = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(50):
        inside = np.abs(z) < 2
        expected += inside
        z[inside] = z[inside] ** 2 + c[inside]
    assert (out != expected).mean() < 0.02  # near the border of the set, rounding may change the number of iterations


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def length(x, y):
    return math.sqrt(x * x + y * y)


def test_vectorize():
    x, y = rng.standard_normal((20, 10)), rng.standard_normal((1, 10))
    assert_close(length(x, y), np.hypot(x, y), 4 * EPS64 * np.hypot(x, y))
    x, y = x.astype(np.float32), y.astype(np.float32)
    exact = np.hypot(x.astype(np.float64), y)
    assert_close(length(x, y), exact, 4 * EPS32 * exact)


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)", target="cuda")
def moving_average(x, share, out):
    state = x[0]
    for i in range(x.shape[0]):
        state = share[0] * x[i] + (1 - share[0]) * state
        out[i] = state


def test_guvectorize():
    x = rng.standard_normal((12, 30))
    expected = x.copy()
    for i in range(1, 30):
        expected[:, i] = 0.25 * x[:, i] + 0.75 * expected[:, i - 1]
    assert_close(moving_average(x, 0.25), expected, sum_bound(30, np.abs(x).max(), EPS64))


def test_reduce():
    x = rng.standard_normal(1000)
    total = cuda.reduce(lambda a, b: a + b)
    assert_close(total(x), x.sum(), sum_bound(1000, np.abs(x).sum(), EPS64))
    assert total(np.arange(100.0), init=5.0) == 4955


@cuda.jit
def fill(x, value):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = value


def test_streams_and_events():
    first, second, event = cuda.stream(), cuda.stream(), cuda.event()
    x = cuda.device_array(300, np.float32, stream=first)
    fill[3, 128, first](x, 2)
    event.record(first)
    event.wait(second)
    saxpy[3, 128, second](x, x, np.float32(3))
    result = x.copy_to_host(stream=second)
    second.synchronize()
    np.testing.assert_array_equal(result, np.full(300, 8, np.float32))


@cuda.jit
def half_polynomial(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.fp16.hfma(x[i], x[i], x[i])


def test_float16():
    x = normal(100).astype(np.float16)
    out = np.zeros(100, np.float16)
    half_polynomial[1, 128](x, out)
    wide = x.astype(np.float64)
    assert_close(out, wide * wide + wide, EPS16 * np.abs(wide * wide + wide) + 2.0**-24)  # one rounding


PARTICLE = np.dtype([("place", np.float64, 2), ("mass", np.float32), ("id", np.int32)], align=True)


@cuda.jit
def move(particles, step):
    i = cuda.grid(1)
    if i < particles.size:
        particles[i].place[0] += step * particles[i].mass
        particles[i].place[1] -= step
        particles[i].id = -particles[i].id


def test_records():
    particles = np.zeros(50, PARTICLE)
    particles["mass"], particles["id"] = np.arange(50), np.arange(50)
    move[1, 64](particles, 0.5)
    np.testing.assert_array_equal(particles["place"], np.stack([np.arange(50) / 2, np.full(50, -0.5)], 1))
    np.testing.assert_array_equal(particles["id"], -np.arange(50))


@cuda.jit
def reverse(x):
    shared = cuda.shared.array(0, float32)  # the launch specifies the size in bytes
    i = cuda.threadIdx.x
    shared[i] = x[i]
    cuda.syncthreads()
    x[i] = shared[x.size - 1 - i]


def test_dynamic_shared_memory():
    x = normal(200)
    reversed_x = x.copy()
    reverse[1, 200, 0, 4 * 200](reversed_x)
    np.testing.assert_array_equal(reversed_x, x[::-1])


@cuda.jit
def bitonic_sort(x):
    shared = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    size = 2
    while size <= 256:
        stride = size // 2
        while stride > 0:
            cuda.syncthreads()
            other = t ^ stride
            if other > t and (shared[t] > shared[other]) == ((t & size) == 0):
                shared[t], shared[other] = shared[other], shared[t]
            stride //= 2
        size *= 2
    cuda.syncthreads()
    x[t] = shared[t]


def test_sort_in_shared_memory():
    x = rng.integers(-1000, 1000, 256, np.int32)
    ordered = x.copy()
    bitonic_sort[1, 256](ordered)
    np.testing.assert_array_equal(ordered, np.sort(x))


@cuda.jit
def math_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.exp(x[i])
        out[i, 1] = math.log(x[i])
        out[i, 2] = math.sin(x[i])
        out[i, 3] = 1 / x[i]
        out[i, 4] = math.erf(x[i])
        out[i, 5] = x[i] ** 1.5


def test_math_functions():
    x = rng.random(200) * 5 + 0.01
    out = np.zeros((200, 6))
    math_functions[2, 128](x, out)
    erf = np.vectorize(math.erf)(x)
    expected = np.stack([np.exp(x), np.log(x), np.sin(x), 1 / x, erf, x**1.5], 1)
    # CUDA's guide bounds the errors of the functions by 2 ulp. The errors of NumPy's results are below 1 ulp.
    assert_close(out, expected, 3 * EPS64 * np.abs(expected) + 1e-300)


@cuda.jit
def local_moments(x, out):
    powers = cuda.local.array(4, float64)
    i = cuda.grid(1)
    value = 1.0
    for k in range(4):
        value *= x[i]
        powers[k] = value
    for k in range(4):
        out[i, k] = powers[3 - k]


def test_local_memory():
    x = rng.standard_normal(64)
    out = np.zeros((64, 4))
    local_moments[2, 32](x, out)
    expected = x[:, None] ** np.array([4, 3, 2, 1])
    assert_close(out, expected, 4 * EPS64 * np.abs(expected))


@cuda.jit
def print_values(x):
    i = cuda.grid(1)
    print("element", i, "is", x[i])


def test_print(capfd):
    print_values[1, 3](np.array([1.5, 2.5, 3.5]))
    cuda.synchronize()
    assert sorted(capfd.readouterr().out.splitlines()) == [f"element {i} is {i + 1.5:f}" for i in range(3)]
