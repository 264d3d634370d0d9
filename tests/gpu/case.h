// SPDX-License-Identifier: Apache-2.0
// Case: an op with random inputs, its tensors on a device and the expected results.
#pragma once

#include <memory>

#include "gpu.h"
#include "ops.h"

namespace kernkit::gpu {

template <class Op>
class Case {
 public:
  using T = typename Op::Element;
  /// Number of element offsets that differ in alignment for accesses of 16 bytes: the number of
  /// elements in 16 bytes.
  static constexpr int64_t kAlignments = 16 / static_cast<int64_t>(sizeof(T));

  /// Creates a case for calls with up to `most` elements. The inputs have random bits.
  explicit Case(int64_t most, int device = 0)
      : Case(random_bits<T>(most, 1), random_bits<T>(most, 2), device) {}
  Case(std::vector<T> x_values, std::vector<T> y_values, int device = 0)
      : stream(device),
        out(device, static_cast<int64_t>(x_values.size()), kAlignments),
        x(device, static_cast<int64_t>(x_values.size()), kAlignments),
        y(device, static_cast<int64_t>(x_values.size()), kAlignments) {
    set(std::move(x_values), std::move(y_values));
  }
  /// Replaces the values of the inputs. Requires the same number of values as before.
  void set(std::vector<T> x_values, std::vector<T> y_values) {
    x_values_ = std::move(x_values);
    y_values_ = std::move(y_values);
    expected_.resize(x_values_.size());
    for (size_t i = 0; i < expected_.size(); ++i) {
      expected_[i] = Op::expected(x_values_[i], y_values_[i]);
    }
  }
  /// Copies the inputs to the op's tensors on the stream, and fills the output with a pattern.
  void place(int64_t n, int64_t out_first = 0, int64_t x_first = 0, int64_t y_first = 0) {
    out.place(out_first, n, stream);
    x.place(x_first, n, stream);
    y.place(y_first, n, stream);
    upload();
  }
  void upload() {
    x.upload(x_values_.data(), stream);
    y.upload(y_values_.data(), stream);
  }
  /// Calls the op like a framework whose current stream is the case's stream.
  void call() {
    const StreamGuard guard(stream.device(), stream.get());
    Op::call(out.view("out"), x.view("x"), y.view("y"));
  }
  /// Returns "" if the output is correct and the inputs are unchanged, otherwise the difference.
  std::string wrong() const {
    std::string problem = out.wrong(expected_.data(), stream);
    if (problem.empty() && !x.wrong(x_values_.data(), stream).empty()) problem = "x was written";
    if (problem.empty() && !y.wrong(y_values_.data(), stream).empty()) problem = "y was written";
    return problem;
  }
  /// Calls place() and call(), and returns the result of wrong().
  std::string run(int64_t n, int64_t out_first = 0, int64_t x_first = 0, int64_t y_first = 0) {
    place(n, out_first, x_first, y_first);
    call();
    const std::string problem = wrong();
    if (problem.empty()) return problem;
    return (Message().stream() << problem.c_str() << "; n " << n
                               << ", elements from a 16-byte boundary: out " << out_first << ", x "
                               << x_first << ", y " << y_first)
        .c_str();
  }

  const T* expected() const { return expected_.data(); }
  const std::vector<T>& x_values() const { return x_values_; }
  const std::vector<T>& y_values() const { return y_values_; }

  Stream stream;
  DeviceTensor<T> out, x, y;

 private:
  std::vector<T> x_values_, y_values_, expected_;
};

}  // namespace kernkit::gpu
