// SPDX-License-Identifier: Apache-2.0
// The contract suite itself: for each rule an op that breaks it, and turns this rule red alone.
#include "kernkit/testing/contract.h"

#include <cuda_runtime.h>
#include <gtest/gtest-spi.h>

#include <set>

#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "sanitizers.h"

namespace {

using kernkit::Any;
using kernkit::AnyView;
using kernkit::TensorView;
using kernkit::testing::by_row;
using kernkit::testing::Exemption;
using kernkit::testing::contract::all_rules;
using kernkit::testing::contract::Contract;
using kernkit::testing::contract::Item;
using kernkit::testing::contract::make_contract;
using kernkit::testing::contract::Rule;
using kernkit::testing::contract::RuleTest;
using kernkit::testing::contract::try_rule;
using kernkit::testing::contract::try_rules;
using kernkit::testing::contract::Verdict;

enum Fault {
  kNone,
  // The binding.
  kIgnoresMoreArguments,
  kTakesNone,
  kTakesText,
  kOtherDefault,
  kSaysNothing,
  kThrowsThroughC,
  kReturnsMinusOneOnly,
  // What is checked.
  kWritesNothing,
  kWritesBeforeItChecks,
  kWritesInput,
  kWritesBehindTheEnd,
  kIgnoresDtype,
  kSwapsDtypes,
  kIgnoresShape,
  kWrapsSizes,
  kRefusesEmpty,
  kIgnoresStrides,
  kNeedsStrides,
  kIgnoresByteOffset,
  kWrongWhenUnaligned,
  kIgnoresOverlap,
  kWrongInPlace,
  kWrongWhenShared,
  kOtherBitsAmongOthers,
  kOtherBitsInEachRun,
  kIgnoresDevice,
  kTakesAnyDevice,
  // The CUDA half.
  kWrongOnCuda,
  kHasNoCuda,
  kDefaultStream,
  kDefaultStreamUnlessCaptured,
  kNoGuard,
  kLeavesDevice,
  kSynchronises,
  kSynchronisesInPlace,
  kAllocates,
  kAllocatesInPlace,
  kGrowsScratch,
  kLeaks,
  kLaunchesNothingWhenCaptured,
  kIgnoresLaunchError,
  kRaisesEarlierError,
  kReadsUninitialised,
  // Seen by AddressSanitizer.
  kReadsBehindTheEnd,
  kReadsBehindTheEndOnCuda,
};

template <class T>
__global__ void mix_kernel(int64_t n, T factor, bool uninitialised, bool behind, T* y, const T* x,
                           const T* w, const T* bias) {
  __shared__ float never_written[1];  // though a compiler cannot know
  if (n < 0) never_written[0] = static_cast<float>(factor);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (behind && i == n) (void)*static_cast<const volatile T*>(x + i);
  if (i >= n) return;
  const bool wrong = uninitialised && never_written[0] > 1e10f;
  y[i] = x[i] * factor + w[i] + (bias != nullptr ? bias[i] : T(0)) + T(wrong);
}

template <Fault F, class T>
void mix_cuda(int64_t n, T factor, TensorView y, TensorView x, T* out, const T* a, const T* b,
              const T* c) {
  auto* stream = static_cast<cudaStream_t>(kernkit::current_stream(x.device()));
  if (F == kNoGuard || F == kDefaultStream || F == kIgnoresLaunchError ||
      F == kRaisesEarlierError || F == kDefaultStreamUnlessCaptured) {
    int device = x.device().device_id;
    if (F == kNoGuard) cudaGetDevice(&device);
    const kernkit::CUDADeviceGuard guard(device);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (F == kDefaultStreamUnlessCaptured) cudaStreamIsCapturing(stream, &status);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>((n + 63) / 64));
    config.blockDim = dim3(64);
    const bool is_default = F == kDefaultStream || F == kDefaultStreamUnlessCaptured;
    config.stream = is_default && status == cudaStreamCaptureStatusNone ? nullptr : stream;
    cudaError_t error =
        cudaLaunchKernelEx(&config, mix_kernel<T>, n, factor, false, false, out, a, b, c);
    if (F == kIgnoresLaunchError) return;
    if (F == kRaisesEarlierError) error = cudaGetLastError();
    KERNKIT_CUDA_CHECK(error);
    return;
  }
  kernkit::cuda::Launch launch(y, x);
  [[maybe_unused]] const bool captured = F != kNone && F != kWrongOnCuda && launch.capturing();
  if (F == kLaunchesNothingWhenCaptured && captured) return;
  if ((F == kAllocates || (F == kAllocatesInPlace && out == b)) && !captured) {
    void* workspace = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&workspace, 16));
    KERNKIT_CUDA_CHECK(cudaFree(workspace));
  }
  static int64_t room = 0;
  if (F == kGrowsScratch && n > room) {
    void* scratch = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&scratch, static_cast<size_t>(n)));
    KERNKIT_CUDA_CHECK(cudaFree(scratch));
    room = n;
  }
  cudaEvent_t event = nullptr;
  if (F == kLeaks) KERNKIT_CUDA_CHECK(cudaEventCreate(&event));
  launch(mix_kernel<T>, {(n + 63) / 64, 64}, n, factor + (F == kWrongOnCuda ? 1 : 0),
         F == kReadsUninitialised, F == kReadsBehindTheEndOnCuda, out, a, b, c);
  const bool waits = F == kSynchronises || (F == kSynchronisesInPlace && out == a);
  if (waits && !captured) KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream));
}

template <class T, Fault F>
T* data_of(TensorView x) {
  void* data = F == kIgnoresByteOffset ? x.get()->data : x.data_ptr();
  return static_cast<T*>(data);
}

// y = x * factor + w + bias
template <Fault F>
void mix(TensorView y, TensorView x, TensorView w, kernkit::Optional<TensorView> bias,
         double factor) {
  using Types = kernkit::floating;
  if constexpr (F == kWrapsSizes) {
    uint64_t n = 1;
    for (const int64_t size : x.sizes()) n *= static_cast<uint64_t>(size);
    if (static_cast<int64_t>(n) <= 0) return;
  }
  try {
    if (F == kTakesAnyDevice) {
      KERNKIT_EXPECT(x).dtype(Types{});
    } else if (F == kHasNoCuda) {
      KERNKIT_EXPECT(x).dtype(Types{}).cpu();
    } else {
      KERNKIT_EXPECT(x).dtype(Types{}).cpu_or_cuda();
    }
    if (F != kIgnoresStrides) KERNKIT_EXPECT(x).contiguous();
    if (F != kIgnoresDtype) KERNKIT_EXPECT(w).same_dtype(x);
    if (F != kIgnoresDevice) KERNKIT_EXPECT(w).same_device(x);
    if (F != kIgnoresShape) KERNKIT_EXPECT(w).same_shape(x);
    KERNKIT_EXPECT(w).contiguous();
    if (bias) KERNKIT_EXPECT(*bias).like(x).contiguous().no_overlap(y);
    KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
    if (F != kIgnoresOverlap) KERNKIT_EXPECT(y).no_partial_overlap(w);
    if (F == kNeedsStrides) {
      KERNKIT_CHECK(x.get()->strides != nullptr, ValueError) << "x: must have strides";
    }
    if (F == kRefusesEmpty) KERNKIT_CHECK(x.numel() > 0, RuntimeError) << "x: is empty";
  } catch (const kernkit::Error&) {
    const bool cpu = kernkit::is_cpu(y.device()) && kernkit::is_cpu(x.device());
    if (F == kWritesBeforeItChecks && cpu) *static_cast<char*>(y.data_ptr()) ^= 1;
    throw;
  }
  const int64_t n = x.numel();
  if (n == 0 || F == kWritesNothing) return;
  DLDataType dtype = x.dtype();
  if (F == kSwapsDtypes && dtype == kernkit::dl_bfloat16) dtype = kernkit::dl_float16;
  kernkit::dispatch(Types{}, dtype, [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    using C = kernkit::compute_t<T>;
    T* out = data_of<T, kNone>(y);
    T* a = data_of<T, F>(x);
    const T* b = data_of<T, kNone>(w);
    const T* c = bias ? data_of<T, kNone>(*bias) : nullptr;
    if (kernkit::is_cuda(x.device())) {
      if constexpr (std::is_same_v<T, C>) {
        mix_cuda<F>(n, static_cast<T>(factor), y, x, out, a, b, c);
        if (F == kLeavesDevice) cudaSetDevice(x.device().device_id);
        return;
      } else {
        KERNKIT_THROW(TypeError) << "x: dtype " << x.dtype() << " has no CUDA half";
      }
    }
    static int runs = 0;
    ++runs;
    const bool aligned = reinterpret_cast<uintptr_t>(out) % 16 == 0;
    for (int64_t i = 0; i < n && F == kWrongInPlace; ++i) out[i] = T(0);
    for (int64_t i = 0; i < n; ++i) {
      C value = static_cast<C>(a[i]) * static_cast<C>(factor);
      if (!(F == kWrongWhenShared && a == b)) value += static_cast<C>(b[i]);
      if (c != nullptr) value += static_cast<C>(c[i]);
      if (F == kWrongWhenUnaligned && !aligned) value = C(0);
      const bool other = (F == kOtherBitsAmongOthers && n > x.size(-1)) ||
                         (F == kOtherBitsInEachRun && runs % 2 == 0);
      if (other) value += value * static_cast<C>(0x1p-23);
      out[i] = T(value);
    }
    if (F == kReadsBehindTheEnd) (void)*reinterpret_cast<const volatile char*>(a + n);
    if (F == kWritesBehindTheEnd) out[n] = T(C(1));
    if (F == kWritesInput && a != out) a[0] = T(static_cast<C>(a[0]) + C(1));
  });
}

template <Fault F>
struct Line {
  static constexpr char kName[] = "mix";
  static constexpr char kSchema[] =
      "(Tensor(a!) y, Tensor x, Tensor w, Tensor? bias=None, float factor=2.0) -> ()";
  static constexpr kernkit::Where kWhere = {};
};

int metadata(void*, const KernkitAny*, int32_t, KernkitAny* result) {
  return kernkit::detail::return_metadata<Line<kNone>>(Line<kNone>::kSchema, result);
}

template <Fault F>
int exported(void*, const KernkitAny* args, int32_t num_args, KernkitAny* result) {
  std::vector<KernkitAny> changed(args, args + num_args);
  if (F == kIgnoresMoreArguments && changed.size() > 5) changed.resize(5);
  if (F == kTakesNone && changed.size() > 1 && changed[1].type_index == kKernkitNone) return 0;
  if (F == kTakesText && changed.size() > 4 && changed[4].type_index == kKernkitSmallStr) {
    changed[4] = AnyView(1.0).get();
  }
  if (F == kTakesText && changed.size() > 4 && changed[4].type_index == kKernkitStr) {
    changed[4] = AnyView(1.0).get();
  }
  if (F == kOtherDefault && changed.size() == 4) changed.push_back(AnyView(3.0).get());
  const int code = kernkit::detail::call<Line<F>>(mix<F>, nullptr, changed.data(),
                                                  static_cast<int32_t>(changed.size()), result);
  if (code == 0 || (F != kSaysNothing && F != kThrowsThroughC && F != kReturnsMinusOneOnly)) {
    return code;
  }
  std::string kind, text;
  try {
    kernkit::detail::throw_raised("");
  } catch (const kernkit::Error& error) {
    kind = error.kind();
    text = error.message();
    if (F == kThrowsThroughC) throw kernkit::Error(error.kind(), error.message());
  }
  if (F == kReturnsMinusOneOnly) return -1;
  const bool cuda = kind == kernkit::kind::RuntimeError;
  return kernkit::detail::raise("mix", kind.c_str(), cuda ? text.c_str() : "bad argument", {});
}

template <Fault F>
Contract contract_with(std::initializer_list<Item> more = {}) {
  using kernkit::testing::example;
  std::vector<kernkit::testing::Example> examples = {
      example<float>(3, 5), example<float>(3, 5), example<float>(3, 5), example<float>(3, 5), 1.5};
  std::vector<Exemption> exemptions;
  for (const Item& item : more) item.add_to(&examples, &exemptions);
  return Contract({"mix", exported<F>, metadata}, examples, exemptions);
}

struct Wrong {
  const char* fault;
  Contract (*contract)();
  std::set<std::string> red;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.fault; }

#define WRONG(fault, ...)                                          \
  {                                                                \
#fault, [] { return contract_with<fault>(); }, { __VA_ARGS__ } \
  }

#define WRONG_BY_ROW(fault)                                                 \
  {                                                                         \
#fault, [] { return contract_with<fault>({by_row()}); }, { "RowAlone" } \
  }

const Wrong kWrongOps[] = {
    {"kNone", [] { return contract_with<kNone>(); }, {}},
    WRONG(kIgnoresMoreArguments, "Count"),
    WRONG(kTakesNone, "None"),
    WRONG(kTakesText, "Types"),
    WRONG(kOtherDefault, "Defaults"),
    WRONG(kSaysNothing, "Sentences"),
    WRONG(kThrowsThroughC, "CBoundary"),
    WRONG(kReturnsMinusOneOnly, "CBoundary"),
    WRONG(kWritesNothing, "Example"),
    WRONG(kWritesBeforeItChecks, "RefusedCallsWriteNothing"),
    WRONG(kWritesInput, "InputsAreNotWritten"),
    WRONG(kWritesBehindTheEnd, "StaysInside"),
    WRONG(kIgnoresDtype, "MixedDtypes"),
    WRONG(kSwapsDtypes, "Dtypes"),
    WRONG(kIgnoresShape, "Shapes"),
    WRONG(kWrapsSizes, "ImpossibleShapes"),
    WRONG(kRefusesEmpty, "Empty"),
    WRONG(kIgnoresStrides, "Layouts"),
    WRONG(kNeedsStrides, "NullStrides"),
    WRONG(kIgnoresByteOffset, "ByteOffset"),
    WRONG(kWrongWhenUnaligned, "Unaligned"),
    WRONG(kIgnoresOverlap, "PartialOverlap"),
    WRONG(kWrongInPlace, "InPlace"),
    WRONG(kWrongWhenShared, "SharedInputs"),
    {"kByRow", [] { return contract_with<kNone>({by_row()}); }, {}},
    WRONG_BY_ROW(kOtherBitsAmongOthers),
    WRONG_BY_ROW(kOtherBitsInEachRun),
    WRONG(kIgnoresDevice, "MixedDevices"),
    WRONG(kTakesAnyDevice, "OtherDevices"),
    WRONG(kWrongOnCuda, "RunsOnCuda"),
    WRONG(kHasNoCuda, "RunsOnCuda"),
    WRONG(kDefaultStream, "CallersStream", "Capture"),
    WRONG(kDefaultStreamUnlessCaptured, "CallersStream"),
    WRONG(kNoGuard, "TensorsDevice"),
    WRONG(kLeavesDevice, "TensorsDevice"),
    WRONG(kSynchronises, "NoSynchronisation"),
    WRONG(kSynchronisesInPlace, "NoSynchronisation"),
    WRONG(kAllocates, "NoAllocation"),
    WRONG(kAllocatesInPlace, "NoAllocation"),
    WRONG(kLeaks, "NoAllocation"),
    WRONG(kGrowsScratch, "Scratch"),
    WRONG(kLaunchesNothingWhenCaptured, "Capture"),
    WRONG(kIgnoresLaunchError, "FailedLaunch"),
    WRONG(kRaisesEarlierError, "EarlierErrors"),
    WRONG(kReadsUninitialised, "Uninitialised"),
};

class ContractRules : public ::testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(, ContractRules, ::testing::ValuesIn(kWrongOps),
                         [](const auto& info) { return std::string(info.param.fault + 1); });

TEST_P(ContractRules, TurnRedAlone) {
  const Contract contract = GetParam().contract();
  ASSERT_EQ(contract.problem(), "");
  std::set<std::string> red;
  std::string text;
  const std::vector<Rule> rules = all_rules();
  const std::vector<Verdict> verdicts = try_rules(rules, contract);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (verdicts[i].violations.empty()) continue;
    red.insert(rules[i].name);
    text += std::string(rules[i].name) + ": " + verdicts[i].violations[0] + "\n";
  }
  EXPECT_EQ(red, GetParam().red) << text;
}

TEST(ContractRulesOf, EachHasAnOpThatBreaksIt) {
  std::set<std::string> broken;
  for (const Wrong& wrong : kWrongOps) {
    if (wrong.red.size() == 1) broken.insert(*wrong.red.begin());
  }
  for (const Rule& rule : all_rules()) EXPECT_EQ(broken.count(rule.name), 1u) << rule.name;
}

TEST(ContractRulesOf, RowsAreNamed) {
  for (const Rule& rule : all_rules()) {
    if (rule.name != std::string("RowAlone")) continue;
    const std::string end = "; expected the bits that it has among all 3";
    const Verdict alone = try_rule(rule, contract_with<kOtherBitsAmongOthers>({by_row()}));
    ASSERT_EQ(alone.violations.size(), 3u);
    EXPECT_EQ(alone.violations[2], "mix(): y has other bits in row 2 alone" + end);
    const Verdict again = try_rule(rule, contract_with<kOtherBitsInEachRun>({by_row()}));
    EXPECT_EQ(again.violations.at(0), "mix(): y has other bits in another run" + end);
    EXPECT_EQ(try_rule(rule, contract_with<kOtherBitsAmongOthers>()).tried, 0u);
  }
}

#if defined(TEST_WITH_ASAN)
void try_rule_named(const std::string& name, const Contract& contract) {
  for (const Rule& rule : all_rules()) {
    if (rule.name == name) (void)try_rule(rule, contract);
  }
}

// What is read is never used: every result is right.
TEST(ContractDeathTest, ReadsBehindTheEnd) {
  try_rule_named("ByteOffset", contract_with<kNone>());
  EXPECT_DEATH(try_rule_named("ByteOffset", contract_with<kReadsBehindTheEnd>()),
               "use-after-poison");
  EXPECT_DEATH(
      try_rule_named("ByteOffset", contract_with<kReadsBehindTheEndOnCuda>()),
      "kernkit: in kernel .*mix_kernel<float>: block \\[0, 0, 0\\], thread \\[15, 0, 0\\]");
}
#endif

// A right one, in memory of the caller's framework.
kernkit::Tensor tripled(TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous();
  const int64_t n = x.numel();
  kernkit::Tensor y = kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());
  if (n == 0) return y;
  const kernkit::cuda::Launch launch(x);
  launch(mix_kernel<float>, {(n + 63) / 64, 64}, n, 2.0f, false, false, y.data<float>(),
         x.data<const float>(), x.data<const float>(), nullptr);
  return y;
}

}  // namespace

KERNKIT_EXPORT(tripled, "(Tensor x) -> Tensor", "3 * x.", tripled)
KERNKIT_TEST_CONTRACT(tripled, example<float>(100), cuda_only())
