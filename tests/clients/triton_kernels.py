# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton, without PyTorch; their results are compared with formulas in float64: kernkit run python -m pytest
triton_kernels.py"""

import numpy as np
import triton
import triton.language as tl
from checks import (
    EPS16,
    EPS32,
    EPS_BF16,
    assert_close,
    from_bf16,
    product_bound,
    softmax,
    sum_bound,
    to_bf16,
    to_tf32,
)
from managed import Array, synchronize, zeros

rng = np.random.default_rng(38)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# [add]
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def test_add():
    x, y = normal(1000), normal(1000)
    out = zeros(1000)
    add[(triton.cdiv(1000, 256),)](Array(x), Array(y), out, 1000, BLOCK=256)
    np.testing.assert_array_equal(out.numpy(), x + y)  # each result is rounded once, as in NumPy
# [/add]


@triton.jit
def silu_and_mul(x, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < width
    gate = tl.load(x + row * 2 * width + i, mask=mask).to(tl.float32)
    value = tl.load(x + row * 2 * width + width + i, mask=mask).to(tl.float32)
    tl.store(out + row * width + i, (gate * tl.sigmoid(gate) * value).to(tl.float16), mask=mask)


def test_silu_and_mul():
    x = normal(5, 2 * 100).astype(np.float16)
    out = zeros((5, 100), np.float16)
    silu_and_mul[(5,)](Array(x), out, 100, BLOCK=128)
    gate, value = np.split(x.astype(np.float64), 2, axis=1)
    expected = gate / (1 + np.exp(-gate)) * value
    assert_close(out.numpy(), expected, EPS16 * np.abs(expected) + 2.0**-24)  # one rounding; subnormals are 2^-24 apart


@triton.jit
def softmax_rows(x, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * width + i, mask=i < width, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * width + i, power / tl.sum(power, axis=0), mask=i < width)


def test_softmax():
    x = normal(17, 300) * 4
    out = zeros((17, 300))
    softmax_rows[(17,)](Array(x), out, 300, BLOCK=512)
    # exp() multiplies its argument, of magnitude at most 40, by log2(e) and rounds the product. The sum of 512 terms is
    # computed as a tree.
    assert_close(out.numpy(), softmax(x), 64 * EPS32 * softmax(x) + 1e-30)


@triton.jit
def layer_norm(x, weight, bias, out, width, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < width
    value = tl.load(x + row * width + i, mask=mask, other=0.0)
    mean = tl.sum(value, axis=0) / width
    centred = tl.where(mask, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / width + eps)
    tl.store(out + row * width + i, centred * scale * tl.load(weight + i, mask=mask) + tl.load(bias + i, mask=mask), mask=mask)


def test_layer_norm():
    x, weight, bias = normal(9, 200) + 3, normal(200), normal(200)
    out = zeros((9, 200))
    layer_norm[(9,)](Array(x), Array(weight), Array(bias), out, 200, 1e-5, BLOCK=256)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * weight + bias
    assert_close(out.numpy(), expected, 16 * EPS32 * (np.abs(expected) + np.abs(x * weight) + np.abs(bias)))


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr, PRECISION: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=SUM)
    for start in range(0, K, BK):
        at = start + k
        left = tl.load(a + m[:, None] * K + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0)
        right = tl.load(b + at[:, None] * N + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def multiply(a, b, out, sum_type=tl.float32, precision="tf32"):
    (m, k), n = a.values.shape, b.values.shape[1]
    matmul[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, BM=32, BN=32, BK=32, SUM=sum_type, PRECISION=precision)
    return out.numpy()


def test_matmul_float16():
    a, b = normal(70, 90).astype(np.float16), normal(90, 50).astype(np.float16)
    product = multiply(Array(a), Array(b), zeros((70, 50)))
    assert_close(product, a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b))


def test_matmul_bfloat16():
    a, b = to_bf16(normal(64, 64)), to_bf16(normal(64, 64))
    product = from_bf16(multiply(Array(a, tl.bfloat16), Array(b, tl.bfloat16), Array(np.zeros((64, 64), np.uint16), tl.bfloat16)))
    a, b = from_bf16(a), from_bf16(b)
    assert_close(product, a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b, EPS_BF16))


def test_matmul_tf32():
    a, b = normal(33, 65), normal(65, 40)
    product = multiply(Array(a), Array(b), zeros((33, 40)))
    # A tensor core reads 10 bits of the fraction of an operand. Triton truncates or rounds each operand, which changes
    # the operand by at most 2^-10 of its magnitude.
    assert_close(product, a.astype(np.float64) @ b.astype(np.float64), product_bound(a, b, 2 * 2.0**-10))
    exact = to_tf32(a), to_tf32(b)
    product = multiply(Array(exact[0]), Array(exact[1]), zeros((33, 40)))  # these operands are exact in tf32
    assert_close(product, exact[0].astype(np.float64) @ exact[1].astype(np.float64), product_bound(*exact))


def test_matmul_int8():
    a, b = rng.integers(-128, 128, (40, 64), np.int8), rng.integers(-128, 128, (64, 48), np.int8)
    product = multiply(Array(a), Array(b), zeros((40, 48), np.int32), tl.int32)
    np.testing.assert_array_equal(product, a.astype(np.int32) @ b.astype(np.int32))


@triton.jit
def attention(q, k, v, out, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Computes causal attention. Each program computes BM rows of one head, and updates the sums of the softmax for
    each block of keys."""
    head = tl.program_id(1) * T * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    mixed = tl.zeros((BM, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        columns = start + tl.arange(0, BN)
        key = tl.load(k + head + columns[None, :] * D + d[:, None])
        score = tl.dot(query, key) * scale
        score = tl.where(rows[:, None] >= columns[None, :], score, -float("inf"))
        new = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp(score - new[:, None])
        shrink = tl.exp(largest - new)
        value = tl.load(v + head + columns[:, None] * D + d[None, :])
        mixed = mixed * shrink[:, None] + tl.dot(weight.to(tl.float16), value)
        total = total * shrink + tl.sum(weight, axis=1)
        largest = new
    tl.store(out + head + rows[:, None] * D + d[None, :], mixed / total[:, None])


def test_attention():
    heads, length, depth = 2, 64, 32
    q, k, v = (normal(heads, length, depth).astype(np.float16) for _ in range(3))
    out = zeros((heads, length, depth))
    attention[(length // 32, heads)](Array(q), Array(k), Array(v), out, length, depth**-0.5, D=depth, BM=32, BN=32)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) * depth**-0.5
    weights = softmax(np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf))
    # Rounding the weights to float16 adds a relative error of at most EPS16 / 2; the rounding errors of float32 are far
    # smaller.
    assert_close(out.numpy(), weights @ v.astype(np.float64), EPS16 * (weights @ np.abs(v.astype(np.float64))) + 1e-6)


@triton.jit
def linear_step(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans(x, gate, sums, states, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(value, axis=0))
    _, state = tl.associative_scan((tl.load(gate + i), value), 0, linear_step)
    tl.store(states + i, state)


def test_scans():
    x, gate = normal(3, 256), rng.random((3, 256)).astype(np.float32)
    sums, states = zeros((3, 256)), zeros((3, 256))
    scans[(3,)](Array(x), Array(gate), sums, states, SIZE=256)
    assert_close(sums.numpy(), np.cumsum(x.astype(np.float64), 1), sum_bound(256, np.cumsum(np.abs(x), 1)))
    expected, largest, at, size = np.zeros((3, 256)), np.zeros((3, 256)), np.zeros(3), np.zeros(3)
    for i in range(256):
        at, size = at * gate[:, i] + x[:, i], size * gate[:, i] + np.abs(x[:, i])
        expected[:, i], largest[:, i] = at, size
    assert_close(states.numpy(), expected, sum_bound(32, largest))  # 8 levels of the scan with at most 4 roundings each


@triton.jit
def column_statistics(x, sums, largest, positions, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    value = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(sums + c, tl.sum(value, axis=0))
    tl.store(largest + c, tl.max(value, axis=0))
    tl.store(positions + r, tl.argmin(value, axis=1))


def test_reductions():
    x = normal(64, 32)
    sums, largest, positions = zeros(32), zeros(32), zeros(64, np.int32)
    column_statistics[(1,)](Array(x), sums, largest, positions, R=64, C=32)
    assert_close(sums.numpy(), x.astype(np.float64).sum(0), sum_bound(64, np.abs(x).sum(0)))
    np.testing.assert_array_equal(largest.numpy(), x.max(0))
    np.testing.assert_array_equal(positions.numpy(), x.argmin(1))


@triton.jit
def welford(mean1, square1, count1, mean2, square2, count2):
    count = count1 + count2
    share = tl.where(count == 0, 0.0, count2 / count)
    delta = mean2 - mean1
    return mean1 + delta * share, square1 + square2 + delta * delta * count1 * share, count


@triton.jit
def variance(x, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * width + i, mask=i < width, other=0.0)
    count = tl.where(i < width, 1.0, 0.0)
    _, square, total = tl.reduce((value, tl.zeros_like(value), count), 0, welford)
    tl.store(out + row, square / total)


def test_variance_by_a_custom_reduction():
    x = normal(6, 100) + 5
    out = zeros(6)
    variance[(6,)](Array(x), out, 100, BLOCK=128)
    expected = x.astype(np.float64).var(1)
    assert_close(out.numpy(), expected, sum_bound(7, 4 * (expected + np.abs(x).max())))  # the sum is computed as a tree of 7 levels


@triton.jit
def histogram(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(value, BINS, mask=i < n))


def test_histogram():
    x = rng.integers(0, 32, 1000, np.int32)
    counts = zeros(32, np.int32)
    histogram[(4,)](Array(x), counts, 1000, BINS=32, BLOCK=256)
    np.testing.assert_array_equal(counts.numpy(), np.bincount(x, minlength=32))


@triton.jit
def atomics(x, largest, sums, lock, total, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + i)
    tl.atomic_max(largest, tl.max(value, axis=0))
    tl.atomic_add(sums + (i & 7), value.to(tl.float32))
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:  # the lock protects the addition to total, which is not atomic
        pass
    tl.store(total, tl.load(total) + tl.sum(value, axis=0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


def test_atomics():
    x = rng.integers(-1000, 1000, 1024, np.int32)
    largest, sums, lock, total = Array(np.full(1, -5000, np.int32)), zeros(8), zeros(1, np.int32), zeros(1, np.int32)
    atomics[(8,)](Array(x), largest, sums, lock, total, SIZE=128)
    assert (int(largest.numpy()[0]), int(total.numpy()[0]), int(lock.numpy()[0])) == (x.max(), x.sum(), 0)
    np.testing.assert_array_equal(sums.numpy(), x.reshape(-1, 8).sum(0))  # integers below 2^24 are exact


@triton.jit
def sort_rows(x, sorted, top, N: tl.constexpr, K: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, N)
    value = tl.load(x + row * N + i)
    tl.store(sorted + row * N + i, tl.sort(value))
    tl.store(top + row * K + tl.arange(0, K), tl.topk(value, K))


def test_sort_and_topk():
    x = normal(4, 32)
    ordered, top = zeros((4, 32)), zeros((4, 4))
    sort_rows[(4,)](Array(x), ordered, top, N=32, K=4)
    np.testing.assert_array_equal(ordered.numpy(), np.sort(x, 1))
    np.testing.assert_array_equal(top.numpy(), -np.sort(-x, 1)[:, :4])


@triton.jit
def random_numbers(bits, uniform, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(bits + i, tl.randint(seed, i).to(tl.uint32, bitcast=True))
    tl.store(uniform + i, tl.rand(seed, i))


def philox(seed, counter):
    """Returns the first of the four words of Philox4x32-10 (Salmon et al., 2011)."""
    c = [np.asarray(counter, np.uint64), *(np.zeros(len(counter), np.uint64) for _ in range(3))]
    key, low = [seed & 0xFFFFFFFF, seed >> 32], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def test_random_numbers():
    bits, uniform = zeros(512, np.uint32), zeros(512)
    random_numbers[(2,)](bits, uniform, 12345, BLOCK=256)
    np.testing.assert_array_equal(bits.numpy(), philox(12345, np.arange(512)))
    assert 0 <= uniform.numpy().min() and uniform.numpy().max() < 1
    assert abs(uniform.numpy().mean() - 0.5) < 5 / np.sqrt(12 * 512)  # within 5 standard deviations of the mean


@triton.jit
def transpose(x, out, M, N, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(tile), mask=(n[:, None] < N) & (m[None, :] < M))


def test_transpose():
    x = normal(70, 45)
    out = zeros((45, 70))
    transpose[(3, 2)](Array(x), out, 70, 45, B=32)
    np.testing.assert_array_equal(out.numpy(), x.T)


@triton.jit
def cross_entropy(x, target, loss, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * classes + i, mask=i < classes, other=-float("inf"))
    largest = tl.max(value, axis=0)
    logsum = largest + tl.log(tl.sum(tl.exp(value - largest), axis=0))
    tl.store(loss + row, logsum - tl.load(x + row * classes + tl.load(target + row)))


def test_cross_entropy():
    x, target = normal(20, 100) * 3, rng.integers(0, 100, 20, np.int64)
    loss = zeros(20)
    cross_entropy[(20,)](Array(x), Array(target), loss, 100, BLOCK=128)
    wide = x.astype(np.float64)
    expected = np.log(np.exp(wide).sum(1)) - wide[np.arange(20), target]
    assert_close(loss.numpy(), expected, 16 * EPS32 * (np.abs(wide).max(1) + 1))


@triton.jit
def rotate(x, out, heads, D: tl.constexpr):
    """Applies rotary position embedding to pairs of adjacent elements. The position is the first program index."""
    position, head, i = tl.program_id(0), tl.program_id(1), tl.arange(0, D)
    pairs = tl.reshape(tl.load(x + (position * heads + head) * D + i), (D // 2, 2))
    first, second = tl.split(pairs)
    angle = position * tl.exp(tl.arange(0, D // 2).to(tl.float32) * (-2 * 9.210340371976184 / D))  # 10000^(-2 i / D)
    rotated = tl.join(first * tl.cos(angle) - second * tl.sin(angle), first * tl.sin(angle) + second * tl.cos(angle))
    tl.store(out + (position * heads + head) * D + i, tl.reshape(rotated, (D,)))


def test_rotary_embedding():
    x = normal(10, 3, 64)
    out = zeros(x.shape)
    rotate[(10, 3)](Array(x), out, 3, D=64)
    angles = np.arange(10)[:, None] * 10000.0 ** (-np.arange(32) / 32)
    turned = (x[..., ::2] + 1j * x[..., 1::2].astype(np.float64)) * np.exp(1j * angles)[:, None]
    expected = np.stack([turned.real, turned.imag], -1).reshape(x.shape)
    # The angle, at most 9 radians, is rounded a few times. An error of the angle [radians] causes an equal error of the
    # result, relative to the magnitude of the pair of elements.
    assert_close(out.numpy(), expected, 64 * EPS32 * np.repeat(np.abs(turned), 2, -1))


@triton.jit
def embedding_backward(indices, gradient, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < width
    row_out = tl.load(indices + row)
    tl.atomic_add(out + row_out * width + i, tl.load(gradient + row * width + i, mask=mask), mask=mask)


def test_embedding_backward():
    indices, gradient = rng.integers(0, 7, 40, np.int64), normal(40, 24)
    out = zeros((7, 24))
    embedding_backward[(40,)](Array(indices), Array(gradient), out, 24, BLOCK=32)
    expected, magnitude = np.zeros((7, 24)), np.zeros((7, 24))
    np.add.at(expected, indices, gradient.astype(np.float64))
    np.add.at(magnitude, indices, np.abs(gradient))
    assert_close(out.numpy(), expected, sum_bound(40, magnitude))


@triton.jit
def collatz(x, steps, N: tl.constexpr):
    """Each program counts the steps of the Collatz sequence from an element of x to 1, so the length of its loop
    depends on the data."""
    value, count = tl.load(x + tl.program_id(0)), 0
    while value != 1:
        value = tl.where(value % 2 == 0, value // 2, 3 * value + 1)
        count += 1
    tl.store(steps + tl.program_id(0), count)


def test_loop_of_unknown_length():
    def steps_of(value):
        return 0 if value == 1 else 1 + steps_of(value // 2 if value % 2 == 0 else 3 * value + 1)

    x = np.arange(1, 31, dtype=np.int64)
    steps = zeros(30, np.int32)
    collatz[(30,)](Array(x), steps, N=30)
    assert steps.numpy().tolist() == [steps_of(int(value)) for value in x]


@triton.jit
def byte_sums(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise("dp4a.u32.u32 $0, $1, 0x01010101, 0;", "=r,r", [tl.load(x + i)],
                                      dtype=tl.uint32, is_pure=True, pack=1)  # fmt: skip
    tl.store(out + i, value)


def test_inline_assembly():
    x = rng.integers(0, 2**32, 128, np.uint32)
    out = zeros(128, np.uint32)
    byte_sums[(1,)](Array(x), out, BLOCK=128)
    np.testing.assert_array_equal(out.numpy(), x.view(np.uint8).reshape(-1, 4).sum(1))


@triton.jit
def print_values(x):
    tl.device_print("value", tl.load(x + tl.program_id(0)))


def test_print(capfd):
    print_values[(3,)](Array(np.array([10, 20, 30], np.int32)), num_warps=1)
    synchronize()
    printed = capfd.readouterr().out
    assert [printed.count(f"value: {number}") for number in (10, 20, 30)] == [32, 32, 32], printed


@triton.jit
def evict_first(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, eviction_policy="evict_first")
    tl.store(out + i, value * value, eviction_policy="evict_last")


def test_eviction_policies():
    x = normal(256)
    out = zeros(256)
    evict_first[(1,)](Array(x), out, BLOCK=256)
    np.testing.assert_array_equal(out.numpy(), x * x)
