// SPDX-License-Identifier: Apache-2.0
// memcpy, and copies that load into registers and store, with normal stores or non-temporal stores
// (streaming). Arrays must begin at a cache line and consist of whole cache lines.
#pragma once

#include <stdint.h>
#include <string.h>

#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kernkit::bench {

using Copy = void(int64_t bytes, unsigned char* to, const unsigned char* from);

#if defined(__x86_64__)
// Copies four registers per iteration. The asm keeps the compiler from replacing the loop by
// memcpy.
#define KERNKIT_BENCH_COPY(name, isa, Vector, load, store)                        \
  __attribute__((target(isa))) inline void name(int64_t bytes, unsigned char* to, \
                                                const unsigned char* from) {      \
    constexpr int64_t kStep = sizeof(Vector);                                     \
    for (int64_t i = 0; i < bytes; i += 4 * kStep) {                              \
      Vector a = load(reinterpret_cast<const Vector*>(from + i));                 \
      Vector b = load(reinterpret_cast<const Vector*>(from + i + kStep));         \
      Vector c = load(reinterpret_cast<const Vector*>(from + i + 2 * kStep));     \
      Vector d = load(reinterpret_cast<const Vector*>(from + i + 3 * kStep));     \
      asm volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d));                      \
      store(reinterpret_cast<Vector*>(to + i), a);                                \
      store(reinterpret_cast<Vector*>(to + i + kStep), b);                        \
      store(reinterpret_cast<Vector*>(to + i + 2 * kStep), c);                    \
      store(reinterpret_cast<Vector*>(to + i + 3 * kStep), d);                    \
    }                                                                             \
    _mm_sfence();                                                                 \
  }
KERNKIT_BENCH_COPY(copy_128, "sse2", __m128i, _mm_load_si128, _mm_store_si128)
KERNKIT_BENCH_COPY(copy_256, "avx2", __m256i, _mm256_load_si256, _mm256_store_si256)
KERNKIT_BENCH_COPY(copy_512, "avx512f", __m512i, _mm512_load_si512, _mm512_store_si512)
KERNKIT_BENCH_COPY(stream_128, "sse2", __m128i, _mm_load_si128, _mm_stream_si128)
KERNKIT_BENCH_COPY(stream_256, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256)
KERNKIT_BENCH_COPY(stream_512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512)
#undef KERNKIT_BENCH_COPY
#else
// Copies four registers of 16 bytes per iteration, with the compiler's vector type.
inline void copy_128(int64_t bytes, unsigned char* to, const unsigned char* from) {
  typedef int64_t Vector __attribute__((vector_size(16)));
  auto* y = reinterpret_cast<Vector*>(to);
  const auto* x = reinterpret_cast<const Vector*>(from);
  for (int64_t i = 0; i < bytes / 16; i += 4) {
    Vector a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];
    asm volatile("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d));
    y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
  }
}
#endif

/// Returns the copies that the processor supports, with their names.
inline std::vector<std::pair<const char*, Copy*>> copies() {
  std::vector<std::pair<const char*, Copy*>> loops = {
      {"memcpy", [](int64_t bytes, unsigned char* to,
                    const unsigned char* from) { memcpy(to, from, static_cast<size_t>(bytes)); }},
      {"register-128", copy_128},
  };
#if defined(__x86_64__)
  loops.emplace_back("streaming-128", stream_128);
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) {
    loops.emplace_back("register-256", copy_256);
    loops.emplace_back("streaming-256", stream_256);
  }
  if (__builtin_cpu_supports("avx512f")) {
    loops.emplace_back("register-512", copy_512);
    loops.emplace_back("streaming-512", stream_512);
  }
#endif
  return loops;
}

}  // namespace kernkit::bench
