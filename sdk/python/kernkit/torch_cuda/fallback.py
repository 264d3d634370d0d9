# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch's operators on CUDA tensors by PyTorch's kernels for the CPU, in Python, for machines without a C++
compiler.

An operator runs during its call, after the stream's earlier work, even if a seed is set. In a graph capture the
operator becomes a node of the graph. aten_on_cpu.cc does the same in C++, several times faster; if a seed is set, it
runs operators as work of their streams."""

import ctypes
import itertools
import traceback
import warnings

import torch

C = torch._C
ADVICE = ("kernkit runs PyTorch's operators on CUDA tensors by PyTorch's kernels for the CPU, which lack this call: use another "
          "operator or dtype, or run the program on a GPU")  # fmt: skip
# Operators whose CUDA implementation is kept, because it launches no kernel, and copy_, for which copy() is installed.
STAY = {"_efficientzerotensor", "_has_compatible_shallow_copy_type", "_local_scalar_dense", "_nested_tensor_size", "_pin_memory",
        "copy_", "empty.memory_format", "empty_strided", "is_pinned", "is_set_to", "record_stream", "resize_", "set_",
        "set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor",
        "set_.source_Tensor_storage_offset"}  # fmt: skip
# Operators for which PyTorch has no CUDA kernel of its own: they select cuDNN for CUDA tensors.
CHOOSE_LIBRARY = {"convolution", "convolution_backward"}
CONSTANT = {"_fused_sdp_choice": 0, "_use_cudnn_ctc_loss": False, "_use_cudnn_ctc_loss.Tensor": False}
TAKE_CPU_TENSORS = ("index", "_index_put", "_unsafe_index", "_ctc_loss", "_foreach_copy_")
RETURN_VALUES = {"_unique2", "bincount", "equal", "is_nonzero", "masked_select", "nonzero", "repeat_interleave",
                 "unique_consecutive", "unique_dim", "unique_dim_consecutive"}  # fmt: skip

# Products of matrices and convolutions. With 16-bit floats, they are computed in float, as in products_in_float.h.
PRODUCTS = {"_addmm_activation", "addbmm", "addbmm_", "addmm", "addmm_", "addmv", "addmv_", "baddbmm", "baddbmm_", "bmm", "convolution",
            "convolution_backward", "dot", "mm", "mv", "vdot"}  # fmt: skip

Run = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class StreamWork(ctypes.Structure):
    """The C struct kernkit_stream_work, see kernkit/simulator/stream_work.h."""

    _fields_ = [("name", ctypes.c_char_p), ("place", ctypes.c_char_p), ("run", Run), ("release", Release), ("data", ctypes.c_void_p),
                ("accesses", ctypes.c_void_p), ("num_accesses", ctypes.c_size_t)]  # fmt: skip


runtime = ctypes.CDLL(None)
runtime.kernkit_enqueue_work.argtypes = [ctypes.c_void_p, ctypes.POINTER(StreamWork)]
runtime.kernkit_wait_for_turn.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
kept = {}  # {number of enqueued work: objects to which the runtime keeps pointers}
numbers = itertools.count(1)
libraries = []  # torch.library.Library objects, which own the installed kernels


def checked(error, function):
    if error != 0:
        raise torch.AcceleratorError(f"CUDA error {error} of {function}")


def enqueue(stream, name, work):
    """Enqueues work() in a stream or, during a graph capture, adds work() to the graph. `name`: name of the work in
    reports."""
    number = next(numbers)
    problem = []

    def run(_):
        try:
            work()
        except Exception:
            problem[:] = [ctypes.create_string_buffer(traceback.format_exc(limit=0).strip().encode())]
            return ctypes.addressof(problem[0])

    functions = Run(run), Release(lambda data: kept.pop(data, None) and None)
    kept[number] = functions, name
    checked(runtime.kernkit_enqueue_work(stream, ctypes.byref(StreamWork(name, None, *functions, number, None, 0))), "kernkit_enqueue_work")


def wait_for_turn(stream):
    checked(runtime.kernkit_wait_for_turn(stream, ctypes.byref(ctypes.c_int())), "kernkit_wait_for_turn")


def on_cpu(x):
    """Returns a CPU tensor that shares the memory of a CUDA tensor."""
    storage = x.untyped_storage()
    if storage.nbytes() == 0:
        return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cpu")
    memory = C._construct_storage_from_data_pointer(storage.data_ptr(), torch.device("cpu"), storage.nbytes())
    y = torch.empty(0, dtype=x.dtype, device="cpu").set_(memory, x.storage_offset(), x.shape, x.stride())
    y = y.conj() if x.is_conj() else y
    return y._neg_view() if x.is_neg() else y


class Arguments:
    """The arguments of one call, with a CPU tensor for each CUDA tensor."""

    def __init__(self, has_own_memory=False):
        self.pairs, self.device, self.has_cpu_tensor, self.has_own_memory = [], None, False, has_own_memory

    def note(self, device):
        device = torch.device("cuda", C._cuda_getDevice()) if device.index is None else device
        self.device = self.device or device
        if self.device != device:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{self.device} and {device}!")  # fmt: skip

    def convert(self, value):
        if isinstance(value, torch.Tensor):
            if not value.is_cuda:
                self.has_cpu_tensor |= value.dim() != 0 and value.device.type == "cpu"
                return value
            self.note(value.device)
            for x, y in self.pairs:
                if x is value:
                    return y
            self.pairs.append((value, on_cpu(value).clone() if self.has_own_memory else on_cpu(value)))
            return self.pairs[-1][1]
        if isinstance(value, torch.device) and value.type == "cuda":
            self.note(value)
            return torch.device("cpu")
        return type(value)(map(self.convert, value)) if isinstance(value, (list, tuple)) else value

    def convert_back(self, value):
        if isinstance(value, torch.Tensor):
            for x, y in self.pairs:
                if y is value:
                    return x
            if value.device.type != "cpu":
                return value
            out = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=self.device)
            if value.numel():
                on_cpu(out).copy_(value)
            return out
        return type(value)(map(self.convert_back, value)) if type(value) in (list, tuple) else value

    def write_back(self, stream):
        """Resizes the CUDA arguments whose CPU tensors the operator resized. Copies each CPU tensor that has memory of
        its own to its CUDA tensor."""
        for x, y in self.pairs:
            if x.shape != y.shape:
                x.resize_(y.shape)
                wait_for_turn(stream)  # a resize copies
            if x.numel() and x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr():
                on_cpu(x).copy_(y)


def cpu_generator(generator):
    """Advances a CUDA generator. Returns a CPU generator whose seed depends on the state of the CUDA generator before
    the advance."""
    offset = generator.get_offset()
    generator.set_offset(offset + 4)
    return torch.Generator().manual_seed(hash((generator.initial_seed(), offset)) & (2**63 - 1))


def product(op, args, kwargs):
    """Returns the results of a product. Tensors that are all float16, or all bfloat16, are converted to float, and the
    results are rounded once."""
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
    dtypes = {x.dtype for x in tensors}
    if dtypes not in ({torch.float16}, {torch.bfloat16}):
        return op(*args, **kwargs)
    (dtype,) = dtypes
    floats = [(x, x.float()) for x in tensors]

    def in_float(value):
        return next((y for x, y in floats if x is value), value)

    def rounded(result):
        if not isinstance(result, torch.Tensor):
            return result
        written = next((x for x, y in floats if y is result), None)
        if written is None:
            return result.to(dtype)
        return written.resize_(result.shape).copy_(result)

    results = op(*map(in_float, args), **{name: in_float(value) for name, value in kwargs.items()})
    return tuple(map(rounded, results)) if isinstance(results, tuple) else rounded(results)


def softmax(op, args, kwargs):
    """Returns the results of softmax or log_softmax. A 16-bit input is converted if the results are floats."""
    x, dim, half_to_float = args
    return op(x.float() if half_to_float else x, dim, False, **kwargs)


def softmax_backward(op, args, kwargs):
    grad, output, dim, dtype = args
    return op(grad, output, dim, grad.dtype).to(dtype)


# {operator: function that calls its CPU kernel}, for operators whose arguments or results are converted
CALLS = {**dict.fromkeys(PRODUCTS, product), "_softmax": softmax, "_log_softmax": softmax,
         "_softmax_backward_data": softmax_backward, "_log_softmax_backward_data": softmax_backward}  # fmt: skip


def results_of(value):
    return [value] if isinstance(value, torch.Tensor) else list(value or ())


class Kernel:
    """The kernel at the dispatch key CUDA of one operator, which calls the operator's CPU kernel."""

    def __init__(self, name, op):
        self.name, self.op, self.is_mutable = name, op, op._schema.is_mutable
        self.takes_cpu_tensors = name.startswith(TAKE_CPU_TENSORS)
        packet, _, overload = name.partition(".")
        # Products with a dtype as an argument, and gradients of softmax with out=, have no CPU kernel or no conversion.
        is_converted = not overload.startswith("dtype") and not ("backward_data" in packet and overload)
        self.converted_call = CALLS.get(packet) if is_converted else None
        self.is_random = any(argument.name == "generator" for argument in op._schema.arguments)

    def __call__(self, *args, **kwargs):
        arguments = Arguments()
        cpu_args, cpu_kwargs = arguments.convert(args), {name: arguments.convert(value) for name, value in kwargs.items()}
        arguments.device = arguments.device or torch.device("cuda", C._cuda_getDevice())
        if arguments.has_cpu_tensor and not self.takes_cpu_tensors:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{arguments.device} and cpu!")  # fmt: skip
        if self.is_random:
            generator = kwargs.get("generator")
            generator = torch.cuda.default_generators[arguments.device.index] if generator is None else generator
            if not C._cuda_isCurrentStreamCapturing():
                cpu_kwargs["generator"] = cpu_generator(generator)
            else:
                raise RuntimeError("random numbers in a graph capture need KERNKIT_ATEN=compiled and a C++ compiler")
        stream = C._cuda_getCurrentRawStream(arguments.device.index)
        if C._cuda_isCurrentStreamCapturing():
            return self.capture(stream, args, kwargs)
        wait_for_turn(stream)
        try:
            results = self.call(cpu_args, cpu_kwargs)
        except RuntimeError as error:
            if "not resizable" not in str(error):
                raise
            arguments = Arguments(has_own_memory=True)  # for an operator that resizes an argument out=
            results = self.call(arguments.convert(args), {**cpu_kwargs, **{name: arguments.convert(value)
                                                          for name, value in kwargs.items() if name != "generator"}})  # fmt: skip
        results = arguments.convert_back(results)
        if self.is_mutable:
            arguments.write_back(stream)
        return results

    def call(self, args, kwargs):
        try:
            return self.converted_call(self.op, args, kwargs) if self.converted_call else self.op(*args, **kwargs)
        except RuntimeError as error:
            if isinstance(error, NotImplementedError) or "not implemented for" in str(error):
                raise NotImplementedError(f"{error} ({ADVICE})") from None
            raise

    def capture(self, stream, args, kwargs):
        """Adds the operator to the graph, and returns its results. Calls the operator on copies of the arguments to
        find the shapes of the results. Raises RuntimeError if the shape or value of a result depends on tensor
        contents."""
        if self.name.partition(".")[0] in RETURN_VALUES:
            raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing: {self.name} returns values")
        trial = Arguments(has_own_memory=True)
        outs = trial.convert_back(self.call(trial.convert(args), {name: trial.convert(value) for name, value in kwargs.items()}))

        def work():
            arguments = Arguments()
            found = self.call(arguments.convert(args), {name: arguments.convert(value) for name, value in kwargs.items()})
            for result, out in zip(results_of(found), results_of(outs)):
                if not any(result is y for _, y in arguments.pairs):
                    on_cpu(out).copy_(result)

        enqueue(stream, self.name.encode(), work)
        return outs


def copy(to, source, non_blocking=False):
    """Copies `source` to `to` in place of aten::copy_ and returns `to`. Copies at the call or, during a capture, adds
    the copy to the graph."""
    devices = [x.device.index for x in (to, source) if x.is_cuda]
    streams = [C._cuda_getCurrentRawStream(index) for index in dict.fromkeys(devices)]

    def work():
        target, values = (on_cpu(x) if x.is_cuda else x for x in (to, source))
        target.copy_(values)

    if C._cuda_isCurrentStreamCapturing():
        enqueue(streams[0], b"copy_", work)
        return to
    for stream in streams:
        wait_for_turn(stream)
    work()
    return to


def is_view(schema):
    return any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


def start():
    """Installs the kernels at the dispatch key CUDA, for the rest of the process."""
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for full_name in C._dispatch_get_all_op_names():
            namespace, _, name = full_name.partition("::")
            if namespace != "aten" or name in STAY:
                continue
            if not C._dispatch_has_kernel_for_dispatch_key(full_name, "CUDA") and name not in CHOOSE_LIBRARY:
                continue
            packet, _, overload = name.partition(".")
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            if is_view(op._schema):
                continue
            kernel = Kernel(name, op)
            if name in CONSTANT:
                kernel = lambda *args, constant=CONSTANT[name], **kwargs: constant  # noqa: E731
            library.impl(op, kernel, "CUDA", allow_override=True)
        library.impl(torch.ops.aten.copy_.default, copy, "CUDA", allow_override=True)
    libraries.append(library)
