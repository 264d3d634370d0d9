# SPDX-License-Identifier: Apache-2.0
"""Tests the functions for JAX that `kernkit bindings --jax` writes."""

import concurrent.futures
import importlib
import os
import re
import subprocess
import sys

import numpy as np
import packages
import pytest
import tvm_ffi
from packages import write_package
from xla_frames import Handler, XlaError, of_numpy

jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.fixture(scope="module")
def ops(shaped):
    """Returns the module shaped.jax."""
    return importlib.import_module("shaped.jax")


def normal(*shape):
    return jnp.asarray(np.random.default_rng(len(shape)).normal(size=shape), jnp.float32)


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def silu(x):
    d = x.shape[-1] // 2
    return jax.nn.silu(x[..., :d]) * x[..., d:]


def rms(x, weight=1, eps=1e-6):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_values(ops, jit):
    x, y, w = normal(3, 8), normal(3, 8) + 1, normal(8)
    close(jit(lambda x: ops.scale(x, 2.0))(x), 2 * x)
    close(jit(ops.add)(x, y), x + y)
    close(jit(lambda x: ops.output_last(2.0, x))(x), 2 * x)
    close(jit(ops.silu_and_mul)(x), silu(x))
    close(jit(lambda x: ops.rms_norm_out(x))(x), rms(x))
    close(jit(lambda x, w: ops.rms_norm_out(x, w, eps=1e-3))(x, w), rms(x, w, 1e-3))
    normed, total = jit(ops.fused_add_rms_norm)(x, y, w)
    close(total, x + y)
    close(normed, rms(x + y, w))
    q, s = jit(lambda x: ops.quant(x, 4))(x)
    assert q.dtype == jnp.int8 and s.shape == (3, 2)
    assert abs(q.reshape(3, 2, 4) * s[..., None] - x.reshape(3, 2, 4)).max() <= 0.51 * s.max()
    values, indices = jit(lambda x: ops.top(x, k=2))(x)
    assert values.shape == (3, 2) and indices.dtype == jnp.int32 and indices[0].tolist() == [0, 1]


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_ops_that_return_tensors(ops, jit):
    """Ops that return tensors work eagerly and under jit, vmap and x64. Results are in memory that XLA allocates before
    the call."""
    x, w = normal(3, 8), normal(8)
    close(jit(ops.rms_norm)(x), rms(x))
    close(jit(lambda x, w: ops.rms_norm(x, w, eps=1e-3))(x, w), rms(x, w, 1e-3))
    with jax.enable_x64(True):
        values, indices = jit(ops.row_max)(x)
        assert indices.dtype == jnp.int64 and indices.tolist() == x.argmax(1).tolist()
        close(values, x.max(1))
    for result, expected in zip(jit(ops.halves)(w), (w[:4], w[4:])):
        close(result, expected)
    close(jax.vmap(ops.rms_norm)(normal(2, 3, 8)), rms(normal(2, 3, 8)))
    for shape in ((0, 8), (3, 0)):
        assert jit(ops.rms_norm)(jnp.zeros(shape)).shape == shape
    assert all(half.shape == (0,) for half in jit(ops.halves)(jnp.zeros(0)))


def test_a_result_is_copied_to_where_xla_has_it(shaped):
    """The handler for XLA writes each result to the buffer that XLA passes for the result, in whatever order the op
    allocates its results."""
    library = shaped / "shaped/libshaped.so"
    x, y = np.ones((2, 4), "float32"), np.zeros((2, 4), "float32")
    Handler(library, "rms_norm")([of_numpy(y)], [of_numpy(x)], **{"?given": 0, "eps": 1e-6})
    np.testing.assert_allclose(y, 1, atol=1e-5)
    first, second = np.zeros(2, "float32"), np.zeros(2, "float32")
    halves, four = Handler(library, "halves"), np.arange(4, dtype="float32")
    halves([of_numpy(first), of_numpy(second)], [of_numpy(four)])
    assert first.tolist() == [0, 1] and second.tolist() == [2, 3]
    result = tvm_ffi.load_module(str(library)).get_function("rms_norm")(x)  # numpy arrays: the host allocates the result
    assert np.from_dlpack(result).ctypes.data not in (x.ctypes.data, y.ctypes.data)
    with pytest.raises(XlaError, match=r"TypeError: halves\(\): a result: XLA passes no buffer"):
        halves([of_numpy(first)], [of_numpy(four)])


def test_the_kernels_of_rows(rows):
    ops = importlib.import_module("on_rows.jax")
    x, y, w, b = normal(3, 8), normal(3, 8) + 1, normal(8), normal(8) + 1
    gelu = jax.nn.gelu(x[:, :4], approximate=False) * x[:, 4:]
    centred = x - x.mean(-1, keepdims=True)
    pairs = [
        (ops.rms_norm, (x, w), (rms(x, w),)), (ops.rms_norm, (x,), (rms(x),)), (ops.softmax, (x,), (jax.nn.softmax(x),)),
        (ops.layer_norm, (x, w, b), (centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w + b,)),
        (ops.gelu_and_mul, (x,), (gelu,)), (ops.fused_add_rms_norm, (x, y, w), (rms(x + y, w), x + y)),
    ]  # fmt: skip
    for op, passed, expected_values in pairs:
        got = jax.jit(op)(*passed)
        for result, expected in zip(got if isinstance(got, tuple) else (got,), expected_values):
            close(result, expected)
    quantized, scale = jax.jit(ops.rms_norm_fp8)(x, w)
    assert quantized.dtype == jnp.float8_e4m3fn and scale.shape == (3,)
    np.testing.assert_allclose(quantized.astype("float32") * scale[:, None], rms(x, w), rtol=0.07, atol=0.02)


def test_the_reference_library(root, library, tmp_path):
    write_package(root, library, tmp_path, "reference_jax", "--jax")
    ops = packages.imported(tmp_path, "reference_jax.jax")
    for dtype in (jnp.float16, jnp.bfloat16, jnp.float32):
        x, y = normal(3, 8).astype(dtype), normal(8, 3).T.astype(dtype)
        assert (jax.jit(lambda x, y: ops.add(ops.scale(x, 2.0), y))(x, y) == 2 * x + y).all()
    assert (jax.vmap(ops.add, in_axes=(0, None))(x, x[0]) == x + x[0]).all()


def test_xlas_handler_works_on_the_callers_stream(device):
    """The handler for XLA launches kernels on the stream of the call. The test calls the handler directly, with tensors
    of the simulator, because JAX does not support the simulator as a device."""
    x, w = np.asarray(normal(3, 8)), np.asarray(normal(8))
    on_device = [device.put(array) for array in (np.zeros_like(x), np.zeros_like(x), x, x + 1, w)]
    y, total, x_on_device, more, w_on_device = [(tensor.data_ptr(), tensor.dtype, tensor.shape) for tensor in on_device]

    def launched(op, results, operands, **attributes):
        stream = device.module.new_stream()
        device.module.launches(stream)
        Handler(device.library, op, "cuda")(results, operands, stream=stream, **attributes)
        return device.module.launches(stream)

    assert launched("rms_norm", [y], [x_on_device, w_on_device], **{"?given": 4, "eps": 1e-6}) == 1
    close(device.get(on_device[0]), rms(x, w))
    assert launched("fused_add_rms_norm", [y, total], [x_on_device, more], **{"?given": 0, "eps": 1e-6}) == 1
    close(device.get(on_device[0]), rms(2 * x + 1))
    close(device.get(on_device[1]), 2 * x + 1)
    assert launched("softmax", [y], [x_on_device]) == 1
    close(device.get(on_device[0]), jax.nn.softmax(x))
    with pytest.raises(XlaError, match=r"ValueError: softmax\(\): x: data is null"):
        launched("softmax", [y], [(0, "float32", (3, 8))])


def test_functions_on_a_gpu(root, tmp_path):
    """Functions for JAX work with JAX's arrays and streams on a GPU and a library compiled by nvcc."""
    if all(device.platform != "gpu" for device in jax.devices()):
        pytest.skip("JAX found no GPU")
    library = root / "build/release/lib/libkernkit_row_kernels.so"
    if not library.exists():
        pytest.skip(f"{library} is missing: cmake --build --preset release --target kernkit_row_kernels")
    write_package(root, library, tmp_path, "on_gpu_rows", "--jax")
    ops = packages.imported(tmp_path, "on_gpu_rows.jax")
    x, w = jax.device_put((normal(64, 1024), normal(1024)), jax.devices("gpu")[0])
    close(jax.jit(lambda x, w: ops.softmax(ops.rms_norm(x, w)))(x, w), jax.nn.softmax(rms(x, w)))


def test_a_result_that_does_not_match_the_line(ops):
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"untrue\(\): returns .*float32 \[3\].*; its schema line requires .*float32 \[3, 3\]"):
        ops.untrue(normal(3)).block_until_ready()


def test_attributes_of_each_type_and_optional_tensors(ops):
    """Attributes of each type and optional tensors reach the op, which multiplies x by b + k * f + len(s) + bits of
    t."""
    x, y = normal(3, 8), normal(3, 8) + 1
    close(ops.many(x), (1 + 2 + 32) * x)
    for dtype in ("float64", jnp.float64, np.dtype("float64")):
        close(jax.jit(lambda x, y: ops.many(x, y, k=2, f=0.5, b=True, s="abc", t=dtype))(x, y), (1 + 1 + 3 + 64) * x + y)
    close(ops.many(np.ones((3, 8)), s=""), np.full((3, 8), 33))  # NumPy's float64, which JAX converts to float32


def test_scalars_are_constants(ops):
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.jit(lambda x, factor: ops.scale(x, factor))(normal(3), 2.0)


def test_the_caller_chooses_the_dtype_that_the_line_leaves_open(ops):
    for dtype in ("float32", jnp.float32):
        close(jax.jit(lambda x: ops.cast(x, y_dtype=dtype))(normal(3)), normal(3))
    with pytest.raises(ValueError, match=r"cast\(\): y: dtype float64 needs jax_enable_x64"):
        ops.cast(normal(3), y_dtype="float64")


def test_words_of_python_as_names(ops):
    x = normal(4)
    close(ops.odd(x, from_=2.0), 2 * x)
    assert jnp.isinf(ops.odd(x)).all()


def test_in_place_ops_return_and_their_arguments_stay(ops):
    x, y, w = normal(3, 8), normal(3, 8) + 1, normal(8)
    before = [np.array(t) for t in (x, y, w)]
    for run in (ops.scale_, jax.jit(ops.scale_, static_argnums=1)):
        close(run(x, 2.0), 2 * before[0])
    for run in (ops.fused_add_rms_norm, jax.jit(ops.fused_add_rms_norm)):
        run(x, y, w)
    for tensor, expected in zip((x, y, w), before):
        assert np.array_equal(tensor, expected)


def test_a_donated_buffer_is_written_in_place(ops):
    step = jax.jit(lambda x: ops.scale_(x, 2.0), donate_argnums=0)
    x = jnp.ones(1 << 16)
    before = x.unsafe_buffer_pointer()
    after = step(x)
    assert after.unsafe_buffer_pointer() == before and (after == 2).all()


def test_vmap_is_one_call_if_a_batch_may_come_first(ops):
    x, w = normal(5, 3, 8), normal(8)
    scaled = jax.vmap(lambda x: ops.scale(x, 2.0))
    close(scaled(x), 2 * x)
    assert "while" not in jax.jit(scaled).lower(x).as_text()
    close(jax.vmap(ops.add, in_axes=(0, None))(x, x[0]), x + x[0])
    close(jax.vmap(lambda x: ops.scale(x, 2.0), in_axes=1)(x), 2 * x.swapaxes(0, 1))
    close(jax.jit(jax.vmap(jax.vmap(lambda x: ops.scale(x, 3.0))))(x), 3 * x)
    looped = jax.vmap(lambda x: ops.rms_norm_out(x, w))
    close(looped(x), rms(x, w))
    assert "while" in jax.jit(looped).lower(x).as_text()
    close(jax.vmap(ops.silu_and_mul)(x), silu(x))


def test_gradients_of_the_named_backward_are_jaxs(ops):
    x, w = normal(3, 8), normal(8)
    for run in (lambda f: f, jax.jit):
        got = run(jax.grad(lambda x: (ops.silu_and_mul(x) ** 2).sum()))(x)
        close(got, jax.grad(lambda x: (silu(x) ** 2).sum())(x))
        got = run(jax.grad(lambda x, w: (ops.rms_norm_out(x, w, eps=1e-3) ** 2).sum(), (0, 1)))(x, w)
        for gradient, expected in zip(got, jax.grad(lambda x, w: (rms(x, w, 1e-3) ** 2).sum(), (0, 1))(x, w)):
            close(gradient, expected)
        for op in (ops.rms_norm_out, ops.rms_norm):
            close(run(jax.grad(lambda x: (op(x) ** 3).sum()))(x), jax.grad(lambda x: (rms(x) ** 3).sum())(x))


def test_training_steps_equal_jaxs(ops):
    def step(f):
        def loss(weight, x):
            return (f(x @ weight) ** 2).sum()

        @jax.jit
        def run(weight, x):
            return weight - 0.1 * jax.grad(loss)(weight, x)

        return run(normal(6, 8), normal(3, 6))

    for op, reference in ((ops.silu_and_mul, silu), (ops.rms_norm, rms), (ops.rms_norm_out, rms)):
        close(step(op), step(reference))


def test_a_gradient_is_never_silently_wrong(ops):
    x = normal(3, 8)
    for call in (lambda x: ops.scale(x, 2.0), ops.scale_, ops.silu_and_mul_backward):
        arguments = (x[:, :4], x) if call is ops.silu_and_mul_backward else (x, 2.0) if call is ops.scale_ else (x,)
        with pytest.raises(ValueError, match="cannot be differentiated"):
            jax.grad(lambda x: jnp.sum(call(x, *arguments[1:])))(arguments[0])
    with pytest.raises(ValueError, match=r"rms_of\(\): weight: its backward computes no gradient of it"):
        jax.grad(lambda w: ops.rms_of(x, w).sum())(normal(8))
    close(jax.grad(lambda x: ops.rms_of(x, normal(8)).sum())(x), jax.grad(lambda x: rms(x, normal(8)).sum())(x))


@pytest.mark.parametrize("run", [lambda f: f, jax.jit, lambda f: lambda *a: jax.eval_shape(f, *a)], ids=["eager", "jit", "shape"])
def test_a_wrong_shape_is_rejected_before_the_call(ops, run):
    wrong = [
        (ops.silu_and_mul, (normal(3, 7),), r"silu_and_mul\(\): x: shape \[3, 7\] does not match \[n, 2 \* d\]"),
        (ops.silu_and_mul, (normal(7),), r"silu_and_mul\(\): x: shape \[7\] does not match \[n, 2 \* d\]"),
        (ops.rms_norm_out, (normal(3, 8), normal(7)), r"rms_norm_out\(\): weight: shape \[7\] does not match \[d\]"),
        (ops.add, (normal(3), normal(4)), r"add\(\): y: shape \[4\] does not match \[...\]"),
        (lambda x: ops.quant(x, 3), (normal(3, 8),), r"quant\(\): s: d / group is not an integer"),
    ]
    for op, arguments, message in wrong:
        with pytest.raises(ValueError, match=message):
            run(op)(*arguments)


def test_errors_of_the_op_itself_have_its_message(ops):
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"INVALID_ARGUMENT: TypeError: scale\(\): x: dtype float16 is not supported"):
        ops.scale(normal(3).astype(jnp.float16), 2.0).block_until_ready()


def test_64_bits_need_x64(root, tmp_path):
    """A function with a result of int64 raises ValueError unless x64 is enabled, because JAX would pass 32-bit memory
    to the op."""
    import compiled

    library = compiled.build(root / "tests/interop/frameworks/indices.cc", tmp_path / "libindices.so", "-fvisibility=hidden")
    write_package(root, library, tmp_path, "indices", "--jax")
    positions = packages.imported(tmp_path, "indices.jax").positions
    with pytest.raises(ValueError, match=r"positions\(\): y: dtype int64 needs jax_enable_x64"):
        positions(normal(3))
    with jax.enable_x64(True):
        assert positions(normal(3)).tolist() == [0, 1, 2]


def test_export_with_sizes_that_vary(ops):
    from jax import export

    a, b = export.symbolic_shape("a, b")
    check = export.DisabledSafetyCheck.custom_call("shaped.silu_and_mul")
    exported = export.export(jax.jit(ops.silu_and_mul), disabled_checks=[check])(jax.ShapeDtypeStruct((a, 2 * b), jnp.float32))
    for shape in ((3, 8), (5, 2)):
        close(exported.call(normal(*shape)), silu(normal(*shape)))
    unknown = jax.ShapeDtypeStruct((a, b), jnp.float32)  # b is unknown and may be odd
    with pytest.raises(ValueError, match=r"shape \[a, b\] does not match \[n, 2 \* d\]"):
        export.export(jax.jit(ops.silu_and_mul), disabled_checks=[check])(unknown)


def test_an_export_is_reloaded_in_another_process(shaped, tmp_path):
    """Another process can load and run an exported program after importing shaped.jax."""
    pytest.importorskip("flatbuffers", reason="jax.export needs flatbuffers, which is listed in tests/requirements-frameworks.txt")
    save = """
import jax, shaped.jax as ops
from jax import export
(a,) = export.symbolic_shape("a")
check = export.DisabledSafetyCheck.custom_call("shaped.scale")
run = export.export(jax.jit(lambda x: ops.scale(x, 2.0)), disabled_checks=[check])(jax.ShapeDtypeStruct((a,), "float32"))
open("run.bin", "wb").write(run.serialize())
"""
    load = """
import jax, shaped.jax
run = jax.export.deserialize(bytearray(open("run.bin", "rb").read()))
assert run.call(jax.numpy.ones(5)).tolist() == [2] * 5
"""
    for program in (save, load):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(shaped), *filter(None, [os.environ.get("PYTHONPATH")])])}
        result = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, cwd=tmp_path)
        assert result.returncode == 0, result.stderr


def test_a_program_with_other_attributes_than_the_line_is_rejected(ops):
    """A program is rejected if it was compiled for an older build of the library, in which the op's schema line had
    other attributes."""
    def call(**attributes):
        return jax.ffi.ffi_call("shaped.scale", jax.ShapeDtypeStruct((3,), "float32"))(normal(3), **attributes).block_until_ready()

    close(call(factor=2.0), 2 * normal(3))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"TypeError: scale\(\): expected attributes \[factor\], got \[times\]"):
        call(times=2.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"expected attributes \[factor\], got \[bias, factor\]"):
        call(factor=2.0, bias=1)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"scale\(\): factor: XLA's attribute is of another type"):
        call(factor=3)  # the program was compiled for a float, so this int is an error


def test_values_reach_the_op_as_they_are(ops):
    """An int of 54 bits, a double and a device reach the op unchanged. The int would not be exact in float64, nor the
    double in float32."""
    for device in ("cuda:1", tvm_ffi.device("cuda", 1)):
        assert float(ops.exactly(jnp.zeros(1), 2**53 + 1, 0.1, device)[0]) == 1
    with pytest.raises(jax.errors.JaxRuntimeError, match=r'exactly\(\): d: expected a device such as cuda:1, got "gpu"'):
        ops.exactly(jnp.zeros(1), 0, 0.1, "gpu").block_until_ready()


def test_every_dtype_reaches_the_op(ops):
    """Every dtype of JAX reaches the op, which returns the dtype as a number, code * 100 + bits."""
    for dtype, expected in {"bool": 608, "int8": 8, "uint32": 132, "int64": 64, "float16": 216, "bfloat16": 416, "float32": 232,
                            "float64": 264, "complex64": 564, "complex128": 628, "float8_e4m3fn": 1008, "float8_e5m2": 1208,
                            "float8_e4m3": 808, "float8_e3m4": 708, "float8_e8m0fnu": 1408, "float8_e4m3b11fnuz": 908,
                            "float8_e4m3fnuz": 1108, "float8_e5m2fnuz": 1308}.items():  # fmt: skip
        with jax.enable_x64(True):
            assert int(jax.jit(ops.dtype_of)(jnp.zeros((2, 3), dtype))[0]) == expected, dtype
    assert int(ops.dtype_of(jnp.zeros((), "int8"))[0]) == 8
    assert int(ops.dtype_of(jnp.zeros((0, 3), "int8"))[0]) == 8
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"TypeError: dtype_of\(\): x: XLA's dtype 21 is not supported"):
        ops.dtype_of(jnp.zeros(4, "int4")).block_until_ready()


def test_many_threads_call_at_once(ops):
    x = [normal(3, 8) + i for i in range(8)]
    step = jax.jit(lambda x: ops.rms_norm(ops.scale(x, 2.0)))
    expected_rows = [np.asarray(step(row)) for row in x]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            for result, expected in zip(threads.map(step, x), expected_rows):
                np.testing.assert_array_equal(result, expected)


def test_the_structs_of_xla_are_those_of_its_header(root, tmp_path):
    """kernkit's declarations of XLA's structs agree with the header in jaxlib."""
    import compiled

    folder = jax.ffi.include_dir()
    compiled.build(root / "tests/interop/frameworks/xla_layout.cc", tmp_path / "liblayout.so", "-isystem", folder, "-fpermissive")


@pytest.mark.parametrize("version, reported", [("1", "1.0"), ("0", "")])
def test_another_version_of_xlas_api_is_rejected_before_a_crash(shaped, tmp_path, version, reported):
    header = tmp_path / "xla/ffi/api/c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text(f"#define XLA_FFI_API_MAJOR {version}\n#define XLA_FFI_API_MINOR 0\n")
    program = "import sys; sys.modules['jax_tvm_ffi'] = None\n"  # not required
    program += f"import jax; jax.ffi.include_dir = lambda: {str(tmp_path)!r}\nimport shaped.jax as ops; ops.scale(jax.numpy.ones(1), 2.0)"
    env = {**os.environ, "PYTHONPATH": str(shaped), "JAX_PLATFORMS": "cpu"}
    result = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert (result.returncode == 0) == (version == "0")
    if reported:
        assert result.stderr.splitlines()[-1].startswith(
            f"ImportError: shaped.jax supports version 0 of XLA's FFI API, and this jaxlib has version {reported}; build it with a newer kernkit"
        )


def test_the_page_shows_how(shaped):
    # [use]
    import jax

    import shaped.jax as ops

    @jax.jit
    def gated(x):
        return ops.silu_and_mul(x) + 1
    # [/use]

    close(gated(normal(3, 8)), silu(normal(3, 8)) + 1)


def test_an_op_without_a_function_has_a_reason(shaped, ops):
    assert not hasattr(ops, "sum_list")
    text = (shaped / "shaped/_jax.py").read_text()
    reported = re.findall(r"# (\w+)\(.*\n# No function for JAX: (.*)", text)
    assert dict(reported) == {
        "sum_list": "XLA does not support the type Tensor[].",
        "total": "a result is not a tensor, or is an optional tensor or a list.",
    }


def test_ops_without_the_headers_of_shapes_have_no_function(root, tmp_path):
    import compiled

    library = compiled.build(root / "docs/examples/leaky_relu.cc", tmp_path / "libplain.so", "-fvisibility=hidden")
    package = write_package(root, library, tmp_path, "plain_ops", "--jax")
    assert "# No function for JAX: the op was exported without kernkit/shapes/export.h." in (package / "_jax.py").read_text()


SEVERAL_DEVICES = """
import jax, numpy as np, test_jax_ops as t, shaped.jax as ops
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
x = t.normal(8, 8)
mesh = Mesh(np.array(jax.devices()), "d")
assert len(jax.devices()) == 4
mapped = jax.shard_map(ops.silu_and_mul, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
y = jax.jit(mapped)(x)
t.close(y, t.silu(x))
assert y.sharding.spec == P("d")
t.close(jax.grad(lambda x: (mapped(x) ** 2).sum())(x), jax.grad(lambda x: (t.silu(x) ** 2).sum())(x))
def of_replicated(norm, scale):
    def loss(x, w):
        return (jax.shard_map(lambda x, w: scale(norm(x, w)), mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d"))(x, w) ** 2).sum()
    return jax.jit(jax.grad(loss, (0, 1)))(x, t.normal(8))
for got, wanted in zip(of_replicated(ops.rms_norm_out, lambda x: 2 * x), of_replicated(t.rms, lambda x: 2 * x)):
    t.close(got, wanted)
try:
    jax.grad(lambda x: jax.shard_map(ops.rms_of, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d"))(x, t.normal(8)).sum())(x)
    raise SystemExit("shard_map has gradients of an op whose backward lacks one")
except NotImplementedError:
    pass
t.close(jax.shard_map(lambda x, y: ops.add(ops.scale(x, 2.0), y), mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d"))(x, x[:2]),
        2 * x + np.tile(x[:2], (4, 1)))
t.close(jax.pmap(ops.silu_and_mul)(x.reshape(4, 2, 8)).reshape(8, 4), t.silu(x))
t.close(jax.jit(ops.silu_and_mul)(jax.device_put(x, NamedSharding(mesh, P("d")))), t.silu(x))
"""


@pytest.mark.all
def test_several_devices(shaped, root, tmp_path):
    """Functions work under shard_map and pmap and for a sharded array, in a process with four devices."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(shaped), str(root / "tests/interop")]), "JAX_PLATFORMS": "cpu",
           "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}  # fmt: skip
    result = subprocess.run([sys.executable, "-c", SEVERAL_DEVICES], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_ten_calls_cost_the_same_as_ops_registered_by_hand(shaped, root, tmp_path):
    print(packages.ratios(root, shaped, "jax", tmp_path))
