# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's exported functions against references according to their documentation."""

import ml_dtypes
import numpy as np
from device import run_exported
from philox import uniforms
from table import assert_near, assert_same, kernel

F16, BF16, F32, I32 = np.float16, ml_dtypes.bfloat16, np.float32, np.int32
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
BOTH = {"float16": (F16,), "bfloat16": (BF16,)}
EPSILON = 1e-5


def normal(random, dtype, *shape):
    return random.standard_normal(shape).astype(dtype)


def wide(x):
    return x.astype("float64")


def empty(shape, dtype):
    return np.zeros(shape, dtype)


# norm


def rms_norm(x, weight, bias=0.0):
    x = wide(x)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * (bias + wide(weight))


def layer_norm(x, gamma, beta):
    x = wide(x)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON) * gamma + beta


NORMS = {f"{name} {rows}x{size}": (*dtype, rows, size) for name, dtype in BOTH.items() for rows, size in ((3, 256), (2, 111))}


@kernel("norm", "rmsnorm", NORMS)
def _(norm, random, dtype, rows, size):
    x, weight = normal(random, dtype, rows, size), normal(random, dtype, size)
    assert_near(run_exported(norm.rmsnorm, empty(x.shape, dtype), x, weight, EPSILON, False)[0], rms_norm(x, weight))


@kernel("norm", "rmsnorm of heads", BOTH)
def _(norm, random, dtype):
    x, weight = normal(random, dtype, 3, 5, 64), normal(random, dtype, 64)
    assert_near(run_exported(norm.rmsnorm, empty(x.shape, dtype), x, weight, EPSILON, False)[0], rms_norm(x, weight))


@kernel("norm", "rmsnorm_quant", {"e4m3": (F16, E4M3), "e5m2": (BF16, E5M2)})
def _(norm, random, dtype, to):
    x, weight, scale = normal(random, dtype, 3, 512), normal(random, dtype, 512), np.array([0.75], F32)
    out = run_exported(norm.rmsnorm_quant, empty(x.shape, to), x, weight, scale, EPSILON, False)[0]
    assert_near(out, rms_norm(x, weight) / 0.75)


@kernel("norm", "fused_add_rmsnorm", BOTH)
def _(norm, random, dtype):
    x, residual, weight = normal(random, dtype, 3, 512), normal(random, dtype, 3, 512), normal(random, dtype, 512)
    out = run_exported(norm.fused_add_rmsnorm, x, residual, weight, EPSILON, False)
    total = wide(x) + wide(residual)
    assert_near(out[1], total)
    assert_near(out[0], rms_norm(total, weight))


@kernel("norm", "fused_add_rmsnorm_quant", {"e4m3": (BF16, E4M3), "e5m2": (F16, E5M2)})
def _(norm, random, dtype, to):
    x, residual, weight = normal(random, dtype, 3, 512), normal(random, dtype, 3, 512), normal(random, dtype, 512)
    out = run_exported(norm.fused_add_rmsnorm_quant, empty(x.shape, to), x, residual, weight, np.array([1.5], F32), EPSILON, False)
    total = wide(x) + wide(residual)
    assert_near(out[2], total)
    assert_near(out[0], rms_norm(total, weight) / 1.5)


@kernel("norm", "fused_add_rmsnorm_fp8_block_quant")
def _(norm, random):
    x, residual, weight = normal(random, BF16, 3, 512), normal(random, BF16, 3, 512), normal(random, BF16, 512)
    out = run_exported(norm.fused_add_rmsnorm_fp8_block_quant, empty(x.shape, E4M3), empty((4, 4), F32),
                       empty(x.shape, BF16), x, residual, weight, EPSILON, False)  # fmt: skip
    total = (wide(x) + wide(residual)).astype(BF16)
    normed = rms_norm(total, weight)
    assert_near(out[2], normed, steps=2)
    most = np.abs(wide(out[2])).reshape(3, 4, 128).max(2)
    assert_near(out[1][:, :3].T, most / 448, BF16, 2)
    assert_near(wide(out[0]) * np.repeat(out[1][:, :3].T, 128, 1), normed, E4M3)


@kernel("norm", "gemma_rmsnorm", BOTH)
def _(norm, random, dtype):
    x, weight = normal(random, dtype, 3, 512), normal(random, dtype, 512)
    assert_near(run_exported(norm.gemma_rmsnorm, empty(x.shape, dtype), x, weight, EPSILON, False)[0], rms_norm(x, weight, 1))


@kernel("norm", "gemma_fused_add_rmsnorm", BOTH)
def _(norm, random, dtype):
    x, residual, weight = normal(random, dtype, 3, 512), normal(random, dtype, 3, 512), normal(random, dtype, 512)
    out = run_exported(norm.gemma_fused_add_rmsnorm, x, residual, weight, EPSILON, False)
    total = wide(x) + wide(residual)
    assert_near(out[1], total)
    assert_near(out[0], rms_norm(total, weight, 1))


@kernel("norm", "layernorm")
def _(norm, random):
    x, gamma, beta = normal(random, BF16, 3, 512), normal(random, F32, 512), normal(random, F32, 512)
    assert_near(run_exported(norm.layernorm, empty(x.shape, BF16), x, gamma, beta, EPSILON)[0], layer_norm(x, gamma, beta), steps=2)


@kernel("norm", "layernorm_quant")
def _(norm, random):
    x, gamma, beta = normal(random, BF16, 3, 512), normal(random, F32, 512), normal(random, F32, 512)
    out = run_exported(norm.layernorm_quant, empty(x.shape, E4M3), x, gamma, beta, np.array([0.5], F32), EPSILON)[0]
    assert_near(out, layer_norm(x, gamma, beta) / 0.5, steps=2)


# activation


def erf(x):
    from math import erf

    return np.vectorize(erf)(x)


ACTIVATIONS = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x / 2 * (1 + erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))),
}
SIZES = {f"{name} {size}": (*dtype, size) for name, dtype in BOTH.items() for size in (512, 100, 37)}
for activation in ACTIVATIONS:

    @kernel("activation", f"{activation}_and_mul", SIZES)
    def _(activations, random, dtype, size, activation=activation):
        x = normal(random, dtype, 3, 2 * size)
        function = getattr(activations, f"{activation}_and_mul")
        out = run_exported(function, empty((3, size), dtype), x, False)[0]
        assert_near(out, ACTIVATIONS[activation](wide(x[:, :size])) * wide(x[:, size:]), steps=2)


# rope


def rotated(x, cosines, sines, interleaved):
    """Returns x with a rotary position embedding. x has the shape (tokens, heads, size); cosines and sines have the
    shape (tokens, half of the rotated size)."""
    x, out, half = wide(x), wide(x), cosines.shape[1]
    first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    c, s = cosines[:, None], sines[:, None]
    out[..., first] = x[..., first] * c - x[..., second] * s
    out[..., second] = x[..., second] * c + x[..., first] * s
    return out


def angles(positions, size, scale, theta, llama=None):
    frequency = theta ** (-2 * np.arange(size // 2) / size)
    if llama:
        low, high, length = llama
        smooth = np.clip((length * frequency / (2 * np.pi) - low) / (high - low), 0, 1)
        frequency = frequency * ((1 - smooth) / scale + smooth)
    else:
        frequency = frequency / scale
    angle = positions[:, None] * frequency
    return np.cos(angle), np.sin(angle)


LLAMA = (1.0, 4.0, 8192.0)
ROPES = {f"{name}{how}": (*dtype, interleaved) for name, dtype in BOTH.items()
         for how, interleaved in ((", halves", False), (", interleaved", True))}  # fmt: skip


def check_rotated(out, q, k, table, interleaved):
    # The tolerance is large because the kernel computes angles in float and approximates sine and cosine.
    for actual, x in ((out[2], q), (out[3], k)):
        np.testing.assert_allclose(wide(actual), rotated(x, *table, interleaved), rtol=2e-2, atol=2e-2)


for name, more in {"apply_rope": None, "apply_llama31_rope": LLAMA}.items():

    @kernel("rope", name, ROPES)
    def _(rope, random, dtype, interleaved, name=name, more=more):
        q, k = normal(random, dtype, 11, 4, 64), normal(random, dtype, 11, 2, 64)
        indptr, offsets = np.array([0, 4, 4, 11], I32), np.array([3, 0, 9], I32)
        positions = np.concatenate([np.arange(4) + 3, np.arange(7) + 9])
        out = run_exported(getattr(rope, name), q, k, empty(q.shape, dtype), empty(k.shape, dtype), indptr, offsets,
                           64, interleaved, 1.5, 1e4, *(more or ()))  # fmt: skip
        check_rotated(out, q, k, angles(positions, 64, 1.5, 1e4, more), interleaved)

    @kernel("rope", name + "_pos_ids", ROPES)
    def _(rope, random, dtype, interleaved, name=name + "_pos_ids", more=more):
        q, k = normal(random, dtype, 9, 4, 64), normal(random, dtype, 9, 2, 64)
        positions = random.integers(0, 50, 9, dtype=I32)
        out = run_exported(getattr(rope, name), q, k, empty(q.shape, dtype), empty(k.shape, dtype), positions,
                           64, interleaved, 1.5, 1e4, *(more or ()))  # fmt: skip
        check_rotated(out, q, k, angles(positions, 64, 1.5, 1e4, more), interleaved)


@kernel("rope", "apply_rope_pos_ids_cos_sin_cache", ROPES)
def _(rope, random, dtype, interleaved):
    q, k = normal(random, dtype, 9, 4, 64), normal(random, dtype, 9, 2, 64)
    positions, cache = random.integers(0, 50, 9, dtype=I32), normal(random, F32, 50, 64)
    out = run_exported(rope.apply_rope_pos_ids_cos_sin_cache, q, k, empty(q.shape, dtype), empty(k.shape, dtype), cache,
                       positions, interleaved)  # fmt: skip
    table = cache[positions, :32], cache[positions, 32:]
    assert_near(out[2], rotated(q, *table, interleaved), steps=2)
    assert_near(out[3], rotated(k, *table, interleaved), steps=2)


@kernel("rope", "rope_quantize", {"e4m3": (E4M3, False), "e5m2, interleaved": (E5M2, True)})
def _(rope, random, to, interleaved):
    rotary = [normal(random, BF16, 5, heads, 64) for heads in (4, 2)]
    plain = [normal(random, BF16, 5, heads, 32) for heads in (4, 2)]
    positions, cache = random.integers(0, 50, 5, dtype=I32), normal(random, F32, 50, 64)
    passed = rotary + plain
    out = run_exported(rope.rope_quantize, *passed, *(empty(x.shape, to) for x in passed), cache, positions, 0.5, 2.0,
                       interleaved, False)[4:8]  # fmt: skip
    table = cache[positions, :32], cache[positions, 32:]
    expected = [rotated(x, *table, interleaved) for x in rotary] + [wide(x) for x in plain]
    for actual, sums, scale in zip(out, expected, (0.5, 2.0, 0.5, 2.0)):
        assert_near(actual, sums * scale)


# page


def pages(random, lengths, size):
    """Assigns pages to requests of these lengths. Returns the list of all requests' pages, the start of each request in
    this list, the number of tokens in the last page of each request, and the request and position of each token."""
    counts = [-(-length // size) for length in lengths]
    indptr = np.cumsum([0, *counts]).astype(I32)
    indices = random.permutation(indptr[-1] + 2)[: indptr[-1]].astype(I32)
    last = np.array([(length - 1) % size + 1 for length in lengths], I32)
    request = np.repeat(np.arange(len(lengths)), lengths).astype(I32)
    position = np.concatenate([np.arange(length) for length in lengths]).astype(I32)
    return indices, indptr, last, request, position


@kernel("page", "append_paged_kv_cache", {f"{name}, {how}": (*dtype, layout) for name, dtype in
                                          {**BOTH, "float8_e4m3fn": (E4M3,)}.items()
                                          for how, layout in (("NHD", 0), ("HND", 1))})  # fmt: skip
def _(page, random, dtype, layout):
    size, heads, length = 4, 2, 64
    indices, indptr, last, request, position = pages(random, (5, 1, 12), size)
    k, v = normal(random, dtype, len(request), heads, length), normal(random, dtype, len(request), heads, length)
    shape = (len(indices) + 2, *((size, heads) if layout == 0 else (heads, size)), length)
    cache = [normal(random, dtype, *shape) for _ in range(2)]
    expected = [array.copy() for array in cache]
    for token, (r, p) in enumerate(zip(request, position)):
        at = indices[indptr[r] + p // size]
        for array, x in zip(expected, (k, v)):
            if layout == 0:
                array[at, p % size] = x[token]
            else:
                array[at, :, p % size] = x[token]
    out = run_exported(page.append_paged_kv_cache, k, v, request, position, *cache, indices, indptr, last, layout)
    assert_same(out[4].view("uint8"), expected[0].view("uint8"))
    assert_same(out[5].view("uint8"), expected[1].view("uint8"))


@kernel("page", "append_paged_mla_kv_cache", BOTH)
def _(page, random, dtype):
    size = 4
    indices, indptr, last, request, position = pages(random, (5, 1, 12), size)
    ckv, kpe = normal(random, dtype, len(request), 512), normal(random, dtype, len(request), 64)
    caches = [normal(random, dtype, len(indices) + 2, size, array.shape[1]) for array in (ckv, kpe)]
    expected = [array.copy() for array in caches]
    for token, (r, p) in enumerate(zip(request, position)):
        for array, x in zip(expected, (ckv, kpe)):
            array[indices[indptr[r] + p // size], p % size] = x[token]
    out = run_exported(page.append_paged_mla_kv_cache, ckv, kpe, request, position, *caches, indices, indptr, last)
    assert_same(out[4].view("uint16"), expected[0].view("uint16"))
    assert_same(out[5].view("uint16"), expected[1].view("uint16"))


# cascade


def merged(v, s):
    """Merges states of attention along axis 0: results `v`, and logarithms `s` to base 2 of the sums of their
    weights."""
    weights = 2.0 ** (wide(s) - wide(s).max(0))
    total = weights.sum(0)
    return (wide(v) * weights[..., None]).sum(0) / total[..., None], np.log2(total) + wide(s).max(0)


@kernel("cascade", "merge_state", BOTH)
def _(cascade, random, dtype):
    v, s = normal(random, dtype, 2, 5, 4, 64), normal(random, F32, 2, 5, 4)
    out = run_exported(cascade.merge_state, v[0], s[0], v[1], s[1], empty(v[0].shape, dtype), empty(s[0].shape, F32))
    expected = merged(v, s)
    assert_near(out[4], expected[0])
    assert_near(out[5], expected[1], F32, 64)


@kernel("cascade", "merge_state_in_place", {"all": (False,), "masked": (True,)})
def _(cascade, random, is_masked):
    v, s = normal(random, F16, 2, 5, 4, 128), normal(random, F32, 2, 5, 4)
    mask = np.array([1, 0, 1, 1, 0], "uint8")
    out = run_exported(cascade.merge_state_in_place, v[0], s[0], v[1], s[1], mask if is_masked else None)
    taken = np.full(5, True) if not is_masked else mask == 1
    expected = merged(v, s)
    assert_near(out[0], np.where(taken[:, None, None], expected[0], wide(v[0])))
    assert_near(out[1], np.where(taken[:, None], expected[1], s[0]), F32, 64)


@kernel("cascade", "merge_states", {"few": (3, F16), "many": (70, BF16)})
def _(cascade, random, count, dtype):
    v, s = normal(random, dtype, 5, count, 4, 64), normal(random, F32, 5, count, 4)
    out = run_exported(cascade.merge_states, v, s, empty((5, 4, 64), dtype), empty((5, 4), F32))
    expected = merged(np.moveaxis(v, 1, 0), np.moveaxis(s, 1, 0))
    # The tolerance covers the rounding of partial sums, which warps exchange in the dtype.
    np.testing.assert_allclose(wide(out[2]), expected[0], rtol=2**-8, atol=2e-3)
    assert_near(out[3], expected[1], F32, 64)


# quantization


@kernel("quantization", "packbits", {order: (order,) for order in ("big", "little")})
def _(quantization, random, order):
    x = random.integers(0, 2, 999).astype(bool)
    assert_same(run_exported(quantization.packbits, x, order, empty(125, "uint8"))[1], np.packbits(x, bitorder=order))


@kernel("quantization", "segment_packbits", {order: (order,) for order in ("big", "little")})
def _(quantization, random, order):
    lengths = [13, 0, 800, 64]
    x = random.integers(0, 2, sum(lengths)).astype(bool)
    begins = np.cumsum([0, *lengths]).astype(I32)
    to = np.cumsum([0, *(-(-length // 8) for length in lengths)]).astype(I32)
    out = run_exported(quantization.segment_packbits, x, begins, to, order, empty(to[-1], "uint8"))[3]
    parts = [np.packbits(x[a:b], bitorder=order) for a, b in zip(begins, begins[1:])]
    assert_same(out, np.concatenate(parts))


# Sampling. Probabilities are multiples of 2^-16, so their sums are exact in any order.

SEED, OFFSET = 123456789, 8
UNIT = 2**16


def probabilities(random, rows, size):
    weights = np.floor(random.dirichlet(np.full(size, 0.1), rows) * (UNIT - size)) + 1
    weights[:, 0] += UNIT - weights.sum(1)
    return (weights / UNIT).astype(F32)


def first_above(probs, chosen, u):
    sums = np.cumsum(np.where(chosen, probs, 0))
    return int(np.argmax((sums > u) & chosen)) if sums[-1] > u else int(np.nonzero(chosen)[0][-1])


def by_rejection(probs, numbers, is_enough):
    """Returns a sample from the largest probabilities, by the algorithm without sorting that FlashInfer's documentation
    of sampling describes."""
    low, high, q = F32(0), F32(1), F32(1)
    while low < high:
        sampled = first_above(probs, probs > low, F32(next(numbers) * q))
        pivots = probs[sampled], F32(F32(probs[sampled] + high) * F32(0.5))
        above = [(int((probs > pivot).sum()), probs[probs > pivot].sum()) for pivot in pivots]
        if is_enough(*above[0]):
            return sampled
        if is_enough(*above[1]):
            low, high, q = *pivots, above[0][1]
        else:
            low, q = pivots[1], above[1][1]
    return sampled


def check_sampled(function, random, expected, *middle, rows=6, size=1000):
    probs = probabilities(random, rows, size)
    out = run_exported(function, probs, empty(rows, I32), empty(rows, bool), None, *middle, True, None, SEED, None, OFFSET)
    assert_same(out[1], [expected(row_of_probs, uniforms(SEED, row, OFFSET)) for row, row_of_probs in enumerate(probs)])
    assert_same(out[2], np.full(rows, True))


@kernel("sampling", "softmax", {"fused": (1000, 4), "in slices": (30000, 2)})
def _(sampling, random, size, rows):
    x, work = 3 * normal(random, F32, rows, size), empty(1 << 16, "uint8")
    out = run_exported(sampling.softmax, work, x, empty(x.shape, F32), None, 0.7, False)[2]
    e = np.exp((wide(x) - wide(x).max(1, keepdims=True)) / 0.7)
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-12)


@kernel("sampling", "sampling_from_probs", {"1000": (1000,), "999": (999,)})
def _(sampling, random, size):
    check_sampled(sampling.sampling_from_probs, random, lambda p, u: first_above(p, p > 0, next(u)), size=size)


@kernel("sampling", "top_k_sampling_from_probs")
def _(sampling, random):
    check_sampled(sampling.top_k_sampling_from_probs, random,
                  lambda p, u: by_rejection(p, u, lambda count, _: count < 20), None, 20)  # fmt: skip


@kernel("sampling", "top_p_sampling_from_probs")
def _(sampling, random):
    check_sampled(sampling.top_p_sampling_from_probs, random,
                  lambda p, u: by_rejection(p, u, lambda _, total: total < F32(0.4)), None, 0.4)  # fmt: skip


@kernel("sampling", "top_k_top_p_sampling_from_probs")
def _(sampling, random):
    check_sampled(sampling.top_k_top_p_sampling_from_probs, random,
                  lambda p, u: by_rejection(p, u, lambda count, total: count < 30 and total < F32(0.5)),
                  None, 30.0, None, 0.5)  # fmt: skip


@kernel("sampling", "min_p_sampling_from_probs")
def _(sampling, random):
    def expected(p, u):
        chosen = p >= p.max() * F32(0.1)
        return first_above(p, chosen, F32(next(u) * p[chosen].sum()))

    check_sampled(sampling.min_p_sampling_from_probs, random, expected, None, 0.1)


@kernel("sampling", "sampling_from_logits")
def _(sampling, random):
    rows, size = 4, 1000
    x = 2 * normal(random, F32, rows, size)
    out = run_exported(sampling.sampling_from_logits, x, empty(rows, I32), None, True, None, SEED, None, OFFSET)[1]
    for row in range(rows):
        at = np.arange(0, size, 4)
        u = np.stack([uniforms(SEED, row * size + at, OFFSET, 4)], 0).reshape(4, -1).T.ravel()
        noise = -np.log(-np.log(wide(u) * (1 - 2.0**-23)))
        perturbed = x[row] + noise
        assert perturbed[out[row]] >= perturbed.max() - 1e-4


def renormed(probs, selected):
    return np.where(selected, probs, 0) / np.where(selected, probs, 0).sum(1, keepdims=True)


@kernel("sampling", "top_p_renorm_probs")
def _(sampling, random):
    probs = probabilities(random, 4, 1000)
    out = run_exported(sampling.top_p_renorm_probs, probs, empty(probs.shape, F32), None, 0.5, True, empty(1 << 20, "uint8"))[1]
    # The sum of the probabilities above each probability. If the sum is below p = 0.5, the probability belongs to the
    # smallest set of largest probabilities whose sum is at least p.
    above = np.array([[row[row > value].sum() for value in row] for row in wide(probs)])
    np.testing.assert_allclose(out, renormed(wide(probs), above < 0.5), rtol=1e-5)


@kernel("sampling", "top_k_renorm_probs", {"1000": (1000,), "20000": (20000,)})
def _(sampling, random, size):
    probs = probabilities(random, 3, size)
    out = run_exported(sampling.top_k_renorm_probs, probs, empty(probs.shape, F32), None, 17, True, empty(1 << 20, "uint8"))[1]
    selected = probs >= np.sort(probs, 1)[:, -17:-16]
    np.testing.assert_allclose(out, renormed(wide(probs), selected), rtol=1e-5)


@kernel("sampling", "top_k_mask_logits", {"float32": (F32,), "bfloat16": (BF16,)})
def _(sampling, random, dtype):
    x = np.array([random.permutation(1000) for _ in range(3)]).astype(F32) if dtype is F32 else None
    if x is None:  # distinct in bfloat16
        x = np.array([random.permutation(np.arange(0x3c00, 0x3c00 + 1000, dtype="uint16")) for _ in range(3)]).view(BF16)
    out = run_exported(sampling.top_k_mask_logits, x, empty(x.shape, dtype), None, 17, empty(1 << 20, "uint8"))[1]
    selected = wide(x) >= np.sort(wide(x), 1)[:, -17:-16]
    assert_same(wide(out), np.where(selected, wide(x), -np.inf))


@kernel("sampling", "chain_speculative_sampling")
def _(sampling, random):
    rows, count, size = 5, 3, 500
    draft = probabilities(random, rows * count, size).reshape(rows, count, size)
    target = probabilities(random, rows * (count + 1), size).reshape(rows, count + 1, size)
    target[::2, :2] = draft[::2, :2]  # accepted
    ids = draft.argmax(2).astype(I32)
    out = run_exported(sampling.chain_speculative_sampling, draft, ids, target, empty((rows, count + 1), I32),
                       empty(rows, I32), empty(rows, I32), True, None, SEED, None, OFFSET)  # fmt: skip
    for row in range(rows):
        numbers = uniforms(SEED, row, OFFSET)
        at = range(count)
        p, q = ([array[row, i, ids[row, i]] for i in at] for array in (draft, target))
        emitted = next((i for i in at if not next(numbers) * p[i] < q[i]), count)
        accepted = emitted + sum(next(numbers) * p[i] < q[i] for i in range(emitted, count))
        more = np.maximum(target[row, emitted] - (draft[row, emitted] if emitted < count else 0), 0)
        sampled = first_above(more, more > 0, F32(next(numbers) * more.sum()))
        assert_same(out[3][row], [*ids[row, :emitted], sampled, *[-1] * (count - emitted)])
        assert_same([out[4][row], out[5][row]], [accepted, emitted])


# topk


def different(random, dtype, rows, size):
    """Returns numbers that are distinct within each row."""
    if dtype is F32:
        return np.array([random.permutation(size) for _ in range(rows)]).astype(F32) - size // 2
    return np.array([random.permutation(np.arange(0x2000, 0x2000 + size, dtype="uint16")) for _ in range(rows)]).view(dtype)


TOPK = {"float32": (F32, 1000), "float16": (F16, 1000), "bfloat16": (BF16, 1000), "float32, long": (F32, 20000)}


@kernel("topk", "radix_topk", TOPK)
def _(topk, random, dtype, size):
    x, k = different(random, dtype, 3, size), 33
    out = run_exported(topk.radix_topk, x, empty((3, k), I32), empty((3, k), dtype), empty(1 << 20, "uint8"), k, True,
                       True, 1, False)  # fmt: skip
    order = np.argsort(-wide(x), 1)[:, :k]
    assert_same(np.sort(out[1], 1), np.sort(order, 1))
    assert_same(wide(out[2]), np.take_along_axis(wide(x), out[1].astype(int), 1))


@kernel("topk", "radix_topk_page_table_transform")
def _(topk, random):
    x, k, lengths = different(random, F32, 3, 1000), 32, np.array([1000, 500, 20], I32)
    table = random.integers(0, 10**6, (3, 1000)).astype(I32)
    out = run_exported(topk.radix_topk_page_table_transform, x, empty((3, k), I32), table, None, lengths,
                       empty(1 << 20, "uint8"), k, True, 1, 1, False, None, None, None)[1]  # fmt: skip
    for row, length in enumerate(lengths):
        best = table[row, np.argsort(-x[row, :length])[:k]]
        assert_same(np.sort(out[row]), np.sort(np.concatenate([best, np.full(k - len(best), -1)])))


@kernel("topk", "radix_topk_ragged_transform")
def _(topk, random):
    x, k, lengths = different(random, F32, 3, 1000), 32, np.array([1000, 500, 20], I32)
    offsets = np.array([0, 5000, 70], I32)
    out = run_exported(topk.radix_topk_ragged_transform, x, empty((3, k), I32), offsets, lengths, empty(1 << 20, "uint8"),
                       k, True, 1, False, None)[1]  # fmt: skip
    for row, length in enumerate(lengths):
        best = np.argsort(-x[row, :length])[:k] + offsets[row]
        assert_same(np.sort(out[row]), np.sort(np.concatenate([best, np.full(k - len(best), -1)])))
