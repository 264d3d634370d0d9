// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the names of cuBLAS, for libraries that PyTorch's programs load.
// PyTorch's kernels for the CPU compute the products. nvidia_libraries.py writes the other
// functions of cuBLAS, which return that they are not supported.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "matrix_product.h"

// Prints a sentence and keeps it among the reports of the process, see kernkit/simulator/reports.h.
extern "C" [[gnu::weak]] void kernkit_add_report(const char* sentence);

namespace {

std::atomic<kernkit_product_function> product_function{nullptr};

struct Handle {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
};
Handle* of(cublasHandle_t handle) { return reinterpret_cast<Handle*>(handle); }

cublasStatus_t not_supported(const char* function, const std::string& what) {
  if (kernkit_add_report != nullptr) {
    kernkit_add_report((std::string(function) + "(): " + what +
                        " is not supported: it returns CUBLAS_STATUS_NOT_SUPPORTED; use an "
                        "operator of PyTorch, or run the program on a GPU")
                           .c_str());
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

bool is_one_of(cudaDataType type, std::initializer_list<cudaDataType> types) {
  for (const cudaDataType other : types) {
    if (type == other) return true;
  }
  return false;
}

bool is_complex(cudaDataType type) { return is_one_of(type, {CUDA_C_32F, CUDA_C_64F}); }

// Stores the type in which `compute` adds and multiplies into *arithmetic. Returns false if the
// compute type is not supported.
bool arithmetic_of(cublasComputeType_t compute, bool complex, cudaDataType* arithmetic) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: *arithmetic = complex ? CUDA_C_32F : CUDA_R_32F; return true;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: *arithmetic = complex ? CUDA_C_64F : CUDA_R_64F; return true;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: *arithmetic = CUDA_R_32I; return !complex;
    default: return false;
  }
}

cudaDataType scalar_of(cublasComputeType_t compute, cudaDataType arithmetic) {
  const bool is_half = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
  return is_half ? CUDA_R_16F : arithmetic;
}

// Returns a column-major matrix, transposed unless `operation` is CUBLAS_OP_N. `leading`: leading
// dimension in elements.
kernkit_matrix matrix(const void* data, cudaDataType type, int64_t leading, int64_t batch_stride,
                      cublasOperation_t operation) {
  kernkit_matrix x{const_cast<void*>(data), type, 1, leading, batch_stride, 0};
  if (operation != CUBLAS_OP_N) {
    x.row_stride = leading;
    x.column_stride = 1;
  }
  x.is_conjugated = operation == CUBLAS_OP_C && is_complex(type);
  return x;
}

// Checks the sizes and types of a product, and enqueues the product. Returns the status that the
// cuBLAS function returns.
cublasStatus_t enqueue(const kernkit_matrix_product& product, cudaStream_t stream) {
  if (product.m < 0 || product.n < 0 || product.k < 0 || product.batch < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const kernkit_matrix* x : {&product.a, &product.b, &product.c, &product.d}) {
    if (!is_one_of(x->type, {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
                             CUDA_C_64F, CUDA_R_8I, CUDA_R_32I})) {
      return not_supported(product.function, "cudaDataType " + std::to_string(x->type));
    }
  }
  if (product.m == 0 || product.n == 0 || product.batch == 0) return CUBLAS_STATUS_SUCCESS;
  const kernkit_product_function function = product_function;
  if (function == nullptr) return not_supported(product.function, "a call before import torch");
  return function(&product, stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                   : CUBLAS_STATUS_EXECUTION_FAILED;
}

struct Operand {
  const void* data;
  cudaDataType type;
  int64_t leading, batch_stride;
};

cublasStatus_t multiply(const char* function, cublasHandle_t handle, cublasOperation_t trans_a,
                        cublasOperation_t trans_b, int64_t m, int64_t n, int64_t k,
                        const void* alpha, const Operand& a, const Operand& b, const void* beta,
                        const Operand& c, int64_t batch, cublasComputeType_t compute) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  kernkit_matrix_product product{};
  product.function = function;
  product.m = m;
  product.n = n;
  product.k = k;
  product.batch = batch;
  product.a = matrix(a.data, a.type, a.leading, a.batch_stride, trans_a);
  product.b = matrix(b.data, b.type, b.leading, b.batch_stride, trans_b);
  product.c = product.d = matrix(c.data, c.type, c.leading, c.batch_stride, CUBLAS_OP_N);
  if (!arithmetic_of(compute, is_complex(c.type), &product.arithmetic)) {
    return not_supported(function, "cublasComputeType_t " + std::to_string(compute));
  }
  product.scalar = scalar_of(compute, product.arithmetic);
  product.alpha = alpha;
  product.beta = beta;
  product.has_scalars_on_device = of(handle)->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  return enqueue(product, of(handle)->stream);
}

// The contents of cuBLASLt's opaque descriptors.
struct Layout {
  cudaDataType type;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};
struct Operation {
  cublasComputeType_t compute;
  cudaDataType scalar;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int32_t transposed[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t unsupported = -1;  // an unsupported attribute that the program has set; -1 for none
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "");
static_assert(sizeof(Operation) <= sizeof(cublasLtMatmulDescOpaque_t), "");
Layout* of(cublasLtMatrixLayout_t x) { return reinterpret_cast<Layout*>(x); }
Operation* of(cublasLtMatmulDesc_t x) { return reinterpret_cast<Operation*>(x); }

struct Field {
  void* at = nullptr;
  size_t size = 0;
};
template <class T>
Field field(T* at) {
  return {at, sizeof(T)};
}
Field field_of(Layout* x, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return field(&x->type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return field(&x->order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return field(&x->rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return field(&x->columns);
    case CUBLASLT_MATRIX_LAYOUT_LD: return field(&x->leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return field(&x->batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return field(&x->batch_stride);
    default: return {};
  }
}
Field field_of(Operation* x, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return field(&x->compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return field(&x->scalar);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return field(&x->pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return field(&x->transposed[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB: return field(&x->transposed[1]);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return field(&x->epilogue);
    default: return {};
  }
}
cublasStatus_t set(const Field& field, const void* value, size_t size) {
  if (field.at == nullptr || value == nullptr || size != field.size) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(field.at, value, size);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t get(const Field& field, void* value, size_t size, size_t* written) {
  if (written != nullptr) *written = field.size;
  if (field.at == nullptr || (value != nullptr && size < field.size)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (value != nullptr) std::memcpy(value, field.at, field.size);
  return CUBLAS_STATUS_SUCCESS;
}

kernkit_matrix matrix(const void* data, const Layout& layout, int32_t operation) {
  kernkit_matrix x = matrix(data, layout.type, layout.leading, layout.batch_stride,
                            static_cast<cublasOperation_t>(operation));
  if (layout.order == CUBLASLT_ORDER_ROW) std::swap(x.row_stride, x.column_stride);
  return x;
}

// Returns the unsupported setting of a product of cuBLASLt, such as "epilogue 2"; "" if all
// settings are supported.
std::string problem_of(const Operation& operation, std::initializer_list<const Layout*> layouts) {
  if (operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return "epilogue " + std::to_string(operation.epilogue);
  }
  if (operation.unsupported >= 0) {
    return "attribute " + std::to_string(operation.unsupported) + " of cublasLtMatmulDesc_t";
  }
  if (operation.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
    return "pointer mode " + std::to_string(operation.pointer_mode);
  }
  for (const Layout* layout : layouts) {
    if (layout->order > CUBLASLT_ORDER_ROW) return "order " + std::to_string(layout->order);
  }
  return "";
}

}  // namespace

#define KERNKIT_API extern "C" __attribute__((visibility("default")))

KERNKIT_API void kernkit_set_product_function(kernkit_product_function function) {
  product_function = function;
}

KERNKIT_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasHandle_t>(new Handle);
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete of(handle);
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

#define KERNKIT_PROPERTY(name, suffix, type, member)                                       \
  KERNKIT_API cublasStatus_t cublasSet##name##suffix(cublasHandle_t handle, type value) {  \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;                           \
    of(handle)->member = value;                                                            \
    return CUBLAS_STATUS_SUCCESS;                                                          \
  }                                                                                        \
  KERNKIT_API cublasStatus_t cublasGet##name##suffix(cublasHandle_t handle, type* value) { \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;                           \
    if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;                              \
    *value = of(handle)->member;                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                          \
  }
KERNKIT_PROPERTY(Stream, _v2, cudaStream_t, stream)
KERNKIT_PROPERTY(PointerMode, _v2, cublasPointerMode_t, pointer_mode)
KERNKIT_PROPERTY(MathMode, , cublasMath_t, math_mode)
KERNKIT_PROPERTY(AtomicsMode, , cublasAtomicsMode_t, atomics_mode)

KERNKIT_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t trans_a,
                                        cublasOperation_t trans_b, int m, int n, int k,
                                        const void* alpha, const void* a, cudaDataType a_type,
                                        int lda, const void* b, cudaDataType b_type, int ldb,
                                        const void* beta, void* c, cudaDataType c_type, int ldc,
                                        cublasComputeType_t compute, cublasGemmAlgo_t) {
  return multiply("cublasGemmEx", handle, trans_a, trans_b, m, n, k, alpha, {a, a_type, lda, 0},
                  {b, b_type, ldb, 0}, beta, {c, c_type, ldc, 0}, 1, compute);
}
KERNKIT_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n,
    int k, const void* alpha, const void* a, cudaDataType a_type, int lda, long long int stride_a,
    const void* b, cudaDataType b_type, int ldb, long long int stride_b, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long int stride_c, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return multiply("cublasGemmStridedBatchedEx", handle, trans_a, trans_b, m, n, k, alpha,
                  {a, a_type, lda, stride_a}, {b, b_type, ldb, stride_b}, beta,
                  {c, c_type, ldc, stride_c}, batch, compute);
}

#define KERNKIT_GEMM(letter, suffix, type, data_type, compute)                                     \
  KERNKIT_API cublasStatus_t cublas##letter##gemm##suffix(                                         \
      cublasHandle_t handle, cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n,   \
      int k, const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta,  \
      type* c, int ldc) {                                                                          \
    return multiply("cublas" #letter "gemm", handle, trans_a, trans_b, m, n, k, alpha,             \
                    {a, data_type, lda, 0}, {b, data_type, ldb, 0}, beta, {c, data_type, ldc, 0},  \
                    1, compute);                                                                   \
  }                                                                                                \
  KERNKIT_API cublasStatus_t cublas##letter##gemmStridedBatched(                                   \
      cublasHandle_t handle, cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n,   \
      int k, const type* alpha, const type* a, int lda, long long int stride_a, const type* b,     \
      int ldb, long long int stride_b, const type* beta, type* c, int ldc, long long int stride_c, \
      int batch) {                                                                                 \
    return multiply("cublas" #letter "gemmStridedBatched", handle, trans_a, trans_b, m, n, k,      \
                    alpha, {a, data_type, lda, stride_a}, {b, data_type, ldb, stride_b}, beta,     \
                    {c, data_type, ldc, stride_c}, batch, compute);                                \
  }
KERNKIT_GEMM(S, _v2, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
KERNKIT_GEMM(D, _v2, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
KERNKIT_GEMM(C, _v2, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
KERNKIT_GEMM(Z, _v2, cuDoubleComplex, CUDA_C_64F, CUBLAS_COMPUTE_64F)
KERNKIT_GEMM(H, , __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)

KERNKIT_API cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
KERNKIT_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy_v2(reinterpret_cast<cublasHandle_t>(handle));
}
KERNKIT_API size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

KERNKIT_API cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t,
                                                             cudaDataType type, uint64_t rows,
                                                             uint64_t columns, int64_t leading) {
  Layout content{};
  content.type = type;
  content.rows = rows;
  content.columns = columns;
  content.leading = leading;
  std::memcpy(static_cast<void*>(layout), &content, sizeof(content));
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                                      cudaDataType type, uint64_t rows,
                                                      uint64_t columns, int64_t leading) {
  *layout = new cublasLtMatrixLayoutOpaque_t{};
  return cublasLtMatrixLayoutInit_internal(*layout, sizeof(**layout), type, rows, columns, leading);
}
KERNKIT_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
    size_t size) {
  return set(field_of(of(layout), attribute), value, size);
}
KERNKIT_API cublasStatus_t cublasLtMatrixLayoutGetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, void* value,
    size_t size, size_t* written) {
  return get(field_of(of(layout), attribute), value, size, written);
}

KERNKIT_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t operation, size_t,
                                                           cublasComputeType_t compute,
                                                           cudaDataType_t scalar) {
  Operation content{};
  content.compute = compute;
  content.scalar = scalar;
  std::memcpy(static_cast<void*>(operation), &content, sizeof(content));
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                                    cublasComputeType_t compute,
                                                    cudaDataType_t scalar) {
  *operation = new cublasLtMatmulDescOpaque_t{};
  return cublasLtMatmulDescInit_internal(*operation, sizeof(**operation), compute, scalar);
}
KERNKIT_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                                          cublasLtMatmulDescAttributes_t attribute,
                                                          const void* value, size_t size) {
  const Field known = field_of(of(operation), attribute);
  if (known.at != nullptr) return set(known, value, size);
  // Hints about speed are ignored. A product with another unknown attribute is rejected.
  if (attribute != CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET &&
      attribute != CUBLASLT_MATMUL_DESC_FAST_ACCUM) {
    of(operation)->unsupported = attribute;
  }
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t operation,
                                                          cublasLtMatmulDescAttributes_t attribute,
                                                          void* value, size_t size,
                                                          size_t* written) {
  return get(field_of(of(operation), attribute), value, size, written);
}

KERNKIT_API cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t) {
  std::memset(static_cast<void*>(preference), 0, sizeof(*preference));
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
KERNKIT_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

KERNKIT_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t, int requested, cublasLtMatmulHeuristicResult_t results[],
    int* returned) {
  if (requested < 1 || returned == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *returned = 0;
  const std::string problem = problem_of(*of(operation), {of(a), of(b), of(c), of(d)});
  if (!problem.empty()) return not_supported("cublasLtMatmulAlgoGetHeuristic", problem);
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

KERNKIT_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t described,
                                          const void* alpha, const void* a,
                                          cublasLtMatrixLayout_t a_layout, const void* b,
                                          cublasLtMatrixLayout_t b_layout, const void* beta,
                                          const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                          cublasLtMatrixLayout_t d_layout,
                                          const cublasLtMatmulAlgo_t*, void*, size_t,
                                          cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Operation& operation = *of(described);
  const Layout &of_a = *of(a_layout), &of_b = *of(b_layout), &of_c = *of(c_layout),
               &of_d = *of(d_layout);
  const std::string problem = problem_of(operation, {&of_a, &of_b, &of_c, &of_d});
  if (!problem.empty()) return not_supported("cublasLtMatmul", problem);
  kernkit_matrix_product product{};
  product.function = "cublasLtMatmul";
  product.m = static_cast<int64_t>(of_d.rows);
  product.n = static_cast<int64_t>(of_d.columns);
  product.k =
      static_cast<int64_t>(operation.transposed[0] == CUBLAS_OP_N ? of_a.columns : of_a.rows);
  product.batch = of_d.batch;
  product.a = matrix(a, of_a, operation.transposed[0]);
  product.b = matrix(b, of_b, operation.transposed[1]);
  product.c = matrix(c, of_c, CUBLAS_OP_N);
  product.d = matrix(d, of_d, CUBLAS_OP_N);
  if (!arithmetic_of(operation.compute, is_complex(of_d.type), &product.arithmetic)) {
    return not_supported("cublasLtMatmul",
                         "cublasComputeType_t " + std::to_string(operation.compute));
  }
  if (!is_one_of(operation.scalar,
                 {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F, CUDA_R_32I})) {
    return not_supported("cublasLtMatmul", "scale type " + std::to_string(operation.scalar));
  }
  product.scalar = operation.scalar;
  product.alpha = alpha;
  product.beta = beta;
  product.has_scalars_on_device = operation.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  return enqueue(product, stream);
}
