# SPDX-License-Identifier: Apache-2.0
"""Tests of PyTorch with CUDA tensors: memory, streams, generators, graphs and operators. Results are compared with the
CPU's or with formulas."""

import io
import threading

import pytest
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.utils import _pytree as pytree
from torch.utils.dlpack import from_dlpack, to_dlpack

close = torch.testing.assert_close


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def equal_on_both(function, *arguments, rtol=1e-5, atol=1e-6):
    """Fails unless the function returns CUDA tensors for CUDA tensors, with the values that it returns for CPU
    tensors."""
    expected = function(*arguments)
    actual = function(*(argument.cuda() if isinstance(argument, torch.Tensor) else argument for argument in arguments))
    for on_device, on_cpu in zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected)):
        if isinstance(on_cpu, torch.Tensor):
            assert on_device.is_cuda
            close(on_device.cpu(), on_cpu, rtol=rtol, atol=atol)


def side_stream():
    """Returns a new stream that waits for the current stream."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    return stream


# Memory, streams, events.


def test_device():
    assert torch.cuda.is_available()
    assert torch.cuda.get_device_capability() == (8, 0)
    assert "kernkit" in torch.cuda.get_device_name()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total


def test_allocator():
    before = torch.cuda.memory_allocated()
    x = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_allocated() == before + 4096  # PyTorch rounds the size up to a multiple of 512 bytes
    address = x.data_ptr()
    del x
    assert torch.cuda.memory_allocated() == before
    assert torch.empty(1000, device="cuda").data_ptr() == address
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 42, device="cuda")


def test_copies_and_pinned_memory():
    host = torch.randn(1000).pin_memory()
    assert host.is_pinned()
    on_device = host.to("cuda", non_blocking=True)
    back = torch.empty(1000, pin_memory=True)
    back.copy_(on_device, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(back, host)
    half = torch.empty(10, 100, dtype=torch.float16, device="cuda")
    half.t().copy_(host.view(100, 10))  # converts and transposes
    assert torch.equal(half.cpu(), host.view(100, 10).t().half())


def test_streams_and_events():
    x = torch.zeros(1000, device="cuda")
    stream = side_stream()
    with torch.cuda.stream(stream):
        x += 1
        done = stream.record_event()
    torch.cuda.current_stream().wait_event(done)
    x *= 3
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    x += 1
    end.record()
    end.synchronize()
    assert begin.elapsed_time(end) >= 0
    assert x.tolist() == [4] * 1000


def test_sleep():
    x = torch.ones(10, device="cuda")
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    torch.cuda._sleep(100_000_000)
    assert not torch.cuda.current_stream().query(), "the call does not wait"
    end.record()
    assert (x + 1).sum().item() == 20
    assert begin.elapsed_time(end) >= 100, "a microsecond is 1,000 cycles"


def test_dlpack_and_files():
    x = torch.randn(4, 5, device="cuda").t()
    same = from_dlpack(to_dlpack(x))
    assert same.data_ptr() == x.data_ptr()
    assert torch.equal(same, x)
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    assert torch.equal(torch.load(file), x)
    file.seek(0)
    assert torch.load(file, map_location="cpu").device.type == "cpu"


def test_loader_with_pinned_memory():
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=1)
    assert sum(batch.cuda(non_blocking=True).sum().item() for (batch,) in loader) == 28


# Generators.


def test_seeds_and_states():
    def draws():
        return [torch.rand(7, device="cuda"), torch.randn(5, device="cuda"), torch.randperm(9, device="cuda")]

    torch.manual_seed(1)
    first, more = draws(), draws()
    state = torch.cuda.get_rng_state()
    after = draws()
    torch.manual_seed(1)
    assert all(map(torch.equal, first, draws()))
    assert all(map(torch.equal, more, draws()))
    assert not torch.equal(first[0], more[0])
    torch.cuda.set_rng_state(state)
    assert all(map(torch.equal, after, draws()))


def test_offsets():
    generator = torch.Generator("cuda").manual_seed(5)
    torch.rand(1000, device="cuda", generator=generator)
    assert generator.get_offset() == 4  # the offset is 4: each thread called curand4() once
    blocks = torch.cuda.get_device_properties(0).multi_processor_count * 8
    torch.rand(256 * blocks * 4 + 1, device="cuda", generator=generator)
    assert generator.get_offset() == 12  # the offset grew by 8: each thread called curand4() in two iterations of its loop
    generator.set_offset(0)
    again = torch.rand(1000, device="cuda", generator=generator)
    assert torch.equal(again, torch.rand(1000, device="cuda", generator=generator.manual_seed(5)))


def test_dropout():
    x = torch.ones(10000, device="cuda")
    torch.manual_seed(1)
    before = torch.get_rng_state()
    y = F.dropout(x, 0.25)
    assert torch.equal(before, torch.get_rng_state()), "the CPU's generator stays"
    torch.manual_seed(1)
    assert torch.equal(y, F.dropout(x, 0.25))
    assert not torch.equal(y, F.dropout(x, 0.25))
    assert abs((y == 0).float().mean().item() - 0.25) < 0.03
    assert y.unique().tolist() == [0, pytest.approx(4 / 3)]


# Operators.


def test_arithmetic():
    x, y = torch.randn(5, 7), torch.randn(7)
    equal_on_both(lambda x, y: (x * y + 2.5 - x / 3, x > y, x.exp().clamp(max=2), torch.where(x > 0, x, 0.0)), x, y)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.complex64])
def test_dtypes(dtype):
    x = (torch.randn(4, 6) * 5).to(dtype)
    equal_on_both(lambda x: (x * 2 + x, x.t().contiguous(), x.sum(0)), x, rtol=1e-2, atol=1e-2)


def test_reductions_and_order():
    x = torch.randn(30, 20)
    equal_on_both(lambda x: (x.sum(1), x.mean(), x.std(0), x.argmax(1), x.logsumexp(1), x.sort(0), x.topk(3), x.cumsum(1)), x)


def test_products_and_linear_algebra():
    a, b = torch.randn(6, 6), torch.randn(3, 6, 6)
    equal_on_both(lambda a, b: (a @ a, a @ b, torch.einsum("ij,kjl->kil", a, b), torch.linalg.inv(a), torch.linalg.svdvals(b),
                                torch.fft.rfft(a)), a, b, rtol=1e-4, atol=1e-4)  # fmt: skip


def rounded_product(function, *arguments):
    """Returns the result of a product in float, rounded to the dtype of the arguments."""
    return function(*(x.float() for x in arguments)).to(arguments[0].dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_of_16_bit_floats_are_rounded_once(dtype):
    a, b = torch.randn(2, 3, 40, 40, device="cuda").mul(3).to(dtype)
    for function in (lambda a, b, c: a[0] @ b[0].t(), lambda a, b, c: torch.bmm(a, b), lambda a, b, c: a[0] @ b[0, 0],
                     lambda a, b, c: torch.addmm(c[0], a[0], b[0], beta=0.5, alpha=2),
                     lambda a, b, c: F.linear(a, b[0], c[0, 0])):  # fmt: skip
        assert torch.equal(function(a, b, a), rounded_product(function, a, b, a))
    out, sums = torch.empty(0, device="cuda", dtype=dtype), a[0].clone()
    assert torch.mm(a[0], b[0], out=out) is out and torch.equal(out, rounded_product(torch.mm, a[0], b[0]))
    assert sums.addmm_(a[1], b[1]) is sums
    assert torch.equal(sums, rounded_product(torch.addmm, a[0], a[1], b[1]))
    with pytest.raises(RuntimeError, match="same dtype"):
        a[0] @ b[0].float()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_convolutions_of_16_bit_floats_are_rounded_once(dtype):
    x, w = (torch.randn(size, device="cuda").to(dtype).requires_grad_() for size in ((2, 4, 9, 9), (6, 4, 3, 3)))
    y = F.conv2d(x, w, padding=1)
    y.backward(torch.ones_like(y))
    in_float = [z.detach().float().requires_grad_() for z in (x, w)]
    expected = F.conv2d(*in_float, padding=1)
    expected.backward(torch.ones_like(expected))
    for found, z in ((y, expected), (x.grad, in_float[0].grad), (w.grad, in_float[1].grad)):
        assert torch.equal(found, z.to(dtype))


def test_sparse_matrices():
    a, b = torch.randn(5, 6) * (torch.rand(5, 6) > 0.5), torch.randn(6, 3)
    equal_on_both(lambda a, b: (a.to_sparse() @ b, a.to_sparse_csr() @ b, torch.sparse.mm(a.to_sparse(), b), a.to_sparse().to_dense()), a, b)


def test_indices():
    x, i = torch.arange(12.0).view(3, 4), torch.tensor([2, 0])

    def change(x, i):
        x = x.clone()
        x[x > 5] = -1
        x[1, 2:] = 7
        x[i, 0] = torch.tensor([5.0, 6.0], device=x.device)
        x.index_add_(0, i, torch.ones(2, 4, device=x.device))
        x.scatter_(1, i.view(2, 1), 9.0)
        return x, x[i], x[i.cpu()], x.gather(0, i.expand(1, 2)), x.nonzero(), torch.unique(x), x[x > 0]

    equal_on_both(change, x, i)
    with pytest.raises(IndexError):
        x.cuda()[5]


def test_views_and_results_in_place():
    x = torch.zeros(4, 4, device="cuda")
    x.t()[1] += 3
    x.view(-1)[::5].mul_(2).add_(1)
    assert x.sum().item() == 12 + 4 + 3
    assert x[1:].data_ptr() == x.data_ptr() + 16
    out = torch.empty(0, device="cuda")
    assert torch.add(x, x, out=out) is out
    close(out, 2 * x)
    values, indices = torch.empty(0, device="cuda"), torch.empty(0, dtype=torch.long, device="cuda")
    torch.max(x, 0, out=(values, indices))
    assert torch.equal(values, x.max(0).values)
    x.requires_grad_()
    assert x.add(1).grad_fn is not None


def test_gradients():
    x, w = torch.randn(4, 5), torch.randn(5, 3)

    def gradients(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        (F.gelu(x @ w).pow(2).sum() + x[1:, ::2].exp().mean()).backward()
        return x.grad, w.grad

    equal_on_both(gradients, x, w)
    on_device = torch.randn(4, dtype=torch.double, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x.sin() * x).cumsum(0), on_device)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_training(optimizer):
    x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))

    def train(x, y):
        torch.manual_seed(2)
        layers = torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.ReLU(), torch.nn.Linear(8, 2)
        model = torch.nn.Sequential(*layers).to(x.device)
        steps = optimizer(model.parameters(), lr=0.1)
        for _ in range(5):
            steps.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps.step()
        return loss.detach(), [parameter.detach() for parameter in model.parameters()]

    equal_on_both(train, x, y, rtol=1e-4, atol=1e-5)


def test_convolutions_and_normalisation():
    x, w, depthwise = torch.randn(2, 4, 8, 8), torch.randn(6, 4, 3, 3), torch.randn(4, 1, 3, 3)

    def layers(x, w, depthwise):
        x = x.detach().requires_grad_()
        norm = torch.nn.BatchNorm2d(6).to(x.device)
        y = norm(F.conv2d(F.conv2d(x, depthwise, padding=1, groups=4), w, padding=1))
        (F.max_pool2d(y, 2).sum() + F.rms_norm(y, (8,)).pow(3).sum()).backward()
        return x.grad, norm.running_mean, F.interpolate(y, scale_factor=2.0), F.conv_transpose2d(y, w)

    equal_on_both(layers, x, w, depthwise, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_layers(kind):
    x = torch.randn(7, 3, 5)

    def layer(x):
        torch.manual_seed(4)
        module = kind(5, 6, num_layers=2, bidirectional=True).to(x.device)
        y, last = module(x)
        y.pow(2).sum().backward()
        return y, last, [parameter.grad for parameter in module.parameters()]

    equal_on_both(layer, x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(is_causal):
    q, k, v = torch.randn(3, 2, 4, 9, 16)
    equal_on_both(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=is_causal), q, k, v)


def test_autocast():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = torch.randn(3, 3, device="cuda") @ torch.randn(3, 3, device="cuda")
    assert y.dtype == torch.bfloat16


def test_tensors_of_two_devices():
    x = torch.randn(3, device="cuda")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found .*cuda:0 and cpu"):
        x + torch.randn(3)
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.numpy()
    assert (x + torch.tensor(1.0)).is_cuda


@pytest.mark.parametrize("function", [torch.softmax, torch.log_softmax])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_softmax_in_float_of_a_16_bit_input(function, dtype):
    x = torch.randn(5, 37, device="cuda", dtype=dtype, requires_grad=True)
    in_float = x.detach().float().requires_grad_()
    weights = torch.rand(5, 37, device="cuda")
    y, expected = function(x, 1, dtype=torch.float32), function(in_float, 1)
    (y * weights).sum().backward()
    (expected * weights).sum().backward()
    assert y.dtype == torch.float32 and x.grad.dtype == dtype
    close(y, expected)
    close(x.grad, in_float.grad.to(dtype))
    out = torch.empty(5, 37, device="cuda")
    function(x.detach(), 1, dtype=torch.float32, out=out)
    close(out, expected.detach())


def test_operators_that_the_cpu_lacks():
    x = torch.randn(1, 1, 16, 16, device="cuda", dtype=torch.float16)
    with pytest.raises(NotImplementedError, match="(?s)_scaled_dot_product_cudnn_attention.*kernkit runs"):
        torch.ops.aten._scaled_dot_product_cudnn_attention(x, x, x, None, False)


def test_threads():
    found = []

    def differentiate():
        x = torch.eye(3, device="cuda", requires_grad=True)
        (x @ x).sum().backward()
        found.append(x.grad.sum().item())

    threads = [threading.Thread(target=differentiate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [18] * 4


# Graphs.


def test_graph_of_copies():
    x, y = torch.ones(10, device="cuda"), torch.empty(10, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y.copy_(x)
    x.fill_(4)
    graph.replay()
    assert y.tolist() == [4] * 10


def test_graph_of_operators():
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2 + 1
        total = y[torch.argmax(y).view(1)] + y.sum()
        x.add_(1)
    assert x.sum().item() == 0, "a capture runs nothing"
    x.fill_(3)
    for expected in (7, 9):
        graph.replay()
        assert y.tolist() == [expected] * 4
        assert total.item() == 5 * expected


def test_graph_of_random_numbers():
    x = torch.empty(100, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.uniform_()
        y = torch.randn(100, device="cuda")
        z = F.dropout(y, 0.5)

    def replay():
        graph.replay()
        return torch.cat([x, y, z])

    torch.manual_seed(7)
    first, second = replay(), replay()
    assert not torch.equal(first, second), "each replay advances the generator"
    torch.manual_seed(7)
    assert torch.equal(first, replay())
    assert torch.equal(second, replay())
    torch.manual_seed(7)
    eager = torch.cat([x.uniform_(), y.copy_(torch.randn(100, device="cuda")), F.dropout(y, 0.5)])
    assert torch.equal(first, eager), "a graph must give the same numbers as calls without a graph"


def test_values_in_a_capture():
    x = torch.zeros(4, device="cuda")
    with pytest.raises(RuntimeError, match="captur"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            x.nonzero()
    assert (x + 1).sum().item() == 4, "later work runs"


def test_graphed_module():
    module = torch.nn.Linear(3, 3).cuda()
    graphed = torch.cuda.make_graphed_callables(module, (torch.randn(2, 3, device="cuda", requires_grad=True),))
    x = torch.randn(2, 3, device="cuda", requires_grad=True)
    y = graphed(x)
    y.sum().backward()
    close(y, x @ module.weight.t() + module.bias)
    close(x.grad, module.weight.sum(0).expand(2, 3))


# Tests of Triton's kernels and of torch.compile.


# [scale]
@triton.jit
def scale(x, y, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def test_triton_between_operators():
    x = torch.randn(1000, device="cuda")
    y = torch.empty_like(x)
    scale[(4,)](x + 1, y, 2.5, 1000, BLOCK=256)
    close(y.relu(), ((x + 1) * 2.5).relu())
# [/scale]


def test_triton_in_a_graph():
    x, y = torch.zeros(100, device="cuda"), torch.empty(100, device="cuda")
    scale[(1,)](x, y, 2.0, 100, BLOCK=128)  # compiles
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = x + 1
        scale[(1,)](z, y, 2.0, 100, BLOCK=128)
        y.add_(0.5)
    x.fill_(2)
    graph.replay()
    assert y.tolist() == [6.5] * 100


def test_custom_operator():
    @torch.library.custom_op("kernkit_test::twice", mutates_args=(), device_types="cuda")
    def twice(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        scale[(1,)](x, y, 2.0, x.numel(), BLOCK=128)
        return y

    twice.register_fake(torch.empty_like)
    x = torch.randn(50, device="cuda")
    close(twice(x), 2 * x)
    torch.library.opcheck(twice, (x,))


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled_function(mode):
    function = torch.compile(lambda x: F.softmax(x * 2, -1).relu() + F.layer_norm(x, (100,)), mode=mode)
    for _ in range(3):
        x = torch.randn(64, 100, device="cuda")
        close(function(x).clone(), F.softmax(x * 2, -1).relu() + F.layer_norm(x, (100,)), rtol=1e-5, atol=1e-5)
