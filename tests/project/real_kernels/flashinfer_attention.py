# SPDX-License-Identifier: Apache-2.0
"""Compares FlashInfer's attention with a double-precision reference, softmax(q k^T / sqrt(head_size)) v. Each library
implements one kind of attention for one head size and one dtype, such as "single_decode_64_float16". A second dtype in
the name is the dtype of the keys and values, which the reference converts to float64 without scaling:
"single_decode_64_float16_float8_e4m3fn"."""

import itertools

import ml_dtypes
import numpy as np
import tvm_ffi
from device import run_exported, run_plain
from table import kernel

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
OF_KEYS = {"": None, "_float8_e4m3fn": ml_dtypes.float8_e4m3fn, "_float8_e5m2": ml_dtypes.float8_e5m2}
SIZES = (64, 128, 256)
I32 = np.int32
NHD = 0  # layout (tokens, heads, size)
# The largest permitted difference [distances between adjacent numbers of the dtype]: probabilities are rounded to the
# dtype before the multiplication with v, the result is rounded again, and exp2 has an error of up to two units in the
# last place of float.
STEPS = 4


def attention(q, k, v, causal):
    """Returns the reference result. q, k and v have the shape (tokens, heads, size). The last query and the last key
    belong to the same token. Several heads of q share one head of k."""
    q, k, v = (x.astype("float64") for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    logits = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[2])
    if causal:
        logits[:, np.tri(len(q), len(k), len(k) - len(q)) == 0] = -np.inf
    weights = np.exp(logits - logits.max(2, keepdims=True))
    return np.einsum("hqk,khd->qhd", weights / weights.sum(2, keepdims=True), v)


def check(out, expected):
    """Compares results of attention with a reference. The largest permitted difference is STEPS distances between
    adjacent numbers of the dtype.
    """
    bound = STEPS * float(ml_dtypes.finfo(out.dtype).eps)
    np.testing.assert_allclose(out.astype("float64"), expected, rtol=bound, atol=bound)


def normal(random, dtype, *shape):
    return random.standard_normal(shape).astype(dtype)


def scales(size):
    """Returns arguments of an attention kernel: no cap of logits, the scale of logits, and values for unused parameters
    of positions."""
    return 0.0, size**-0.5, 1.0, 1.0


def single_decode(library, random, dtype, of_keys, size):
    for tokens, heads, of_k in ((1, 4, 4), (97, 8, 2), (600, 4, 1)):
        q, k, v = normal(random, dtype, heads, size), *(normal(random, of_keys, tokens, of_k, size) for _ in "kv")
        out = run_exported(library.run, q, k, v, np.zeros(1 << 20, "uint8"), np.zeros_like(q), None, NHD, -1, None, *scales(size))
        check(out[4], attention(q[None], k, v, False)[0])


def single_prefill(library, random, dtype, of_keys, size, causal):
    for queries, tokens, heads, of_k in ((1, 19, 2, 2), (37, 101, 4, 2), (130, 130, 4, 1)):
        q, k, v = normal(random, dtype, queries, heads, size), *(normal(random, of_keys, tokens, of_k, size) for _ in "kv")
        out = run_exported(library.run, q, k, v, np.zeros(1 << 22, "uint8"), np.zeros_like(q), None, int(causal), NHD, -1,
                           None, None, None, None, *scales(size))  # fmt: skip
        check(out[4], attention(q, k, v, causal))


class Pages:
    """The keys and values of several requests, stored in pages whose order is shuffled."""

    def __init__(self, random, dtype, size, heads, lengths, page=5):
        counts = [-(-length // page) for length in lengths]
        self.page, self.lengths = page, lengths
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(I32)
        self.order = random.permutation(sum(counts) + 2)[: sum(counts)].astype(I32)
        self.last = np.array([length - (count - 1) * page for length, count in zip(lengths, counts)], I32)
        shape = (sum(counts) + 2, page, heads, size)
        self.k, self.v = normal(random, dtype, *shape), normal(random, dtype, *shape)

    def keys_and_values(self, request):
        at = self.order[self.starts[request] : self.starts[request + 1]]
        return (x[at].reshape(-1, *x.shape[2:])[: self.lengths[request]] for x in (self.k, self.v))


def workspaces():
    """Returns workspaces for floats and for integers on the device, and the host's copy of the workspace for
    integers."""
    return np.zeros(1 << 24, "uint8"), np.zeros(1 << 20, "uint8"), on_host(np.zeros(1 << 20, "uint8"))


def on_host(array):
    return tvm_ffi.from_dlpack(array)


def batch_decode(library, random, dtype, of_keys, size):
    for heads, of_k in ((4, 4), (8, 2)):
        pages = Pages(random, of_keys, size, of_k, [1, 43, 10, 700])
        q = normal(random, dtype, len(pages.lengths), heads, size)
        empty = np.zeros(0, dtype), np.zeros(0, of_keys)

        def run(floats, integers, host, of_q, k, v, starts, order, last, out, no_q, no_k, heads=heads, of_k=of_k, pages=pages):
            plan = library.plan(floats, integers, host, on_host(pages.starts), len(pages.lengths), heads, of_k, pages.page,
                                False, -1, 0.0, size, size, no_q, no_k)  # fmt: skip
            library.run(floats, integers, plan, of_q, k, v, starts, order, last, out, None, NHD, -1, False, None, *scales(size))

        out = run_exported(run, *workspaces(), q, pages.k, pages.v, pages.starts, pages.order, pages.last, np.zeros_like(q), *empty)
        for request in range(len(q)):
            check(out[8][request], attention(q[request : request + 1], *pages.keys_and_values(request), False)[0])


NOTHING_MORE = (None,) * 8


def batch_prefill(library, random, dtype, of_keys, size, causal):
    queries = [3, 1, 40]
    rows = np.concatenate([[0], np.cumsum(queries)]).astype(I32)
    for heads, of_k in ((2, 2), (4, 1)):
        pages = Pages(random, of_keys, size, of_k, [7, 20, 90])
        q = normal(random, dtype, sum(queries), heads, size)
        lengths = np.array(pages.lengths, I32)

        def plan(of_keys, page, floats, integers, host, heads=heads, of_k=of_k, lengths=lengths):
            return library.plan(floats, integers, host, on_host(rows), on_host(of_keys), on_host(lengths), sum(queries),
                                len(queries), heads, of_k, page, False, size, size, causal, -1, -1, False, 0, 0)  # fmt: skip

        def paged(floats, integers, host, of_q, k, v, of_rows, starts, order, last, out, pages=pages, plan=plan):
            planned = plan(pages.starts, pages.page, floats, integers, host)
            library.paged_run(floats, integers, planned, of_q, k, v, of_rows, starts, order, last, out, None, int(causal), NHD,
                              -1, False, *NOTHING_MORE, *scales(size), 0)  # fmt: skip

        def ragged(floats, integers, host, of_q, k, v, of_rows, starts, out, plan=plan, keys=None):
            planned = plan(np.concatenate([[0], np.cumsum(lengths)]).astype(I32), 1, floats, integers, host)
            library.ragged_run(floats, integers, planned, of_q, k, v, of_rows, starts, out, None, int(causal), NHD, -1, False,
                               *NOTHING_MORE, *scales(size), 0)  # fmt: skip

        out = run_exported(paged, *workspaces(), q, pages.k, pages.v, rows, pages.starts, pages.order, pages.last, np.zeros_like(q))[9]
        k, v = (np.concatenate(x) for x in zip(*(pages.keys_and_values(i) for i in range(len(queries)))))
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(I32)
        of_rows = run_exported(ragged, *workspaces(), q, k, v, rows, starts, np.zeros_like(q))[7]
        for i in range(len(queries)):
            expected = attention(q[rows[i] : rows[i + 1]], *pages.keys_and_values(i), causal)
            check(out[rows[i] : rows[i + 1]], expected)
            check(of_rows[rows[i] : rows[i + 1]], expected)


@kernel("attention", "attention")
def _(library, random):
    for queries, tokens, heads, of_k in ((5, 19, 2, 2), (70, 101, 2, 1)):
        q, k, v = normal(random, np.float16, queries, heads, 64), *(normal(random, np.float16, tokens, of_k, 64) for _ in "kv")
        out = run_plain(library.attention, q, k, v, np.zeros_like(q), queries, tokens, heads, of_k)
        check(out[3], attention(q, k, v, True))


for size, (name, dtype), (more, of_keys) in itertools.product(SIZES, DTYPES.items(), OF_KEYS.items()):
    types = (dtype, of_keys or dtype, size)
    for function in (single_decode, batch_decode):
        kernel(f"{function.__name__}_{size}_{name}{more}", "run", {"": types})(function)
    for function in (single_prefill, batch_prefill):
        options = {how: (*types, causal) for how, causal in (("plain", False), ("causal", True))}
        kernel(f"{function.__name__}_{size}_{name}{more}", "run", options)(function)
