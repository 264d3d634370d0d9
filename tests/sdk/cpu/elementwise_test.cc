// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cpu/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "add/add.h"
#include "kernkit/cpu/machine.h"
#include "kernkit/cpu/parallel.h"
#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "scale/scale.h"

namespace kernkit::cpu {
namespace {

using testing::fill_random_bits;
using testing::HostTensor;

// Numbers of elements near the sizes of registers, of blocks and of the chunks of non-temporal
// stores. The last number fills more than two pages with any element type.
const int64_t kSizes[] = {0,   1,   3,   4,   5,   7,    8,    9,    15,   16,   17,   31,
                          32,  33,  63,  64,  65,  127,  128,  129,  159,  255,  256,  257,
                          511, 512, 513, 640, 767, 1023, 1024, 1025, 2047, 3071, 4099, 9001};

// The reference loop, which computes one element at a time and is not vectorised by any compiler.
template <class Out, class Op, class... In>
void compute_expected(int64_t n, const Op& op, Out* out, const In*... in) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = apply_op<Out>(op, in[i]...);
    asm volatile("" ::: "memory");
  }
}

// An instruction set and memory hints with which elementwise loops are tested. Cases whose
// instruction set the processor lacks are skipped.
struct Case {
  InstructionSet set;
  unsigned hints;
};
const char* const kNames[] = {"Baseline", "Avx2", "Avx512", "Avx512Bf16"};

// Joins the bits of two bfloat16 to a float, so that an op on bfloat16 can return any float.
struct Joined {
  float operator()(float high, float low) const {
    return testing::copy_bits<float>(testing::copy_bits<uint32_t>(high) |
                                     testing::copy_bits<uint32_t>(low) >> 16);
  }
};

#if defined(__x86_64__)
// While an object of this class exists, the thread's subnormal inputs and results are flushed to
// zero.
class NoSubnormals {
 public:
  NoSubnormals() {
    asm volatile("stmxcsr %0" : "=m"(before_));
    set(before_ | 0x8040u);
  }
  ~NoSubnormals() { set(before_); }
  NoSubnormals(const NoSubnormals&) = delete;
  NoSubnormals& operator=(const NoSubnormals&) = delete;

 private:
  static void set(unsigned state) { asm volatile("ldmxcsr %0" : : "m"(state)); }
  unsigned before_ = 0;
};
#else
struct NoSubnormals {};
#endif

class CpuElementwise : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case c = GetParam();
    if (c.set > detail::find_machine().instruction_set) {
      GTEST_SKIP() << "this processor has no " << kNames[static_cast<int>(c.set)];
    }
    const size_t large = c.hints != 0 ? 1 : SIZE_MAX;  // [bytes]
    const unsigned prefetching = c.hints & (kPrefetchInputs | kPrefetchOutput);
    detail::chosen_machine() = {c.set, prefetching, c.hints, large, large, SIZE_MAX};
  }
  void TearDown() override { detail::chosen_machine() = detail::find_machine(); }

  template <class Out, class Op, class... In>
  void expect_same(int64_t n, const Op& op, HostTensor<Out>& out, HostTensor<In>&... in) {
    std::vector<Out> expected(static_cast<size_t>(n));
    compute_expected(n, op, expected.data(), in.begin()...);
    elementwise(n, op, out.begin(), static_cast<const In*>(in.begin())...);
    const int64_t different = testing::first_difference(
        n, [&](int64_t i) { return out[i]; },
        [&](int64_t i) { return expected[static_cast<size_t>(i)]; });
    EXPECT_EQ(different, -1) << "n = " << n;
    EXPECT_TRUE(out.intact()) << "n = " << n;
  }

  template <class T, class Op>
  void one_input(const Op& op) {
    for (const int64_t n : kSizes) {
      for (const int64_t first : {0, 1, 3}) {
        HostTensor<T> x({n}, {first, 0, false}), y({n}, {(first * 5) % 7, 0, false});
        fill_random_bits(x, static_cast<unsigned>(n));
        expect_same(n, op, y, x);
        expect_same(n, op, x, x);  // in place
      }
    }
  }

  template <class T, class Op>
  void two_inputs(const Op& op) {
    for (const int64_t n : kSizes) {
      for (const int64_t first : {0, 1}) {
        HostTensor<T> x({n}, {first, 0, false}), y({n}, {2, 0, false}), z({n}, {first, 0, false});
        fill_random_bits(x, static_cast<unsigned>(n));
        fill_random_bits(y, static_cast<unsigned>(n) + 1);
        expect_same(n, op, z, x, y);
        expect_same(n, op, z, x, x);
        expect_same(n, op, y, x, y);
        expect_same(n, op, x, x, y);
      }
    }
  }
};

template <class Function, class... T>
void each(types<T...>, Function&& function) {
  (function(type_tag<T>{}), ...);
}

TEST_P(CpuElementwise, ScaleHasTheBitsOfThePlainLoop) {
  each(kernels::ScaleTypes{}, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    one_input<T>(kernels::Scale<T>{static_cast<compute_t<T>>(1.1)});
  });
}

TEST_P(CpuElementwise, AddHasTheBitsOfThePlainLoop) {
  each(kernels::AddTypes{}, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    two_inputs<T>(kernels::Add<T>{});
  });
}

// The product and the sum of an op are rounded separately: the compiled loops contain no fused
// multiply-add, which would round once instead of twice.
TEST_P(CpuElementwise, DoesNotFuse) {
  two_inputs<float>([](float a, float b) { return a * b + 0.3f; });
  two_inputs<double>([](double a, double b) { return a * b + 0.3; });
  two_inputs<bfloat16>([](float a, float b) { return a * b + 0.3f; });
}

// Products with factors that give ties, subnormal results, overflow and ordinary values are rounded
// correctly.
TEST_P(CpuElementwise, AllValuesOf16BitFloats) {
  each(reduced_floating{}, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    HostTensor<T> x({65536}), y({65536});
    for (int64_t i = 0; i < 65536; ++i) x[i].bits = static_cast<uint16_t>(i);
    for (const float factor :
         {1.0f, 0.5f, 0.75f, 1.0009765625f, -3.0f, 0x1p-14f, 0x1p-120f, 1e9f}) {
      expect_same(65536, kernels::Scale<T>{factor}, y, x);
    }
  });
}

// Floats just below, at and just above the midpoint of two adjacent 16-bit floats are rounded to
// nearest even.
TEST_P(CpuElementwise, RoundsFloatsToNearestEven) {
  each(reduced_floating{}, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    const uint32_t steps = 65536 * 8;
    HostTensor<float> x({steps});
    HostTensor<T> y({steps});
    for (const uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
      for (uint32_t i = 0; i < steps; ++i) {
        x[i] = testing::copy_bits<float>((i << 13) + low);
      }
      expect_same(
          steps, [](float value) { return value; }, y, x);
    }
  });
}

// Tests edge cases at every position in a block of other values, because a processor's instruction
// may treat subnormal numbers as zeros.
TEST_P(CpuElementwise, RoundsEdgesToBFloat16) {
  const uint32_t edges[] = {0,          1,          0x7fff,     0x8000,     0x8001,     0x7fffff,
                            0x800000,   0x807fff,   0x3f808000, 0x3f818000, 0x3f818001, 0x7f7f7fff,
                            0x7f7f8000, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00001};
  const int64_t block = detail::kBlock;
  HostTensor<bfloat16> high({block}), low({block}), out({block});
  const auto put = [&](int64_t i, uint32_t bits) {
    high[i].bits = static_cast<uint16_t>(bits >> 16);
    low[i].bits = static_cast<uint16_t>(bits);
  };
  const auto all = [&] {
    for (const uint32_t around : edges) {
      for (int64_t i = 0; i < block; ++i) put(i, around);
      for (const uint32_t edge : edges) {
        for (const uint32_t sign : {0u, 0x80000000u}) {
          for (int64_t i = 0; i < block; ++i) {
            put(i, edge | sign);
            expect_same(block, Joined{}, out, high, low);
            put(i, around);
          }
        }
      }
    }
  };
  all();
  [[maybe_unused]] const NoSubnormals daz;
  all();
}

// Tests that every n-th float, in order and shuffled, is rounded correctly. By default n is 16411;
// KERNKIT_BFLOAT16_STEP=1 tests all floats.
TEST_P(CpuElementwise, RoundsFloatsToBFloat16) {
  const char* const variable = getenv("KERNKIT_BFLOAT16_STEP");
  const uint64_t step = variable == nullptr ? 16411 : strtoull(variable, nullptr, 10);
  const int64_t chunk = 1 << 16;
  HostTensor<bfloat16> high({chunk}), low({chunk}), out({chunk});
  for (const uint32_t factor : {1u, 0x9e3779b1u}) {
    for (uint64_t next = 0; next < uint64_t{1} << 32;) {
      for (int64_t i = 0; i < chunk; ++i, next += step) {
        const uint32_t bits = static_cast<uint32_t>(next) * factor;
        high[i].bits = static_cast<uint16_t>(bits >> 16);
        low[i].bits = static_cast<uint16_t>(bits);
      }
      expect_same(chunk, Joined{}, out, high, low);
      if (HasFailure()) return;
    }
  }
}

// An op with parameters of the element types is called with unconverted elements.
TEST_P(CpuElementwise, OpOnElements) {
  one_input<float16>([](float16 value) { return float16(static_cast<float>(value) * 3.0f); });
  one_input<bfloat16>([](bfloat16 value) {
    value.bits ^= 0x8000u;
    return value;
  });
}

// The results of an op that returns element types are stored unchanged, including signaling NaNs.
TEST_P(CpuElementwise, OpReturnsElements) {
  each(reduced_floating{}, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    one_input<T>([](float value) {
      T result(value);
      result.bits ^= 0x0155u;
      return result;
    });
    one_input<T>([](auto value) { return T(static_cast<float>(value) * 3.0f); });
    two_inputs<T>([](float a, float b) { return T(a + b); });
    one_input<T>([](float value) { return value * 1.1; });  // returns double
    for (const int64_t n : {64, 100}) {
      HostTensor<float16> half({n});
      HostTensor<float> single({n});
      HostTensor<T> out({n});
      fill_random_bits(half, 1);
      fill_random_bits(single, 2);
      expect_same(
          n, [](float a, float b) { return T(a - b); }, out, half, single);
    }
  });
}

TEST_P(CpuElementwise, MixedTypes) {
  for (const int64_t n : kSizes) {
    HostTensor<float16> half({n}, {1, 0, false});
    HostTensor<bfloat16> brain({n}), out({n}, {1, 0, false});
    HostTensor<float> single({n});
    HostTensor<float8_e4m3fn> tiny({n});
    fill_random_bits(half, 1);
    fill_random_bits(brain, 2);
    fill_random_bits(single, 3);
    const auto op = [](float a, float b, float c) { return a * b - c; };
    expect_same(n, op, out, half, brain, single);
    expect_same(n, op, single, half, brain, single);
    expect_same(n, op, half, brain, brain, single);
    compute_expected(
        n, [](float a) { return float8_e4m3fn(a); }, tiny.begin(), single.begin());
    expect_same(
        n, [](float a) { return a * 2; }, half, tiny);
  }
}

TEST_P(CpuElementwise, BranchesAndCalls) {
  one_input<float>([](float x) { return x > 0.0f ? x : 0.25f * x; });
  one_input<float16>([](float x) { return x > 0.0f ? x : 0.25f * x; });
  one_input<bfloat16>([](float x) { return std::sqrt(std::fabs(x)); });
}

TEST_P(CpuElementwise, NoInputs) {
  for (const int64_t n : kSizes) {
    HostTensor<float> filled({n}, {1, 0, false});
    elementwise(
        n, [] { return 1.0f; }, filled.begin());
    for (const float value : filled) ASSERT_EQ(value, 1.0f);
    EXPECT_TRUE(filled.intact());
  }
}

// The op is not called with padding elements: this op would divide by zero.
TEST_P(CpuElementwise, OpSeesOnlyElements) {
  for (const int64_t n : kSizes) {
    HostTensor<int32_t> x({n}, {}, 7), y({n});
    expect_same(
        n, [](int32_t value) { return 21 / value; }, y, x);
    HostTensor<bfloat16> b({n}, {}, bfloat16(7.0f)), c({n});
    const auto op = [](float value) {
      return static_cast<float>(21 / static_cast<int32_t>(value));
    };
    expect_same(n, op, c, b);
  }
}

// The results of three threads equal those of the reference loop. A piece has 256 KiB; the last
// piece is not a whole number of blocks, or is shorter than a cache line.
TEST_P(CpuElementwise, OnThreads) {
  detail::chosen_machine().threading_bytes = 1;
  set_threads(3);
  for (const int64_t n : {262149, 300007}) {
    HostTensor<float> x({n}, {1, 0, false}), y({n}, {2, 0, false});
    HostTensor<bfloat16> a({n}, {1, 0, false}), b({n});
    fill_random_bits(x, 1);
    fill_random_bits(a, 2);
    const auto op = [](float value) { return value * 1.1f; };
    expect_same(n, op, y, x);
    expect_same(n, op, b, a);
    expect_same(n, op, x, x);
  }
}

// Returns whether elementwise() calls the loop directly, without run_loop(), which would set
// cached_machine to the object of machine().
bool starts_at_once(const Machine& tested, int64_t n, float* y, const float* x) {
  detail::cached_machine = &tested;
  elementwise(n, kernels::Scale<float>{2}, y, x);
  return detail::cached_machine == &tested;
}

TEST(CpuElementwiseSizes, ShortLoopsStartAtOnce) {
  const Machine& here = machine();
  HostTensor<float> x({129}, {1, 0, false}), y({129});
  const auto at_once = [&](const Machine& tested, int64_t n) {
    return starts_at_once(tested, n, y.begin(), x.begin());
  };
  Machine plain = here;
  plain.prefetching_bytes = plain.streaming_bytes = plain.threading_bytes = 2048;
  EXPECT_TRUE(at_once(plain, 128));
  EXPECT_FALSE(at_once(plain, 129)) << "no whole block";
  for (const auto member :
       {&Machine::prefetching_bytes, &Machine::streaming_bytes, &Machine::threading_bytes}) {
    Machine large = plain;
    large.*member = 1024;
    EXPECT_FALSE(at_once(large, 128)) << "large";
  }
  detail::cached_machine = nullptr;
  elementwise(128, kernels::Scale<float>{2}, y.begin(), static_cast<const float*>(x.begin()));
  EXPECT_EQ(detail::cached_machine, &here);
}

// detail::kWaits is true if the op declares kWaitsForMemory and all types are compute types. The
// loops of ops for which detail::kWaits is false use the widest registers.
TEST(CpuElementwiseSizes, OpsThatWaitForMemory) {
  EXPECT_TRUE((detail::kWaits<kernels::Scale<float>, float, float>));
  EXPECT_TRUE((detail::kWaits<kernels::Add<double>, double, double, double>));
  EXPECT_FALSE((detail::kWaits<kernels::Scale<bfloat16>, bfloat16, bfloat16>));
  EXPECT_FALSE((detail::kWaits<Joined, bfloat16, float, float>));
  // For ops that wait for memory, run_loop() uses by_set[kAvx2]. Each of the loops here stores its
  // index.
  static constexpr detail::Loop kLoops[] = {
    [](const void*, int64_t, unsigned, void* out, const void* const*) {
      *static_cast<int*>(out) = 0;
    },
#if KERNKIT_INSTRUCTION_SETS > 1
    [](const void*, int64_t, unsigned, void* out, const void* const*) {
      *static_cast<int*>(out) = 1;
    },
    [](const void*, int64_t, unsigned, void* out, const void* const*) {
      *static_cast<int*>(out) = 2;
    },
    [](const void*, int64_t, unsigned, void* out, const void* const*) {
      *static_cast<int*>(out) = 3;
    },
#endif
  };
  static constexpr size_t kElement[] = {4, 4};
  const Machine before = machine();
  alignas(64) static int in[64], out[64];
  const void* const inputs[] = {in, nullptr};
  const auto ran = [&](InstructionSet set, unsigned prefetching, bool waits) {
    detail::chosen_machine() = {set, prefetching, 0, 1, SIZE_MAX, SIZE_MAX};
    detail::run_loop({kLoops, kElement, 1, waits}, 64, nullptr, out, inputs);
    return out[0];
  };
#if KERNKIT_INSTRUCTION_SETS > 1
  EXPECT_EQ(ran(InstructionSet::kAvx512, kPrefetchOutput | kHalfWidth, true), 1);
  EXPECT_EQ(ran(InstructionSet::kAvx512Bf16, kHalfWidth, true), 1);
  EXPECT_EQ(ran(InstructionSet::kAvx512, kPrefetchOutput, true), 2);
  EXPECT_EQ(ran(InstructionSet::kAvx512, kHalfWidth, false), 2);
#endif
  EXPECT_EQ(ran(InstructionSet::kBaseline, kHalfWidth, true), 0);
  detail::chosen_machine() = before;
}

TEST(CpuElementwiseSizes, LongLoopsStartAtALineOfTheOutput) {
  const Machine& here = machine();
  Machine plain = here;
  plain.prefetching_bytes = plain.streaming_bytes = plain.threading_bytes = SIZE_MAX;
  alignas(64) static float x[4096 + 16], y[4096 + 16];
  EXPECT_TRUE(starts_at_once(plain, 4096, y, x + 4));
  EXPECT_FALSE(starts_at_once(plain, 4096, y + 4, x));
  EXPECT_TRUE(starts_at_once(plain, 1024, y + 4, x)) << "short";
  detail::cached_machine = &here;
}

// The sizes of all arrays add up: a loop over three arrays of 1 MiB has the same length as a loop
// over one array of 3 MiB.
TEST(CpuElementwiseSizes, ThreadsShareLoopsByTheBytesOfAllArrays) {
  static std::atomic<bool> helped;
  static std::thread::id caller;
  constexpr int64_t kCount = int64_t{1} << 18;
  HostTensor<float> x({kCount}), w({kCount}), y({kCount});
  set_threads(4);
  // Returns whether a helper computes elements. On the caller's thread, the op sleeps for 1 ms in
  // each element until a helper has started, at most `ms` times.
  const auto has_help = [&](size_t threading_bytes, int ms) {
    detail::chosen_machine() = detail::find_machine();
    detail::chosen_machine().threading_bytes = threading_bytes;
    helped = false;
    caller = std::this_thread::get_id();
    int remaining = ms;
    const auto op = [&remaining](float a, float b) {
      if (std::this_thread::get_id() != caller) {
        helped = true;
      } else if (remaining > 0 && !helped) {
        --remaining;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return a + b;
    };
    elementwise(kCount, op, y.begin(), static_cast<const float*>(x.begin()),
                static_cast<const float*>(w.begin()));
    return helped.load();
  };
  EXPECT_TRUE(has_help(size_t{3} << 20, 10000));
  EXPECT_FALSE(has_help((size_t{3} << 20) + 1, 50));
  detail::chosen_machine() = detail::find_machine();
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const unsigned hints = info.param.hints;
  return std::string(kNames[static_cast<int>(info.param.set)]) +
         ((hints & kPrefetchInputs) != 0 ? "PrefetchInputs" : "") +
         ((hints & kPrefetchOutput) != 0 ? "PrefetchOutput" : "") +
         ((hints & kNonTemporal) != 0 ? "NonTemporal" : "") +
         ((hints & kInterleavePages) != 0 ? "InterleavePages" : "");
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const auto set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512,
                         InstructionSet::kAvx512Bf16}) {
    for (const unsigned hints : {0u, 1u, 3u, 4u, 5u, 12u, 13u}) cases.push_back({set, hints});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(MemoryHints, CpuElementwise, ::testing::ValuesIn(cases()), name_of);

// Tests every row of the table of memory hints, which cpuid's vendor and signature select.
TEST(CpuMachine, MemoryHintsOfAProcessor) {
  using detail::Processor;
  constexpr unsigned kGenu = 0x756e6547, kAuth = 0x68747541;
  const auto hints = [](unsigned vendor, unsigned signature) {
    const detail::MemoryHints chosen =
        detail::memory_hints_of(detail::processor_of(vendor, signature));
    return std::tuple(chosen.prefetching, chosen.streaming, chosen.prefetching_level);
  };
  const Processor cascade_lake = detail::processor_of(kGenu, 0x50657);
  EXPECT_EQ(cascade_lake.vendor, Processor::kIntel);
  EXPECT_EQ(cascade_lake.family, 6u);
  EXPECT_EQ(cascade_lake.model, 85u);
  const Processor milan = detail::processor_of(kAuth, 0xa00f11);
  EXPECT_EQ(milan.vendor, Processor::kAmd);
  EXPECT_EQ(milan.family, 25u);
  EXPECT_EQ(milan.model, 1u);
  EXPECT_EQ(detail::processor_of(kAuth, 0xa10f11).model, 17u);
  EXPECT_EQ(detail::processor_of(0, 0xa10f11).vendor, Processor::kOther);

  EXPECT_EQ(hints(kGenu, 0x50657), std::tuple(3u, 3u, 2));
  EXPECT_EQ(hints(kAuth, 0xa00f11), std::tuple(3u, 5u, 2));
  // Processors that the table does not list use the hints measured on model 167 if they are from
  // Intel, and on model 17 if they are from AMD.
  EXPECT_EQ(hints(kGenu, 0xa0671), std::tuple(18u, 13u, 1));
  EXPECT_EQ(hints(kGenu, 0x806f8), std::tuple(18u, 13u, 1));
  EXPECT_EQ(hints(kAuth, 0xa10f11), std::tuple(0u, 4u, 2));
  EXPECT_EQ(hints(kAuth, 0xb00f21), std::tuple(0u, 4u, 2));
  EXPECT_EQ(hints(0, 0xa00f11), std::tuple(0u, 0u, 2)) << "a vendor other than Intel and AMD";
}

// Loops use non-temporal stores from the size of the third-level cache on. For Intel's processors
// the size is at most 64 MiB, because the virtual machines and processors of a server share the
// cache.
TEST(CpuMachine, StreamsBeyondTheThirdCache) {
  const size_t mib = size_t{1} << 20;
  const detail::Processor intel{detail::Processor::kIntel, 6, 167};
  const detail::Processor amd{detail::Processor::kAmd, 25, 17};
  EXPECT_EQ(detail::streaming_bytes_of(intel, 24 * mib), 24 * mib);
  EXPECT_EQ(detail::streaming_bytes_of(intel, 480 * mib), 64 * mib);
  EXPECT_EQ(detail::streaming_bytes_of(amd, 32 * mib), 32 * mib);
  EXPECT_EQ(detail::streaming_bytes_of(amd, 96 * mib), 96 * mib);
}

#if KERNKIT_INSTRUCTION_SETS > 1
TEST(CpuMachine, InstructionSetIsWhatTheCompilersLibraryFinds) {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool bf16 = __builtin_cpu_supports("avx512bf16") != 0;
  EXPECT_EQ(detail::best_instruction_set(), avx2 && avx512 && bf16 ? InstructionSet::kAvx512Bf16
                                            : avx2 && avx512       ? InstructionSet::kAvx512
                                            : avx2                 ? InstructionSet::kAvx2
                                                                   : InstructionSet::kBaseline);
}

// An instruction set is used only if cpuid reports that the processor supports it and xgetbv
// reports that the operating system saves its registers. The constants are bits in Intel's manual.
TEST(CpuMachine, InstructionSetNeedsProcessorAndSystem) {
  constexpr unsigned kXmmYmm = 0x6, kAll = 0xe6;
  constexpr unsigned kAvx2 = 1u << 5, kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31,
                     kAvx512 = kAvx2 | kF | kDq | kBw | kVl, kBf16 = 1u << 5;
  const auto set = detail::instruction_set_of;
  EXPECT_EQ(set(kAll, kAvx512, kBf16), InstructionSet::kAvx512Bf16);
  EXPECT_EQ(set(kAll, kAvx512, ~kBf16), InstructionSet::kAvx512);
  for (const unsigned missing : {kF, kDq, kBw, kVl}) {
    EXPECT_EQ(set(kAll, kAvx512 & ~missing, kBf16), InstructionSet::kAvx2) << missing;
  }
  EXPECT_EQ(set(kAll, kAvx2, 0), InstructionSet::kAvx2);
  EXPECT_EQ(set(kAll, ~kAvx2, kBf16), InstructionSet::kBaseline);
  // The operating system does not save all registers of AVX-512 or, in the second loop, of AVX2.
  for (const unsigned saved : {0x6u, 0x26u, 0x46u, 0x86u, 0xc6u}) {
    EXPECT_EQ(set(saved, kAvx512, kBf16), InstructionSet::kAvx2) << saved;
  }
  for (const unsigned saved : {0x0u, 0x2u, 0x4u, 0xe2u, 0xe4u}) {
    EXPECT_EQ(set(saved, kAvx512, kBf16), InstructionSet::kBaseline) << saved;
  }
  EXPECT_EQ(set(kXmmYmm, kAvx2, 0), InstructionSet::kAvx2);
}
#endif

#if defined(__linux__)
// The sizes from which loops prefetch and stream follow from the cache sizes that Linux reports.
TEST(CpuMachine, LoopsAreLongFromTheSizeOfACacheOn) {
  const auto size_of = [](const char* index, size_t otherwise) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/index") + index + "/size");
    size_t number = 0;
    char unit = ' ';
    if (!(file >> number) || number == 0) return otherwise;
    file >> unit;
    return number * (unit == 'K' ? size_t{1} << 10 : unit == 'M' ? size_t{1} << 20 : 1);
  };
  const size_t first = size_of("0", size_t{32} << 10), second = size_of("2", size_t{1} << 20);
  const Machine machine = detail::find_machine();
  const detail::Processor here = detail::this_processor();
  EXPECT_EQ(machine.prefetching_bytes,
            detail::memory_hints_of(here).prefetching_level == 1 ? 2 * first : second);
  EXPECT_EQ(machine.streaming_bytes,
            detail::streaming_bytes_of(here, size_of("3", size_t{32} << 20)));
}
#endif

TEST(CpuMachine, InstructionSetByName) {
  const InstructionSet best = detail::best_instruction_set();
  setenv("KERNKIT_INSTRUCTION_SET", "baseline", 1);
  EXPECT_EQ(detail::find_machine().instruction_set, InstructionSet::kBaseline);
  setenv("KERNKIT_INSTRUCTION_SET", "avx2", 1);
  EXPECT_EQ(detail::find_machine().instruction_set, std::min(InstructionSet::kAvx2, best));
  setenv("KERNKIT_INSTRUCTION_SET", "avx512", 1);
  EXPECT_EQ(detail::find_machine().instruction_set, std::min(InstructionSet::kAvx512, best));
  setenv("KERNKIT_INSTRUCTION_SET", "sse9", 1);
  EXPECT_EQ(detail::find_machine().instruction_set, best);
  unsetenv("KERNKIT_INSTRUCTION_SET");
  EXPECT_EQ(detail::find_machine().instruction_set, best);
}

}  // namespace
}  // namespace kernkit::cpu
