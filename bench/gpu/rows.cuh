// SPDX-License-Identifier: Apache-2.0
// The rows of an elementwise op: kernkit's function as users call it, and other implementations.
#pragma once

#include <memory>
#include <utility>

#include "harness.h"
#include "kernkit/env.h"
#include "kernkit/host/runtime.h"
#include "peers.cuh"

namespace kernkit::bench {

/// A tensor on device 0 over borrowed memory.
template <class T>
class Borrowed {
 public:
  Borrowed(void* data, int64_t n) : n_(n) {
    dl_.data = data;
    dl_.device = {kDLCUDA, 0};
    dl_.dtype = dtype_of<T>;
    dl_.ndim = 1;
    dl_.shape = &n_;
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  TensorView view(const char* name) const { return {&dl_, name}; }

 private:
  int64_t n_;
  DLTensor dl_{};
};

/// Returns a function that prepares a row of the benchmark: the function allocates the arrays,
/// fills the inputs, launches once, checks the result, and returns the function to be timed, which
/// calls `launch(stream, n, out, in...)`.
template <class T, int kInputs, class Op, class Launch>
auto prepared(Op op, Launch launch) {
  return [=](int64_t bytes) -> std::function<void(cudaStream_t)> {
    const auto out = std::make_shared<DeviceArray>(bytes);
    std::vector<std::shared_ptr<DeviceArray>> in;
    std::vector<std::vector<T>> values;
    for (int i = 0; i < kInputs; ++i) {
      values.push_back(period_of<T>(11 * i));
      in.push_back(std::make_shared<DeviceArray>(bytes));
      in.back()->fill(bytes_of(values.back()));
    }
    std::vector<T> expected = values[0];
    for (size_t i = 0; i < expected.size(); ++i) {
      if constexpr (kInputs == 1) {
        expected[i] = apply_op<T>(op, values[0][i]);
      } else {
        expected[i] = apply_op<T>(op, values[0][i], values[1][i]);
      }
    }
    const int64_t n = bytes / static_cast<int64_t>(sizeof(T));
    const auto timed = [=](cudaStream_t stream) {
      auto* y = static_cast<T*>(out->data());
      const auto* x0 = static_cast<const T*>(in[0]->data());
      if constexpr (kInputs == 1) {
        launch(stream, n, y, x0);
      } else {
        launch(stream, n, y, x0, static_cast<const T*>(in[1]->data()));
      }
    };
    out->poison();
    timed(nullptr);
    KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
    const int64_t wrong = out->wrong(bytes_of(expected));
    KERNKIT_CHECK(wrong == 0, RuntimeError) << "the result is wrong in " << wrong << " bytes";
    return timed;
  };
}

/// Registers the rows of an op. In the rows of kernkit, the timed function is `call(stream, n, out,
/// in...)`; in other rows, another library's kernel applies `op` to each element.
template <class T, int kInputs, class Op, class Call>
void add_op(const char* name, Op op, Call call) {
  Message row;
  row << name << "/" << dtype_of<T> << "/";
  const std::string start = row.c_str();
  add_rows(start + "kernkit", kInputs + 1, prepared<T, kInputs>(op, call));
#if KERNKIT_BENCH_CUB
  add_rows(start + "cub", kInputs + 1,
           prepared<T, kInputs>(op, [op](cudaStream_t stream, int64_t n, T* out, auto... in) {
             cub_transform(stream, n, op, out, in...);
           }));
#endif
  add_rows(start + "guide", kInputs + 1,
           prepared<T, kInputs>(op, [op](cudaStream_t stream, int64_t n, T* out, auto... in) {
             guide(stream, n, op, out, in...);
           }));
}

}  // namespace kernkit::bench
