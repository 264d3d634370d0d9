// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cpu/rows.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "kernkit/math.h"
#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"

namespace kernkit::cpu {
namespace {

using testing::HostTensor;

// Numbers of elements of a row: near the size of a block, and of long rows.
const int64_t kWidths[] = {0, 1, 3, 31, 63, 64, 65, 127, 128, 129, 191, 1000, 4099};

// Rows of x may have a stride larger than d; rows of y and the weight are dense.
// [rms_norm]
template <class T>
void rms_norm(int64_t n, int64_t d, T* y, const T* x, int64_t stride, const T* weight, float eps) {
  const size_t bytes = 2 * static_cast<size_t>(n * d) * sizeof(T);
  cpu::rows(n, d, bytes, [=](const auto& row, int64_t r) {
    const T* in = x + r * stride;
    using C = compute_t<T>;
    const C squares = row.sum([](C v) { return v * v; }, in);
    const C scale = math::rsqrt(squares / static_cast<C>(d) + static_cast<C>(eps));
    row.map([scale](C v, C g) { return v * scale * g; }, y + r * d, in, weight);
  });
}
// [/rms_norm]

// [softmax]
template <class T>
void softmax(int64_t n, int64_t d, T* y, const T* x, int64_t stride) {
  const size_t bytes = 2 * static_cast<size_t>(n * d) * sizeof(T);
  cpu::rows(n, d, bytes, [=](const auto& row, int64_t r) {
    using C = compute_t<T>;
    const T* in = x + r * stride;
    const C largest = row.max([](C v) { return v; }, in);
    const auto parts = row.keep([largest](C v) { return math::exp_of_negative(v - largest); }, in);
    const C scale = 1 / row.sum([](C v) { return v; }, parts);
    row.map([scale](C v) { return v * scale; }, y + r * d, parts);
  });
}
// [/softmax]

// Returns the results of rms_norm or softmax for n rows of d elements. `gap` elements separate the
// rows of x.
template <class T>
std::vector<T> run(bool norm, int64_t n, int64_t d, int64_t gap, HostTensor<T>& x,
                   HostTensor<T>& weight) {
  HostTensor<T> y({n * d}, {1, 0, false});
  if (norm) {
    rms_norm<T>(n, d, y.begin(), x.begin(), d + gap, weight.begin(), 1e-6f);
  } else {
    softmax<T>(n, d, y.begin(), x.begin(), d + gap);
  }
  EXPECT_TRUE(y.intact());
  return {y.begin(), y.end()};
}

template <class T>
void fill(HostTensor<T>& x, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 2);
  for (T& value : x) value = static_cast<T>(static_cast<compute_t<T>>(normal(random)));
}

template <class T>
long double wide(T value) {
  return static_cast<long double>(static_cast<compute_t<T>>(value));
}

template <class T>
constexpr long double kTolerance = sizeof(T) == 8   ? 1e-14L
                                   : sizeof(T) == 4 ? 2e-6L
                                                    : 4e-3L;

template <class T>
class CpuRows : public ::testing::Test {
 protected:
  void TearDown() override {
    detail::chosen_machine() = detail::find_machine();
    set_threads(threads_);
  }
  const int threads_ = threads();
};
using Types = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(CpuRows, Types, );

TYPED_TEST(CpuRows, NormAndSoftmaxAreRight) {
  using T = TypeParam;
  for (const int64_t d : kWidths) {
    for (const int64_t gap : {0, 5}) {
      const int64_t n = 3;
      HostTensor<T> x({n * (d + gap)}, {1, 0, false}), weight({d}, {3, 0, false});
      fill(x, 1);
      fill(weight, 2);
      const std::vector<T> norm = run<T>(true, n, d, gap, x, weight);
      const std::vector<T> soft = run<T>(false, n, d, gap, x, weight);
      for (int64_t r = 0; r < n; ++r) {
        const T* in = x.begin() + r * (d + gap);
        long double squares = 0, largest = -HUGE_VALL, sum = 0;
        for (int64_t i = 0; i < d; ++i) squares += wide(in[i]) * wide(in[i]);
        for (int64_t i = 0; i < d; ++i) largest = std::max(largest, wide(in[i]));
        for (int64_t i = 0; i < d; ++i) sum += std::exp(wide(in[i]) - largest);
        const long double scale = 1 / std::sqrt(squares / static_cast<long double>(d) + 1e-6L);
        for (int64_t i = 0; i < d; ++i) {
          const auto at = static_cast<size_t>(r * d + i);
          const long double n_exact = wide(in[i]) * scale * wide(weight[i]);
          const long double s_exact = std::exp(wide(in[i]) - largest) / sum;
          ASSERT_LE(std::fabs(wide(norm[at]) - n_exact), kTolerance<T> * (1 + std::fabs(n_exact)))
              << "d = " << d << ", row " << r << ", column " << i;
          ASSERT_LE(std::fabs(wide(soft[at]) - s_exact), kTolerance<T> * s_exact + 1e-7L)
              << "d = " << d << ", row " << r << ", column " << i;
        }
      }
    }
  }
}

// The results of a row have the same bits for every instruction set and number of threads, and
// whether the row is one of several rows or the only row.
TYPED_TEST(CpuRows, BitsDependOnTheRowAlone) {
  using T = TypeParam;
  for (const int64_t d : kWidths) {
    if (d == 0) continue;
    const int64_t n = 40;
    HostTensor<T> x({n * d}), weight({d});
    fill(x, 3);
    fill(weight, 4);
    for (const bool norm : {true, false}) {
      detail::chosen_machine() = detail::find_machine();
      const std::vector<T> expected = run<T>(norm, n, d, 0, x, weight);
      for (const auto set :
           {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
        if (set > detail::find_machine().instruction_set) continue;
        detail::chosen_machine().instruction_set = set;
        for (const size_t threading : {SIZE_MAX, size_t{1}}) {
          for (const size_t streaming : {SIZE_MAX, size_t{1}}) {
            detail::chosen_machine().threading_bytes = threading;
            detail::chosen_machine().streaming = kNonTemporal;
            detail::chosen_machine().streaming_bytes = streaming;
            set_threads(threading == 1 ? 3 : 1);
            const std::vector<T> got = run<T>(norm, n, d, 0, x, weight);
            ASSERT_EQ(memcmp(got.data(), expected.data(), got.size() * sizeof(T)), 0)
                << "d = " << d << ", set " << static_cast<int>(set) << ", norm " << norm
                << ", streaming " << (streaming == 1);
          }
        }
      }
      for (const int64_t r : {int64_t{0}, int64_t{17}, n - 1}) {
        HostTensor<T> alone({d}, {2, 0, false});
        std::copy_n(x.begin() + r * d, d, alone.begin());
        const std::vector<T> got = run<T>(norm, 1, d, 0, alone, weight);
        ASSERT_EQ(memcmp(got.data(), expected.data() + r * d, got.size() * sizeof(T)), 0)
            << "d = " << d << ", row " << r;
      }
    }
  }
}

// A body reads its results back correctly if results are streamed. The first row, which determines
// the streamed results, does not read the results back here; later rows do.
TYPED_TEST(CpuRows, StreamedResultsAreReadBack) {
  using T = TypeParam;
  using C = compute_t<T>;
  detail::chosen_machine().streaming = kNonTemporal;
  detail::chosen_machine().streaming_bytes = 1;
  const auto twice = [](C v) { return v + v; };
  for (const int64_t d : {64, 100, 1024, 5000}) {
    const int64_t n = 3;
    HostTensor<T> x({n * d}), once({n * d}, {1, 0, false}), again({n * d});
    for (int64_t i = 0; i < n * d; ++i) x[i] = T(C(static_cast<float>(i % 31)));
    T *const to = once.begin(), *const last = again.begin();
    const T* const in = x.begin();
    rows(n, d, static_cast<size_t>(n * d) * sizeof(T), [=](const auto& row, int64_t r) {
      const auto doubled = row.map(twice, to + r * d, in + r * d);
      if (r > 0) row.map(twice, last + r * d, doubled);
    });
    for (int64_t i = 0; i < n * d; ++i) {
      ASSERT_EQ(C(once[i]), C(2 * (i % 31))) << "d = " << d << ", element " << i;
      if (i >= d) {
        ASSERT_EQ(C(again[i]), C(4 * (i % 31))) << "d = " << d << ", element " << i;
      }
    }
    EXPECT_TRUE(once.intact() && again.intact());
  }
}

// Wraps RowStreams for use by one row.
struct Streams {
  detail::RowStreams& of_all;
  detail::RowStreams::Row row;
  void read(const void* in) { of_all.read(row, in); }
  bool next(const void* out) { return of_all.next(row, out); }
  void end() { of_all.end_row(row); }
};

// Returns the state of RowStreams after a first row with this body.
template <class Row>
int streams_after(const Row& row) {
  int bits = detail::RowStreams::kUnknown;
  detail::RowStreams streams(&bits);
  Streams of_row{streams, {}};
  row(of_row);
  of_row.end();
  return bits;
}

TEST(CpuRowStreams, ResultsThatTheBodyDoesNotRead) {
  char x = 0, y = 0, z = 0;
  EXPECT_EQ(streams_after([&](Streams& s) { s.read(&x), s.next(&y); }), 1);
  EXPECT_EQ(streams_after([&](Streams& s) { s.read(&x), s.next(&x); }), 0) << "in place";
  EXPECT_EQ(streams_after([&](Streams& s) { s.next(&x), s.read(&x); }), 0) << "read later";
  EXPECT_EQ(streams_after([&](Streams& s) { s.next(&y), s.read(&y), s.next(&z); }), 2);
  EXPECT_EQ(streams_after([&](Streams& s) { s.next(&y), s.next(&z), s.read(&x); }), 3);
  EXPECT_EQ(streams_after([](Streams&) {}), 0) << "no map()";
  char bytes[10];
  const auto reads_all = [&](Streams& s) {
    for (const char& in : bytes) s.read(&in);
    s.next(&bytes[9]);
  };
  EXPECT_EQ(streams_after(reads_all), 0) << "the body reads more arrays than RowStreams records";
}

TEST(CpuRowStreams, LaterRowsUseTheFirst) {
  char x = 0, y = 0, z = 0;
  int bits = detail::RowStreams::kUnknown;
  detail::RowStreams streams(&bits), following(&bits);
  for (const bool first : {true, false}) {
    Streams row{streams, {}};
    row.read(&x);
    EXPECT_FALSE(row.next(&x)) << "in place";
    EXPECT_EQ(row.next(&y), !first);
    EXPECT_EQ(row.next(&z), !first);
    row.end();
  }
  EXPECT_EQ(bits, 6);
  detail::RowStreams off(nullptr);
  EXPECT_FALSE((Streams{off, {}}.next(&y)));
  detail::RowStreams next_thread(&bits);
  Streams row{next_thread, {}};
  EXPECT_FALSE(row.next(&x));
  EXPECT_TRUE(row.next(&y));
  EXPECT_FALSE((Streams{following, {}}.next(&y))) << "the row started before the first row ended";
}

// Results are streamed from the second row on. The op reads the first element of its output row:
// with streaming, results are stored one part at a time, so the first element still has its old
// value when later blocks of the part are computed.
TEST(CpuRow, StreamsFromTheSecondRowOn) {
  constexpr int64_t kD = 256;
  detail::chosen_machine().threading_bytes = size_t{1} << 40;
  detail::chosen_machine().streaming = kNonTemporal;
  for (const bool streaming : {false, true}) {
    detail::chosen_machine().streaming_bytes = streaming ? 1 : size_t{1} << 40;
    HostTensor<double> x({kD}), y({2 * kD});
    for (double& v : y) v = 0;
    for (int64_t i = 0; i < kD; ++i) x[i] = static_cast<double>(i);
    rows(2, kD, 1024, [&, y = y.begin()](const auto& row, int64_t r) {
      const volatile double* const first = y + r * kD;
      row.map([first](double v) { return v < 64 ? 7 : *first; }, y + r * kD,
              static_cast<const double*>(x.begin()));
    });
    EXPECT_EQ(y[64], 7);
    EXPECT_EQ(y[kD + 64], streaming ? 0 : 7);
  }
  detail::chosen_machine() = detail::find_machine();
}

// Returns whether a helper takes one of two rows of this size. The row on the caller's thread waits
// for the other row, for at most `patience`.
bool has_help(size_t bytes, std::chrono::milliseconds patience) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  std::atomic<int> rows_run{0};
  rows(2, 1, bytes, [&](const auto&, int64_t) {
    ++rows_run;
    if (std::this_thread::get_id() != caller) helped = true;
    for (int ms = 0; ms < patience.count() && !helped; ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(rows_run, 2);
  return helped;
}

class CpuRowThreads : public ::testing::Test {
 protected:
  void SetUp() override { set_threads(4); }
  void TearDown() override {
    detail::chosen_machine() = detail::find_machine();
    set_threads(threads_);
  }
  const int threads_ = threads();
};

TEST_F(CpuRowThreads, TakePartFromAnEighthOfTheBytesOfALoop) {
  detail::chosen_machine().threading_bytes = size_t{8} << 20;
  EXPECT_TRUE(has_help(size_t{1} << 20, std::chrono::seconds(10)));
  EXPECT_TRUE(has_help(size_t{1} << 40, std::chrono::seconds(10)));
  EXPECT_FALSE(has_help((size_t{1} << 20) - 1, std::chrono::milliseconds(50)));
  EXPECT_FALSE(has_help(0, std::chrono::milliseconds(50)));
  set_threads(1);
  EXPECT_FALSE(has_help(size_t{1} << 40, std::chrono::milliseconds(50)));
}

template <InstructionSet kSet>
InstructionSet set_of(const Row<kSet>&) {
  return kSet;
}

// rows() runs the code of the chosen instruction set. The type of the row identifies the code,
// because the results are the same for all instruction sets.
TEST_F(CpuRowThreads, RunTheCodeOfTheChosenInstructionSet) {
  for (const size_t bytes : {size_t{0}, size_t{1} << 40}) {  // the second value uses threads
    for (const InstructionSet chosen : {InstructionSet::kBaseline, InstructionSet::kAvx2,
                                        InstructionSet::kAvx512, InstructionSet::kAvx512Bf16}) {
      if (chosen > detail::find_machine().instruction_set) continue;
      detail::chosen_machine().instruction_set = chosen;
      rows(1, 4, bytes, [chosen](const auto& row, int64_t) {
        EXPECT_EQ(set_of(row), std::min(chosen, InstructionSet::kAvx512));
      });
    }
  }
}

// The sum and the maximum of a row with a NaN at any position are NaN, also if the sign bit of the
// NaN is set, as in the NaN that x86 creates.
TYPED_TEST(CpuRows, NanIsKept) {
  using T = TypeParam;
  using C = compute_t<T>;
  const C nan = std::numeric_limits<C>::quiet_NaN(), inf = std::numeric_limits<C>::infinity();
  for (const C nan_value : {nan, -nan}) {
    for (const int64_t d : {1, 5, 64, 100, 300}) {
      for (int64_t at = 0; at < d; ++at) {
        HostTensor<T> x({d}, {}, T(C(1)));
        x[at] = T(nan_value);
        C sum = 0, max = 0;
        const auto reduce = [&] {
          rows(1, d, 0, [&](const auto& row, int64_t) {
            sum = row.sum([](C v) { return v; }, static_cast<const T*>(x.begin()));
            max = row.max([](C v) { return v; }, static_cast<const T*>(x.begin()));
          });
        };
        reduce();
        ASSERT_TRUE(std::isnan(sum) && std::isnan(max)) << "d = " << d << ", at " << at;
        x[at] = T(inf);
        reduce();
        ASSERT_EQ(max, inf);
      }
    }
  }
}

TEST(CpuRow, OfNoElements) {
  float sum = 1, max = 1;
  rows(1, 0, 0, [&](const auto& row, int64_t) {
    sum = row.sum([](float v) { return v; }, static_cast<const float*>(nullptr));
    max = row.max([](float v) { return v; }, static_cast<const float*>(nullptr));
  });
  EXPECT_EQ(sum, 0.0f);
  EXPECT_EQ(max, -std::numeric_limits<float>::infinity());
  for (const size_t bytes : {size_t{0}, size_t{1} << 40}) {  // the second value uses threads
    for (const int64_t n : {int64_t{0}, int64_t{-1}}) {
      rows(n, 4, bytes,
           [&](const auto&, int64_t) { ADD_FAILURE() << "called although there is no row"; });
    }
  }
}

// map_sum() supports three inputs of different types, one of which is also the output, and returns
// the sum of the stored values. map() then stores to a second output.
TEST(CpuRow, SeveralInputsAndOutputs) {
  for (const int64_t d : kWidths) {
    HostTensor<float> x({d}), total({1});
    HostTensor<float16> half({d}, {1, 0, false}), out({d}, {3, 0, false});
    HostTensor<bfloat16> brain({d});
    fill(x, 1);
    fill(half, 2);
    fill(brain, 3);
    const std::vector<float> before(x.begin(), x.end());
    rows(1, d, 0, [&](const auto& row, int64_t) {
      const auto op = [](float a, float b, float c) { return a * b - c; };
      total[0] = row.map_sum(op, x.begin(), static_cast<const float*>(x.begin()),
                             static_cast<const float16*>(half.begin()),
                             static_cast<const bfloat16*>(brain.begin()));
      row.map([](float v) { return 2 * v; }, out.begin(), static_cast<const float*>(x.begin()));
    });
    double sum = 0;
    for (int64_t i = 0; i < d; ++i) {
      const auto a = before[static_cast<size_t>(i)];
      const volatile float product = a * static_cast<float>(half[i]);
      ASSERT_EQ(x[i], product - static_cast<float>(brain[i])) << i;
      ASSERT_EQ(out[i].bits, float16(2 * x[i]).bits) << i;
      sum += static_cast<double>(x[i]);
    }
    EXPECT_NEAR(total[0], sum, 1e-5 * (1 + static_cast<double>(d)));
    EXPECT_TRUE(x.intact() && out.intact());
  }
}

// If the last block overlaps the preceding block, its inputs must be read before the preceding
// block is written.
TEST(CpuRow, MapInPlaceSeesEachElementOnce) {
  for (const int64_t d : kWidths) {
    HostTensor<float> x({d});
    HostTensor<float16> half({d}, {1, 0, false});
    for (int64_t i = 0; i < d; ++i) {
      x[i] = static_cast<float>(i);
      half[i] = float16(static_cast<float>(i % 99));
    }
    rows(1, d, 0, [&](const auto& row, int64_t) {
      const auto op = [](float v) { return 2 * v + 1; };
      row.map(op, x.begin(), static_cast<const float*>(x.begin()));
      row.map(op, half.begin(), static_cast<const float16*>(half.begin()));
    });
    for (int64_t i = 0; i < d; ++i) {
      ASSERT_EQ(x[i], static_cast<float>(2 * i + 1)) << "d = " << d;
      ASSERT_EQ(half[i].bits, float16(static_cast<float>(2 * (i % 99) + 1)).bits) << "d = " << d;
    }
    EXPECT_TRUE(x.intact() && half.intact());
  }
}

// Kept values are computed once, and each pass uses the same values.
TEST(CpuRow, KeepsResultsOfAnOp) {
  const auto twice = [](float v) { return v + v; };
  const auto less = [](float v) { return v - 1; };
  for (const int64_t d : kWidths) {
    HostTensor<float16> x({d}), y({d}), z({d});
    fill(x, 1);
    rows(2, d, 0, [&](const auto& row, int64_t) {
      const auto in = row.load(static_cast<const float16*>(x.begin()));
      const auto first = row.keep(twice, in);
      const auto second = row.keep(less, in);
      const auto same = [](float v) { return v; };
      EXPECT_EQ(row.sum(same, first), row.sum(twice, in));
      EXPECT_EQ(row.sum(same, second), row.sum(less, in));
      EXPECT_EQ(row.max(same, first), row.max(twice, in));
      EXPECT_EQ(row.max(same, second), row.max(less, in));
      float sum = 0;
      row.put(&sum, row.sum(twice, row.map(less, y.begin(), first)));
      row.map(twice, z.begin(), second);
      float expected = row.sum(twice, static_cast<const float16*>(y.begin()));
      EXPECT_EQ(sum, expected);
    });
    for (int64_t i = 0; i < d; ++i) {
      const auto v = static_cast<float>(x[i]);
      ASSERT_EQ(y[i].bits, float16(2 * v - 1).bits) << i;
      ASSERT_EQ(z[i].bits, float16(2 * (v - 1)).bits) << i;
    }
  }
}

// Keeps the results of three ops and overwrites their inputs twice. Stores reductions of the kept
// results, which must not change.
struct KeepAndOverwrite {
  int64_t d;
  float* x;
  float* sums;  // 5 sums for each row

  template <class Row>
  void operator()(const Row& row, int64_t r) const {
    float* in = x + r * d;
    const auto same = [](float v) { return v; };
    const auto first = row.keep([](float v) { return v + 1; }, in);
    const auto second = row.keep([](float v) { return v + 2; }, in);
    const auto third = row.keep([](double v) { return v + 3; }, row.load(in));
    row.map([](float a, float b) { return 100 * a + b; }, in, first, second);
    row.put(sums + r * 5, row.sum(same, first));
    row.put(sums + r * 5 + 1, row.sum(same, second));
    row.put(sums + r * 5 + 2, row.sum([](double v) { return v; }, third));
    row.put(sums + r * 5 + 3, row.max(same, second));
    row.map(same, in, second);
    row.put(sums + r * 5 + 4, row.sum([](float v, float w) { return v - w; }, first, second));
  }
};

TEST(CpuRow, KeptValuesOutliveTheirInputs) {
  for (const int count : {1, 2}) {
    set_threads(count);
    for (const size_t bytes : {size_t{0}, size_t{1} << 40}) {  // the second value uses threads
      for (const int64_t d : {1, 7, 64, 130, 1000}) {
        const int64_t n = 9;
        HostTensor<float> x({n * d}), sums({n * 5});
        for (float& v : x) v = 1;
        rows(n, d, bytes, KeepAndOverwrite{d, x.begin(), sums.begin()});
        const auto size = static_cast<float>(d);
        for (int64_t r = 0; r < n; ++r) {
          EXPECT_EQ(sums[5 * r], 2 * size);
          EXPECT_EQ(sums[5 * r + 1], 3 * size);
          EXPECT_EQ(sums[5 * r + 2], 4 * size);
          EXPECT_EQ(sums[5 * r + 3], 3);
          EXPECT_EQ(sums[5 * r + 4], -size);
        }
        for (const float v : x) ASSERT_EQ(v, 3);
      }
    }
  }
  set_threads(1);
}

// Ways in which a body overwrites memory of the row before it uses a value that it read from that
// memory.
enum class Use { kBefore, kLoaded, kMapped, kPut, kMapSum, kPointer, kMany };
float overwrite_and_use(Use use, int64_t d, float* x, float* y, int threads_of_rows) {
  float sum = 0;
  const size_t bytes = threads_of_rows > 1 ? size_t{1} << 40 : 0;
  rows(1, d, bytes, [=, &sum](const auto& row, int64_t) {
    const auto same = [](float v) { return v; };
    const auto seven = [](float) { return 7.0F; };
    const auto in = row.load(static_cast<const float*>(x));
    if (use == Use::kBefore) {  // writes y, then x in place; then uses new values only
      row.map(same, y, in);
      const auto last = row.map(seven, x, in);
      sum = row.sum(same, last) + row.sum(same, row.load(static_cast<const float*>(x)));
    } else if (use == Use::kLoaded) {
      row.map(seven, x, in);
      sum = row.sum(same, in);
    } else if (use == Use::kMapped) {
      const auto out = row.map(same, y, in);
      row.map(seven, y, out);
      sum = row.max(same, out);
    } else if (use == Use::kPut) {
      row.put(x + d - 1, 7);
      row.keep(same, in);
    } else if (use == Use::kMapSum) {
      row.map_sum(seven, x, in);
      row.map(same, y, in);
    } else if (use == Use::kPointer) {
      row.map(seven, x, in);
      sum = row.sum(same, x);
    } else {
      for (int i = 0; i < 100; ++i) {  // more writes than RowWrites can record, none of them to x
        row.map(same, y, in);
        row.put(y + i % 3, row.sum(same, in));
      }
      sum = row.sum(same, in);
      row.map(seven, x, y);
      for (int i = 0; i < 100; ++i) row.map(same, y, x);
      sum = row.sum(same, in);
    }
  });
  return sum;
}

TEST(CpuRow, OverwrittenValuesAreAnError) {
  for (const int count : {1, 2}) {
    set_threads(count);
    for (const int64_t d : {int64_t{3}, int64_t{64}, int64_t{1000}, int64_t{20000}}) {
      HostTensor<float> x({d + 1}), y({d});
      const auto size = static_cast<float>(d);
      for (const Use use : {Use::kLoaded, Use::kMapped, Use::kPut, Use::kMapSum, Use::kMany}) {
        for (float& v : x) v = 1;
        try {
          overwrite_and_use(use, d, x.begin(), y.begin(), count);
          ADD_FAILURE() << "no error, use " << static_cast<int>(use) << ", d " << d;
        } catch (const Error& error) {
          EXPECT_STREQ(error.kind(), kind::RuntimeError);
          EXPECT_NE(std::string(error.what()).find("row.load() or row.map()"), std::string::npos);
        }
      }
      for (float& v : x) v = 1;
      EXPECT_EQ(overwrite_and_use(Use::kBefore, d, x.begin(), y.begin(), count), 14 * size);
      EXPECT_EQ(overwrite_and_use(Use::kPointer, d, x.begin(), y.begin(), count), 7 * size);
    }
  }
  set_threads(1);
}

// Kept values do not change when their inputs are overwritten, even in a row with more than 64 MiB
// of kept values.
TEST(CpuRow, KeepsRowsOfMoreThan64MiB) {
  constexpr int64_t kLong = (int64_t{16} << 20) + 5;
  HostTensor<int8_t> x({kLong});
  for (int8_t& v : x) v = 1;
  double total = 0;
  rows(1, kLong, 0, [&](const auto& row, int64_t) {
    const auto* in = static_cast<const int8_t*>(x.begin());
    const auto twice = row.keep([](int8_t v) { return 2 * static_cast<float>(v); }, in);
    row.map([](float) { return int8_t{7}; }, x.begin(), twice);
    total = row.sum([](float v) { return static_cast<double>(v); }, twice);
  });
  EXPECT_EQ(total, 2 * static_cast<double>(kLong));
}

TEST(CpuRow, KeepsWithoutMemoryIsAnError) {
  for (const size_t bytes : {size_t{0}, size_t{1} << 40}) {
    float x = 5;
    const auto body = [&](const auto& row, int64_t) {
      const auto values = row.keep([](float v) { return v; }, static_cast<const float*>(&x));
      row.map([](float) { return 0.0F; }, &x, values);
    };
    try {
      rows(4, INT64_MAX, bytes, body);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.kind(), kind::MemoryError);
      EXPECT_NE(std::string(error.what()).find("row.keep(): cannot allocate"), std::string::npos);
    }
    EXPECT_EQ(x, 5);
  }
}

TEST(CpuRow, ScratchIsReusedByTheNextRow) {
  detail::RowScratch scratch;
  const float* first = scratch.allocate<float>(100);
  const float* second = scratch.allocate<float>(100);
  EXPECT_NE(first, second);
  scratch.begin_row();
  EXPECT_EQ(scratch.allocate<float>(100), first);
  EXPECT_EQ(scratch.allocate<float>(10), second);
  scratch.begin_row();
  const double* wide = scratch.allocate<double>(1000);
  EXPECT_NE(static_cast<const void*>(wide), second);
}

#if defined(__GLIBC__)
TEST(CpuRow, KeptValuesAreFreed) {
  std::vector<float> x(10000, 1);
  const auto loop = [&x] {
    rows(2, static_cast<int64_t>(x.size()), 0, [&x](const auto& row, int64_t) {
      const float* in = x.data();
      const auto same = [](float v) { return v; };
      EXPECT_EQ(row.sum(same, row.keep(same, in)), 10000);
    });
  };
  loop();
  const auto before = mallinfo2().uordblks;
  for (int i = 0; i < 100; ++i) loop();
  EXPECT_LT(mallinfo2().uordblks, before + 100 * x.size() * sizeof(float) / 2);
}
#endif

// The op is not called with padding elements: this op would divide by zero.
TEST(CpuRow, OpSeesOnlyElements) {
  for (const int64_t d : kWidths) {
    HostTensor<int32_t> x({d}, {}, 7), y({d});
    float sum = 0;
    rows(1, d, 0, [&](const auto& row, int64_t) {
      const auto* in = static_cast<const int32_t*>(x.begin());
      row.map([](int32_t v) { return 21 / v; }, y.begin(), in);
      sum = row.sum([](int32_t v) { return static_cast<float>(21 / v); }, in);
    });
    for (const int32_t value : y) ASSERT_EQ(value, 3);
    EXPECT_EQ(sum, 3 * static_cast<float>(d));
  }
}

}  // namespace
}  // namespace kernkit::cpu
