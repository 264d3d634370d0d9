# SPDX-License-Identifier: Apache-2.0
"""Makes PyTorch's operators on CUDA tensors run on the CPU. hook/sitecustomize.py calls start() after the import of
torch.

KERNKIT_ATEN selects the kernels: "compiled" (aten_on_cpu.cc, compiled at the first use), "python" (fallback.py), or by
default the first of them that works. KERNKIT_TORCH_BLOCKS other than "0" makes an access past the end of a tensor's
memory a fault also inside of the caching allocator's blocks; the default is "1" under `kernkit sanitize`, otherwise
"0"."""

import ctypes
import fcntl
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ("aten_on_cpu.cc", "allocator_blocks.h", "device_tensors.h", "matrix_product.h", "missing_operators.h", "products_in_float.h",
           "products_on_cpu.h", "python_line.h", "random.h", "streams.h")  # fmt: skip
CYCLES_PER_MICROSECOND = 1000  # the clock rate of 1 GHz that torch.cuda._sleep() assumes
LIBRARIES = []  # the library with the functions of cuBLAS, cuDNN and NCCL; empty until prepare() loads it


def has_runtime():
    """Returns whether this process has loaded kernkit's CUDA runtime."""
    return hasattr(ctypes.CDLL(None), "kernkit_wait_for_turn")


def cuda_headers(torch_folder):
    """Returns the folder with cuda_runtime_api.h, of the packages that PyTorch installs or of the CUDA toolkit; None if
    no such folder is found."""
    places = [torch_folder.parent / "nvidia/cu13/include"]
    places += [pathlib.Path(os.environ[name]) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places.append(pathlib.Path("/usr/local/cuda/include"))
    return next((place for place in places if (place / "cuda_runtime_api.h").is_file()), None)


def compiler_of_system():
    """Returns the path of the first installed compiler among $CXX, g++ and clang++; None if none is installed."""
    return next(filter(None, map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++")))), None)


def compile_once(name, text, files, command_of):
    """Compiles a library into the folder of caches, unless the folder has a library with the same digest of `text` and
    `files`. command_of(compiler, output) returns the command. Returns (path of the library, ""), or (None, reason of
    the failure)."""
    cache = os.environ.get("KERNKIT_TORCH_CACHE")
    if not cache:
        return None, "kernkit run did not set KERNKIT_TORCH_CACHE"
    digest = hashlib.sha256(text.encode())
    for file in files:
        digest.update(file.read_bytes())
    library = pathlib.Path(cache) / f"{name}-{digest.hexdigest()[:16]}.so"
    if library.is_file():
        return library, ""
    compiler = compiler_of_system()
    if compiler is None:
        return None, "no C++ compiler is installed: install g++"
    library.parent.mkdir(parents=True, exist_ok=True)
    with (library.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if library.is_file():  # another process compiled the library while this process waited
            return library, ""
        if name == "aten":
            print(f"kernkit: compiling PyTorch's operators for CUDA tensors, once, into {library.parent}", file=sys.stderr)
        partial = library.with_suffix(f".{os.getpid()}")
        command = command_of(compiler, partial)
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            log = library.parent / "log"
            log.write_text(" ".join(command) + "\n" + done.stderr)
            return None, f"{compiler} failed; its output is in {log}"
        os.replace(partial, library)
    return library, ""


def compiled(torch):
    """Compiles aten_on_cpu.cc for this PyTorch, unless a compiled library is kept. Returns (path of the library, ""),
    or (None, reason of the failure)."""
    include = os.environ.get("KERNKIT_TORCH_INCLUDE")
    if not include:
        return None, "kernkit run did not set KERNKIT_TORCH_INCLUDE"
    torch_folder = pathlib.Path(torch.__file__).parent
    headers = cuda_headers(torch_folder)
    if headers is None:
        return None, "cuda_runtime_api.h was not found: run pip install nvidia-cuda-runtime nvidia-cuda-crt, or set CUDA_HOME"

    def command_of(compiler, output):
        folders = [torch_folder / "include", torch_folder / "include/torch/csrc/api/include", headers]
        return [compiler, "-O2", "-std=c++20", "-shared", "-fPIC", "-DUSE_CUDA", f"-I{include}",
                *(word for folder in folders for word in ("-isystem", str(folder))), "-o", str(output),
                str(HERE / "aten_on_cpu.cc"), f"-L{torch_folder / 'lib'}", "-ltorch", "-ltorch_cpu", "-ltorch_cuda",
                "-lc10", "-lc10_cuda"]  # fmt: skip

    files = [*(HERE / name for name in SOURCES),
             *(pathlib.Path(include) / f"kernkit/simulator/{name}.h" for name in ("blocks", "stream_work"))]  # fmt: skip
    return compile_once("aten", f"{torch.__version__} {torch.version.git_version}", files, command_of)


def sibling(name):
    """Imports and returns a module of this folder."""
    spec = importlib.util.spec_from_file_location(f"_kernkit_torch_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def nvidia_libraries(torch_folder):
    """Compiles the library with the functions of cuBLAS, cuDNN and NCCL, unless a compiled library is kept. Returns
    (path of the library, ""), or (None, reason of the failure)."""
    generator, headers = sibling("nvidia_libraries"), cuda_headers(torch_folder)
    folders = generator.found_folders(torch_folder.parent, [headers] if headers else [])
    if not folders or headers is None:
        return None, "the headers of cuBLAS, cuDNN and NCCL were not found"
    text = "".join(f"{folder} {max(header.stat().st_mtime_ns for header in folder.glob('*.h'))} " for folder in folders.values())

    def command_of(compiler, output):
        generated = output.with_suffix(".cc")
        generated.write_text(generator.source(folders))
        return generator.command(compiler, folders, headers, output, generated)

    return compile_once("nvidia", text, [HERE / name for name in ("nvidia_libraries.py", "cublas.cc", "matrix_product.h")], command_of)


def use_compiled(torch):
    """Installs the compiled kernels. Returns "", or the reason why the kernels cannot be used."""
    library, reason = compiled(torch)
    if library is None:
        return reason
    try:
        aten = ctypes.CDLL(str(library))
        installed = aten.kernkit_start_aten()
        if LIBRARIES:
            LIBRARIES[0].kernkit_set_product_function(ctypes.cast(aten.kernkit_enqueue_product, ctypes.c_void_p))
        if os.environ.get("KERNKIT_TORCH_BLOCKS", "1" if os.environ.get("KERNKIT_TOOLS") else "0") != "0":
            torch.cuda._lazy_call(aten.kernkit_track_blocks)  # torch calls the function after it has initialised CUDA
    except (OSError, AttributeError) as error:
        return str(error)
    return "" if installed > 0 else "the library reported an error"


def use_fallback():
    """Installs the kernels of fallback.py."""
    sibling("fallback").start()


def switch_off_libraries(torch):
    """Makes PyTorch choose its own operators in place of NVIDIA's libraries and of fused attention."""
    set_cudnn = torch._C._set_cudnn_enabled

    def keep_cudnn_off(enabled):
        set_cudnn(False)

    keep_cudnn_off(True)
    torch._C._set_cudnn_enabled = keep_cudnn_off  # torch.backends.cudnn.flags() calls this function
    vars(type(torch.backends.cudnn))["enabled"].setter = keep_cudnn_off  # an assignment to torch.backends.cudnn.enabled calls this function
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def profile_the_cpu(torch):
    """Makes the profiler record the CPU only, since CUPTI, which records a GPU, needs NVIDIA's driver."""
    module, cuda = torch.autograd.profiler, torch.profiler.ProfilerActivity.CUDA
    for name in ("_prepare_profiler", "_enable_profiler"):

        def without_cuda(config, activities, *rest, function=getattr(module, name), **settings):
            return function(config, set(activities) - {cuda}, *rest, **settings)

        setattr(module, name, without_cuda)


def sleep_in_streams(torch):
    """Makes torch.cuda._sleep() delay the current stream by the time that the cycles take at a clock rate of 1 GHz.
    PyTorch's own function launches a CUDA kernel directly, without an operator for which a CPU implementation could be
    substituted."""
    runtime = ctypes.CDLL(None)
    runtime.cudaLaunchHostFunc.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    usleep = ctypes.cast(runtime.usleep, ctypes.c_void_p)  # callable as a host function of CUDA, which has one argument

    def sleep(cycles):
        stream = torch.cuda.current_stream().cuda_stream
        microseconds = max(int(cycles), 0) // CYCLES_PER_MICROSECOND
        torch.cuda.check_error(runtime.cudaLaunchHostFunc(stream, usleep, min(microseconds, 2**32 - 1)))

    torch._C._cuda_sleep = sleep


def prepare(torch_file):
    """Loads the functions of cuBLAS, cuDNN and NCCL before torch is imported, so that they take precedence over
    NVIDIA's libraries. `torch_file`: path of torch/__init__.py."""
    torch_folder = pathlib.Path(torch_file).parent
    is_cuda_build = next((torch_folder / "lib").glob("libtorch_cuda*.so"), None) is not None
    if not is_cuda_build or not has_runtime() or os.environ.get("KERNKIT_ATEN") == "python" or compiler_of_system() is None:
        return
    library, reason = nvidia_libraries(torch_folder)
    if library is None:
        print(f"kernkit: calls of cuBLAS, cuDNN and NCCL run NVIDIA's libraries, which need a GPU: {reason}", file=sys.stderr)
    else:
        LIBRARIES.append(ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL))


def start(torch):
    """Makes operators on CUDA tensors run on the CPU, if torch is a CUDA build and this process has kernkit's runtime.
    Raises ImportError if KERNKIT_ATEN is unsupported, or is "compiled" and the kernels cannot be compiled."""
    if torch.version.cuda is None or not has_runtime():
        return
    selected = os.environ.get("KERNKIT_ATEN", "")
    if selected not in ("", "compiled", "python"):
        raise ImportError(f'KERNKIT_ATEN: unsupported value "{selected}"; supported values: compiled, python')
    reason = "" if selected == "python" else use_compiled(torch)
    if reason and selected == "compiled":
        raise ImportError(f"PyTorch's operators for CUDA tensors cannot be compiled: {reason}")
    if reason:
        print(f"kernkit: PyTorch's operators on CUDA tensors use slower kernels in Python: {reason}", file=sys.stderr)
    if reason or selected == "python":
        use_fallback()
    switch_off_libraries(torch)
    profile_the_cpu(torch)
    sleep_in_streams(torch)
