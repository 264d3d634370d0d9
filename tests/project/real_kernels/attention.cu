// SPDX-License-Identifier: Apache-2.0
// FlashInfer's kernel for causal attention of one request on tensor cores: float16, heads of 64
// elements, tiles of 64 queries.
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/mask.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variants.cuh>

using namespace flashinfer;

using Params = SinglePrefillParams<half, half, half>;
using Traits =
    KernelTraits<MaskMode::kCausal, 64, 1, 4, 4, 4, 4, 1, PosEncodingMode::kNone, half, half, half,
                 float, int32_t, DefaultAttention<false, false, false, false>>;

// q and out are (queries, heads, 64), k and v (tokens, heads_of_k, 64).
extern "C" int attention(half* q, half* k, half* v, half* out, int64_t queries, int64_t tokens,
                         int64_t heads, int64_t heads_of_k, cudaStream_t stream) {
  Params params(q, k, v, nullptr, out, nullptr, nullptr, heads, heads_of_k, queries, tokens,
                heads * 64, 64, heads_of_k * 64, 64, 64, -1, 0.0f, 0.125f, 1.0f, 1.0f);
  const auto kernel = SinglePrefillWithKVCacheKernel<Traits, Params>;
  const int bytes = sizeof(Traits::SharedStorage);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  void* arguments[] = {&params};
  const unsigned rows = queries * (heads / heads_of_k);
  return cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3((rows + 63) / 64, 1, heads_of_k),
                          dim3(32, Traits::NUM_WARPS_Q, Traits::NUM_WARPS_KV), arguments, bytes,
                          stream);
}
