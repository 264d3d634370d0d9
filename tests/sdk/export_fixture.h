// SPDX-License-Identifier: Apache-2.0
// Calls exported functions as a host does: by symbol, with arrays of KernkitAny. The process has no
// host, so errors are read by kernkit_last_error().
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernkit/export.h"
#include "kernkit/testing/tensor.h"

namespace ops {

// The arguments of the last call of the op under test, as text.
inline std::string received;
template <class... T>
void record(const T&... values) {
  kernkit::Message text;
  ((text << values << ";"), ...);
  received = text.c_str();
}

}  // namespace ops

namespace kernkit {

using testing::HostTensor;
using Args = std::vector<KernkitAny>;

inline KernkitAny none() { return KernkitAny{}; }
inline KernkitAny any(int32_t type_index, int64_t value) {
  KernkitAny result{};
  result.type_index = type_index;
  result.v.i64 = value;
  return result;
}
inline KernkitAny integer(int64_t value) { return any(kKernkitInt, value); }
inline KernkitAny boolean(bool value) { return any(kKernkitBool, value); }
inline KernkitAny real(double value) {
  KernkitAny result{};
  result.type_index = kKernkitFloat;
  result.v.f64 = value;
  return result;
}
inline KernkitAny pointer(int32_t type_index, const void* value) {
  KernkitAny result{};
  result.type_index = type_index;
  result.v.ptr = const_cast<void*>(value);
  return result;
}
inline KernkitAny raw_str(const char* text) { return pointer(kKernkitRawStr, text); }

// An object with the layout of a host's objects: the header, followed by the cell.
template <class Cell>
struct Object {
  KernkitObject header{(uint64_t{1} << 32) | 1, 0, 0, nullptr};
  Cell cell{};

  Object(int32_t type_index, Cell content) : cell(content) { header.type_index = type_index; }
  KernkitAny any() const { return pointer(header.type_index, this); }
};
static_assert(offsetof(Object<DLTensor>, cell) == sizeof(KernkitObject));

// Calls a function. Returns "nothing" if the function returns 0. If the function returns -1,
// returns the error of this call, never the error of an earlier call.
inline std::string error(KernkitFunction function, const Args& args) {
  detail::last_error() = Error("stale", "");
  ops::received = "not called";
  KernkitAny result = any(-5, 55);
  const int code = function(nullptr, args.data(), static_cast<int32_t>(args.size()), &result);
  if (code == 0) return "nothing";
  EXPECT_EQ(code, -1);
  EXPECT_EQ(ops::received, "not called");
  EXPECT_EQ(result.type_index, -5) << "the result was changed";
  EXPECT_EQ(result.v.i64, 55) << "the result was changed";
  return kernkit_last_error();
}
// Returns the arguments that the op received, or the error.
inline std::string received(KernkitFunction function, const Args& args) {
  const std::string text = error(function, args);
  return text == "nothing" ? ops::received : text;
}

class Export : public ::testing::Test {
 protected:
  HostTensor<float> x_tensor{{2, 3}};
  KernkitAny x = pointer(kKernkitDLTensorPtr, x_tensor.dl());
};

}  // namespace kernkit
