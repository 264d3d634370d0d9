// SPDX-License-Identifier: Apache-2.0
// y = x * factor + w + bias, with one of the faults that the rules of the contract suite detect.
#pragma once
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/testing/contract.h"

namespace broken {

using kernkit::AnyView;
using kernkit::TensorView;
using kernkit::testing::Exemption;
using kernkit::testing::contract::Contract;
using kernkit::testing::contract::Item;

// Faults of the op under test. The variable `fault`, not a template parameter, selects the fault,
// so that the op is compiled once.
enum Fault {
  kNone,
  // Faults in reading the arguments, and in the errors and the code that the call returns.
  kIgnoresMoreArguments,
  kTakesNone,
  kTakesText,
  kOtherDefault,
  kHasNoMessage,
  kThrowsThroughC,
  kReturnsMinusOneOnly,
  // Faults in the checks of the op, and in what the op reads and writes.
  kWritesNothing,
  kWritesBeforeItChecks,
  kWritesInput,
  kWritesPastTheEnd,
  kIgnoresDtype,
  kSwapsDtypes,
  kIgnoresShape,
  kWrapsSizes,
  kRejectsEmpty,
  kIgnoresStrides,
  kTakesBroadcastOutput,
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
  // Faults in the CUDA implementation.
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
  // Faults that AddressSanitizer reports.
  kReadsPastTheEnd,
  kReadsPastTheEndOnCuda,
};
inline Fault fault = kNone;

template <class T>
__global__ void mix_kernel(int64_t n, T factor, bool uninitialised, bool past_end, T* y, const T* x,
                           const T* w, const T* bias) {
  __shared__ float never_written[1];  // written only for n < 0, which no call passes
  if (n < 0) never_written[0] = static_cast<float>(factor);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (past_end && i == n) (void)*static_cast<const volatile T*>(x + i);
  if (i >= n) return;
  const bool wrong = uninitialised && never_written[0] > 1e10f;
  y[i] = x[i] * factor + w[i] + (bias != nullptr ? bias[i] : T(0)) + T(wrong);
}

template <class T>
void mix_cuda(int64_t n, T factor, TensorView y, TensorView x, T* out, const T* a, const T* b,
              const T* c) {
  auto* stream = static_cast<cudaStream_t>(kernkit::current_stream(x.device()));
  if (fault == kNoGuard || fault == kDefaultStream || fault == kIgnoresLaunchError ||
      fault == kRaisesEarlierError || fault == kDefaultStreamUnlessCaptured) {
    int device = x.device().device_id;
    if (fault == kNoGuard) cudaGetDevice(&device);
    const kernkit::CUDADeviceGuard guard(device);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (fault == kDefaultStreamUnlessCaptured) cudaStreamIsCapturing(stream, &status);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>((n + 63) / 64));
    config.blockDim = dim3(64);
    const bool is_default = fault == kDefaultStream || fault == kDefaultStreamUnlessCaptured;
    config.stream = is_default && status == cudaStreamCaptureStatusNone ? nullptr : stream;
    cudaError_t error =
        cudaLaunchKernelEx(&config, mix_kernel<T>, n, factor, false, false, out, a, b, c);
    if (fault == kIgnoresLaunchError) return;
    if (fault == kRaisesEarlierError) error = cudaGetLastError();
    KERNKIT_CUDA_CHECK(error);
    return;
  }
  kernkit::cuda::Launch launch(y, x);
  [[maybe_unused]] const bool captured =
      fault != kNone && fault != kWrongOnCuda && launch.capturing();
  if (fault == kLaunchesNothingWhenCaptured && captured) return;
  if ((fault == kAllocates || (fault == kAllocatesInPlace && out == b)) && !captured) {
    void* workspace = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&workspace, 16));
    KERNKIT_CUDA_CHECK(cudaFree(workspace));
  }
  static int64_t room = 0;
  if (fault == kGrowsScratch && n > room) {
    void* scratch = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&scratch, static_cast<size_t>(n)));
    KERNKIT_CUDA_CHECK(cudaFree(scratch));
    room = n;
  }
  cudaEvent_t event = nullptr;
  if (fault == kLeaks) KERNKIT_CUDA_CHECK(cudaEventCreate(&event));
  launch(mix_kernel<T>, {(n + 63) / 64, 64}, n, factor + (fault == kWrongOnCuda ? 1 : 0),
         fault == kReadsUninitialised, fault == kReadsPastTheEndOnCuda, out, a, b, c);
  const bool waits = fault == kSynchronises || (fault == kSynchronisesInPlace && out == a);
  if (waits && !captured) KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// y = x * factor + w + bias
inline void mix(TensorView y, TensorView x, TensorView w, kernkit::Optional<TensorView> bias,
                double factor) {
  using Types = kernkit::floating;
  if (fault == kWrapsSizes) {
    uint64_t n = 1;
    for (const int64_t size : x.sizes()) n *= static_cast<uint64_t>(size);
    if (static_cast<int64_t>(n) <= 0) return;
  }
  try {
    if (fault == kTakesAnyDevice) {
      KERNKIT_EXPECT(x).dtype(Types{});
    } else if (fault == kHasNoCuda) {
      KERNKIT_EXPECT(x).dtype(Types{}).cpu();
    } else {
      KERNKIT_EXPECT(x).dtype(Types{}).cpu_or_cuda();
    }
    if (fault == kTakesBroadcastOutput && y.ndim() == 2 && y.size(0) == 3 && y.size(1) == 5 &&
        (y.stride(0) == 0 || y.stride(1) == 0)) {
      return;
    }
    if (fault != kIgnoresStrides) KERNKIT_EXPECT(x).contiguous();
    if (fault != kIgnoresDtype) KERNKIT_EXPECT(w).same_dtype(x);
    if (fault != kIgnoresDevice) KERNKIT_EXPECT(w).same_device(x);
    if (fault != kIgnoresShape) KERNKIT_EXPECT(w).same_shape(x);
    KERNKIT_EXPECT(w).contiguous();
    if (bias) KERNKIT_EXPECT(*bias).like(x).contiguous().no_overlap(y);
    KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
    if (fault != kIgnoresOverlap) KERNKIT_EXPECT(y).no_partial_overlap(w);
    if (fault == kNeedsStrides) {
      KERNKIT_CHECK(x.get()->strides != nullptr, ValueError) << "x: must have strides";
    }
    if (fault == kRejectsEmpty) KERNKIT_CHECK(x.numel() > 0, RuntimeError) << "x: is empty";
  } catch (const kernkit::Error&) {
    const bool cpu = kernkit::is_cpu(y.device()) && kernkit::is_cpu(x.device());
    if (fault == kWritesBeforeItChecks && cpu) *static_cast<char*>(y.data_ptr()) ^= 1;
    throw;
  }
  const int64_t n = x.numel();
  if (n == 0 || fault == kWritesNothing) return;
  DLDataType dtype = x.dtype();
  if (fault == kSwapsDtypes && dtype == kernkit::dl_bfloat16) dtype = kernkit::dl_float16;
  kernkit::dispatch(Types{}, dtype, [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    using C = kernkit::compute_t<T>;
    T* out = static_cast<T*>(y.data_ptr());
    T* a = static_cast<T*>(fault == kIgnoresByteOffset ? x.get()->data : x.data_ptr());
    const T* b = static_cast<T*>(w.data_ptr());
    const T* c = bias ? static_cast<T*>(bias->data_ptr()) : nullptr;
    if (kernkit::is_cuda(x.device())) {
      if constexpr (std::is_same_v<T, C>) {
        mix_cuda(n, static_cast<T>(factor), y, x, out, a, b, c);
        if (fault == kLeavesDevice) cudaSetDevice(x.device().device_id);
        return;
      } else {
        KERNKIT_THROW(TypeError) << "x: dtype " << x.dtype() << " has no CUDA implementation";
      }
    }
    static int runs = 0;
    ++runs;
    const bool aligned = reinterpret_cast<uintptr_t>(out) % 16 == 0;
    for (int64_t i = 0; i < n && fault == kWrongInPlace; ++i) out[i] = T(0);
    for (int64_t i = 0; i < n; ++i) {
      C value = static_cast<C>(a[i]) * static_cast<C>(factor);
      if (!(fault == kWrongWhenShared && a == b)) value += static_cast<C>(b[i]);
      if (c != nullptr) value += static_cast<C>(c[i]);
      if (fault == kWrongWhenUnaligned && !aligned) value = C(0);
      const bool changes_bits = (fault == kOtherBitsAmongOthers && n > x.size(-1)) ||
                                (fault == kOtherBitsInEachRun && runs % 2 == 0);
      if (changes_bits) value += value * static_cast<C>(0x1p-23);
      out[i] = T(value);
    }
    if (fault == kReadsPastTheEnd) (void)*reinterpret_cast<const volatile char*>(a + n);
    if (fault == kWritesPastTheEnd) out[n] = T(C(1));
    if (fault == kWritesInput && a != out) a[0] = T(static_cast<C>(a[0]) + C(1));
  });
}

struct Line {
  static constexpr char kName[] = "mix";
  static constexpr char kSchema[] =
      "(Tensor(a!) y, Tensor x, Tensor w, Tensor? bias=None, float factor=2.0) -> ()";
  static constexpr kernkit::SourceLocation kLocation = {};
};

inline int metadata(void*, const KernkitAny*, int32_t, KernkitAny* result) {
  static constexpr auto kParsed = kernkit::detail::parsed_form<kernkit::detail::Op<Line>>("mix");
  return kernkit::detail::return_metadata<Line>(Line::kSchema, kParsed.text + sizeof("mix: ") - 1,
                                                result);
}

inline int exported(void*, const KernkitAny* args, int32_t num_args, KernkitAny* result) {
  std::vector<KernkitAny> changed(args, args + num_args);
  if (fault == kIgnoresMoreArguments && changed.size() > 5) changed.resize(5);
  if (fault == kTakesNone && changed.size() > 1 && changed[1].type_index == kKernkitNone) return 0;
  if (fault == kTakesText && changed.size() > 4 && changed[4].type_index == kKernkitSmallStr) {
    changed[4] = AnyView(1.0).get();
  }
  if (fault == kTakesText && changed.size() > 4 && changed[4].type_index == kKernkitStr) {
    changed[4] = AnyView(1.0).get();
  }
  if (fault == kOtherDefault && changed.size() == 4) changed.push_back(AnyView(3.0).get());
  const int code = kernkit::detail::call<Line>(mix, nullptr, changed.data(),
                                               static_cast<int32_t>(changed.size()), result);
  if (code == 0 ||
      (fault != kHasNoMessage && fault != kThrowsThroughC && fault != kReturnsMinusOneOnly)) {
    return code;
  }
  std::string kind, text;
  try {
    kernkit::detail::throw_raised("");
  } catch (const kernkit::Error& error) {
    kind = error.kind();
    text = error.message();
    if (fault == kThrowsThroughC) throw kernkit::Error(error.kind(), error.message());
  }
  if (fault == kReturnsMinusOneOnly) return -1;
  const bool cuda = kind == kernkit::kind::RuntimeError;
  return kernkit::detail::raise("mix", kind.c_str(), cuda ? text.c_str() : "bad argument", {});
}

// Sets the op's fault, which remains until the next call, and returns the op's contract.
inline Contract contract_with(Fault wrong, std::initializer_list<Item> more = {}) {
  fault = wrong;
  using kernkit::testing::example;
  std::vector<kernkit::testing::Example> examples = {
      example<float>(3, 5), example<float>(3, 5), example<float>(3, 5), example<float>(3, 5), 1.5};
  std::vector<Exemption> exemptions;
  for (const Item& item : more) item.add_to(&examples, &exemptions);
  return Contract({"mix", exported, metadata}, examples, exemptions);
}

}  // namespace broken
