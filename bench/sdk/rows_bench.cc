// SPDX-License-Identifier: Apache-2.0
// cpu::rows: an RMS norm and a softmax of n rows of d elements, compared with plain loops and with
// a copy of the same size.
#include "kernkit/cpu/rows.h"

#include <cmath>

#include "kernkit/math.h"
#include "kernkit/testing/benchmark.h"

namespace kernkit::bench {
namespace {

using Types = types<float, float16, bfloat16>;
using testing::HostTensor;

constexpr float kEps = 1e-6f;

template <class T>
void rms_norm(int64_t n, int64_t d, T* y, const T* x, const T* weight) {
  cpu::rows(n, d, 2 * static_cast<size_t>(n * d) * sizeof(T), [=](const auto& row, int64_t r) {
    const T* in = x + r * d;
    const float squares = row.sum([](float v) { return v * v; }, in);
    const float scale = math::rsqrt(squares / static_cast<float>(d) + kEps);
    row.map([scale](float v, float g) { return v * scale * g; }, y + r * d, in, weight);
  });
}

template <class T>
void softmax(int64_t n, int64_t d, T* y, const T* x, const T*) {
  cpu::rows(n, d, 2 * static_cast<size_t>(n * d) * sizeof(T), [=](const auto& row, int64_t r) {
    const T* in = x + r * d;
    const float largest = row.max([](float v) { return v; }, in);
    const auto part = [largest](float v) { return math::exp(v - largest); };
    const float scale = 1 / row.sum(part, in);
    row.map([part, scale](float v) { return part(v) * scale; }, y + r * d, in);
  });
}

template <class T>
void plain_rms_norm(int64_t n, int64_t d, T* y, const T* x, const T* weight) {
  for (int64_t r = 0; r < n; ++r, x += d, y += d) {
    float squares = 0;
    for (int64_t i = 0; i < d; ++i) squares += static_cast<float>(x[i]) * static_cast<float>(x[i]);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(d) + kEps);
    for (int64_t i = 0; i < d; ++i) {
      y[i] = static_cast<T>(static_cast<float>(x[i]) * scale * static_cast<float>(weight[i]));
    }
  }
}

template <class T>
void plain_softmax(int64_t n, int64_t d, T* y, const T* x, const T*) {
  for (int64_t r = 0; r < n; ++r, x += d, y += d) {
    float largest = -HUGE_VALF, sum = 0;
    for (int64_t i = 0; i < d; ++i) largest = std::fmax(largest, static_cast<float>(x[i]));
    for (int64_t i = 0; i < d; ++i) sum += std::exp(static_cast<float>(x[i]) - largest);
    for (int64_t i = 0; i < d; ++i) {
      y[i] = static_cast<T>(std::exp(static_cast<float>(x[i]) - largest) / sum);
    }
  }
}

void shapes(benchmark::internal::Benchmark* rows) {
  rows->ArgNames({"n", "d"})->Args({512, 128})->Args({64, 1000})->Args({64, 4096});
  rows->Args({1024, 4096});
}

// Times `call`, after a check that `call` and `plain` give the same results, apart from rounding
// errors.
template <class T, class Call, class Plain>
void time(benchmark::State& state, const Call& call, const Plain& plain) {
  const int64_t n = state.range(0), d = state.range(1);
  HostTensor<T> x({n * d}), weight({d}), y({n * d}), expected({n * d});
  for (int64_t i = 0; i < n * d; ++i) x[i] = T(static_cast<float>(i * 37 % 101 - 50) * 0.0625f);
  for (int64_t i = 0; i < d; ++i) weight[i] = T(static_cast<float>(i % 13 + 1) * 0.125f);
  call(n, d, y.begin(), x.begin(), weight.begin());
  plain(n, d, expected.begin(), x.begin(), weight.begin());
  for (int64_t i = 0; i < n * d; ++i) {
    const auto reference = static_cast<float>(expected[i]);
    if (!(std::fabs(static_cast<float>(y[i]) - reference) <=
          0.01f * std::fabs(reference) + 1e-7f)) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    call(n, d, y.begin(), x.begin(), weight.begin());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * n * d * static_cast<int64_t>(sizeof(T)));
}

// Registers the rows of the op and of its plain loop.
#define KERNKIT_BENCH_ROWS(op)                                                    \
  testing::add_rows(#op, Types{}, shapes, [](auto tag, benchmark::State& state) { \
    using T = type_of<decltype(tag)>;                                             \
    time<T>(state, op<T>, plain_##op<T>);                                         \
  });                                                                             \
  testing::cpu_benchmark::detail::add_row<float>(                                 \
      #op, "plain-loop", shapes, [](auto, benchmark::State& state) {              \
        time<float>(state, plain_##op<float>, plain_##op<float>);                 \
      })

[[maybe_unused]] const bool registered = [] {
  KERNKIT_BENCH_ROWS(rms_norm);
  KERNKIT_BENCH_ROWS(softmax);
  testing::add_memcpy_rows(Types{}, shapes, [](auto tag, const benchmark::State& state) {
    return 2 * state.range(0) * state.range(1) *
           static_cast<int64_t>(sizeof(typename decltype(tag)::type));
  });
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
