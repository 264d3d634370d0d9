# SPDX-License-Identifier: Apache-2.0
"""Calls cuBLAS by a C++ library that is linked against cuBLAS, cuDNN and NCCL, and compares products with PyTorch's
products. The argument is a folder for the library. Prints `right`."""

import ctypes
import pathlib
import subprocess
import sys

import torch

SOURCE = """
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <nccl.h>

static cublasHandle_t handle(void* stream) {
  static cublasHandle_t the_handle = [] { cublasHandle_t made; cublasCreate(&made); return made; }();
  cublasSetStream(the_handle, static_cast<cudaStream_t>(stream));
  return the_handle;
}
// c = alpha * op(a) * op(b) + beta * c in the order of columns.
extern "C" int gemm_ex(void* stream, int ta, int tb, int m, int n, int k, void* alpha, void* a, int lda, void* b, int ldb, void* beta,
                       void* c, int ldc, int type, int c_type, int compute) {
  return cublasGemmEx(handle(stream), cublasOperation_t(ta), cublasOperation_t(tb), m, n, k, alpha, a, cudaDataType(type), lda, b,
                      cudaDataType(type), ldb, beta, c, cudaDataType(c_type), ldc, cublasComputeType_t(compute), CUBLAS_GEMM_DEFAULT);
}
extern "C" int strided(void* stream, int m, int n, int k, void* alpha, void* a, void* b, void* beta, void* c, int batch, int type,
                       int compute) {
  return cublasGemmStridedBatchedEx(handle(stream), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha, a, cudaDataType(type), m, (long long)m * k, b,
                                    cudaDataType(type), k, (long long)k * n, beta, c, cudaDataType(type), m, (long long)m * n, batch,
                                    cublasComputeType_t(compute), CUBLAS_GEMM_DEFAULT);
}
extern "C" int sgemm(void* stream, int device_scalars, int n, float* alpha, float* a, float* b, float* beta, float* c) {
  cublasSetPointerMode(handle(stream), device_scalars ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const int status = cublasSgemm(handle(stream), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha, a, n, b, n, beta, c, n);
  cublasSetPointerMode(handle(stream), CUBLAS_POINTER_MODE_HOST);
  return status;
}
// d = a * b + beta * c, where a is transposed.
extern "C" int lt(void* stream, int m, int n, int k, void* a, void* b, float beta, void* c, void* d, int type, int epilogue) {
  cublasLtHandle_t made; cublasLtMatmulDesc_t operation; cublasLtMatrixLayout_t of_a, of_b, of_c; cublasLtMatmulPreference_t preference;
  if (cublasLtCreate(&made) || cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F)) return -1;
  const cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed));
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
  cublasLtMatrixLayoutCreate(&of_a, cudaDataType(type), k, m, k);
  cublasLtMatrixLayoutCreate(&of_b, cudaDataType(type), k, n, k);
  cublasLtMatrixLayoutCreate(&of_c, cudaDataType(type), m, n, m);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t result; int count = 0; const float alpha = 1;
  int status = cublasLtMatmulAlgoGetHeuristic(made, operation, of_a, of_b, of_c, of_c, preference, 1, &result, &count);
  if (status == 0 && count != 1) status = -2;
  if (status == 0) {
    status = cublasLtMatmul(made, operation, &alpha, a, of_a, b, of_b, &beta, c, of_c, d, of_c, &result.algo, nullptr, 0,
                            static_cast<cudaStream_t>(stream));
  }
  cublasLtMatmulPreferenceDestroy(preference); cublasLtMatrixLayoutDestroy(of_a); cublasLtMatrixLayoutDestroy(of_b);
  cublasLtMatrixLayoutDestroy(of_c); cublasLtMatmulDescDestroy(operation); cublasLtDestroy(made);
  return status;
}
extern "C" int gemv(void* stream, float* a, float* x, float* y) {
  const float one = 1;
  return cublasSgemv(handle(stream), CUBLAS_OP_N, 1, 1, &one, a, 1, x, 1, &one, y, 1);
}
extern "C" int create_cudnn() { cudnnHandle_t made; return cudnnCreate(&made); }
extern "C" int create_nccl() { ncclUniqueId id; return ncclGetUniqueId(&id); }
extern "C" int versions() { int version = 0; ncclGetVersion(&version); return cudnnGetVersion() > 90000 && version > 20000; }
"""
TYPES = {torch.float16: 2, torch.bfloat16: 14, torch.float32: 0, torch.float64: 1, torch.complex64: 4, torch.complex128: 5, torch.int8: 3,
         torch.int32: 10}  # fmt: skip
COMPUTE_16F, COMPUTE_32F, COMPUTE_64F, COMPUTE_32I = 64, 68, 70, 72
SCALARS = {COMPUTE_16F: torch.float16, COMPUTE_32F: torch.float32, COMPUTE_64F: torch.float64, COMPUTE_32I: torch.int32}
close = torch.testing.assert_close


def compiled(folder):
    """Compiles the C++ library, linked against the libraries in PyTorch's packages, and returns the loaded library."""
    packages = pathlib.Path(torch.__file__).parents[1] / "nvidia"
    (folder / "products.cc").write_text(SOURCE)
    libraries = [next((packages / name / "lib").glob(pattern)) for name, pattern in (
        ("cu13", "libcublas.so.*"), ("cu13", "libcublasLt.so.*"), ("cudnn", "libcudnn.so.*"), ("nccl", "libnccl.so.*"))]  # fmt: skip
    command = ["g++", "-shared", "-fPIC", *(f"-I{packages / name / 'include'}" for name in ("cu13", "cudnn", "nccl")), "-o",
               folder / "products.so", folder / "products.cc", *libraries]  # fmt: skip
    subprocess.run(list(map(str, command)), check=True)
    return ctypes.CDLL(str(folder / "products.so"))


def pointer(x):
    return ctypes.c_void_p(x.data_ptr())


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def number(value, compute, dtype):
    """Returns a scalar in host memory, of the type that cuBLAS requires for the compute type `compute`."""
    kind = SCALARS[compute]
    if dtype.is_complex:
        kind = {torch.float32: torch.complex64, torch.float64: torch.complex128}[kind]
    return torch.tensor(value, dtype=kind)


def values(*shape, dtype=torch.float32):
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(-5, 6, shape, device="cuda").to(dtype)
    return torch.randn(*shape, device="cuda", dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype)


def columns(x):
    """Returns the elements of a matrix in column-major order."""
    return x.t().contiguous()


def check_gemm_ex(library, dtype, compute, result=None):
    m, n, k = 5, 7, 6
    for ta, tb in ((0, 0), (1, 0), (0, 1), (2, 2)):
        of = [lambda x: x, lambda x: x.t(), lambda x: x.conj().t()]
        a, b = values(*((m, k) if ta == 0 else (k, m)), dtype=dtype), values(*((k, n) if tb == 0 else (n, k)), dtype=dtype)
        c = values(m, n, dtype=result or dtype)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        expected = 2 * of[ta](a.to(wide)) @ of[tb](b.to(wide)) + 3 * c.to(wide)
        memory = columns(a), columns(b), columns(c)
        alpha, beta = number(2, compute, dtype), number(3, compute, dtype)
        status = library.gemm_ex(stream(), ta, tb, m, n, k, pointer(alpha), pointer(memory[0]), a.shape[0], pointer(memory[1]), b.shape[0],
                                 pointer(beta), pointer(memory[2]), m, TYPES[dtype], TYPES[result or dtype], compute)  # fmt: skip
        assert status == 0, (dtype, status)
        rounding = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-4)
        close(memory[2].t().to(wide), expected, rtol=rounding, atol=20 * rounding)


def check_batches(library):
    a, b, c = values(3, 6, 5), values(3, 7, 6), torch.full((3, 7, 5), torch.nan, device="cuda")  # column-major matrices
    alpha, beta = torch.tensor(1.0), torch.tensor(0.0)
    assert library.strided(stream(), 5, 7, 6, pointer(alpha), pointer(a), pointer(b), pointer(beta), pointer(c), 3, 0, COMPUTE_32F) == 0
    close(c.mT, a.mT @ b.mT)  # beta of 0 ignores the NaN in c


def check_streams_and_graphs(library):
    a, b, c = values(8, 8), values(8, 8), torch.zeros(8, 8, device="cuda")
    alpha, beta = torch.tensor(1.0, device="cuda"), torch.tensor(0.0, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x = a + 1
        assert library.sgemm(stream(), 1, 8, *map(pointer, (alpha, x, b, beta, c))) == 0
        y = c * 2
    side.synchronize()
    close(y, 2 * (b @ (a + 1)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x = a + 1
        assert library.sgemm(stream(), 1, 8, *map(pointer, (alpha, x, b, beta, c))) == 0
    a.fill_(2)
    alpha.fill_(3)
    graph.replay()
    close(c, 3 * (b @ (a + 1)))


def check_lt(library):
    a, b, c, d = values(5, 6), values(7, 6), values(7, 5), torch.empty(7, 5, device="cuda")
    arguments = [pointer(a), pointer(b), ctypes.c_float(0.5), pointer(c), pointer(d), 0]
    assert library.lt(stream(), 5, 7, 6, *arguments, 1) == 0
    close(d.t(), a @ b.t() + 0.5 * c.t())
    assert library.lt(stream(), 5, 7, 6, *arguments, 2) == 15, "an epilogue"


def main():
    library = compiled(pathlib.Path(sys.argv[1]))
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64):
        check_gemm_ex(library, dtype, COMPUTE_32F)
    for dtype in (torch.float64, torch.complex128):
        check_gemm_ex(library, dtype, COMPUTE_64F)
    check_gemm_ex(library, torch.float16, COMPUTE_16F)
    check_gemm_ex(library, torch.bfloat16, COMPUTE_32F, torch.float32)
    check_gemm_ex(library, torch.int8, COMPUTE_32I, torch.int32)
    check_batches(library)
    check_streams_and_graphs(library)
    check_lt(library)
    x = torch.ones(1, device="cuda")
    assert library.gemv(stream(), pointer(x), pointer(x), pointer(x)) == 15
    assert library.create_cudnn() == 3000
    assert library.create_nccl() == 5
    assert library.versions() == 1
    torch.cuda.synchronize()
    print("right")


main()
