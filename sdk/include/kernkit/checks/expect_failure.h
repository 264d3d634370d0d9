// SPDX-License-Identifier: Apache-2.0
// ExpectFailure: the errors of KERNKIT_EXPECT.
#pragma once

#include <initializer_list>

#include "kernkit/checks/dim.h"
#include "kernkit/tensor.h"

namespace kernkit::detail {

/// An entry of an expected shape: factor * dim, or `factor` if dim is null.
struct ExpectedDim {
  int64_t factor;
  const Dim* dim;
};

/// A tensor that failed a check. Each [[noreturn]] function throws the error of one check.
struct ExpectFailure {
  const DLTensor* tensor;
  const char* name;
  SourceLocation location;

  TensorView x() const { return {tensor, name}; }

  [[noreturn, gnu::cold]] void dtype(DLDataType expected) const;
  [[noreturn, gnu::cold]] void rank(int32_t expected) const;
  /// Throws for a shape that differs from `expected`, or, if `strides` is true, for strides that
  /// differ.
  [[noreturn, gnu::cold]] void dims(bool strides,
                                    std::initializer_list<ExpectedDim> expected) const;
  [[noreturn, gnu::cold]] void aligned(size_t bytes) const;
  [[noreturn, gnu::cold]] void numel(int64_t most) const;
  [[noreturn, gnu::cold]] void device(const char* expected) const;
  [[noreturn, gnu::cold]] void layout(const char* what) const;  // text: `what`, shape, strides
  [[noreturn, gnu::cold]] void overlap(TensorView other, const char* how) const;

  [[noreturn, gnu::cold]] void fail(const char* kind, Message& text) const;
  Message& text() const { return *new Message << name; }
  enum Member { kDType, kDevice, kShape, kFirst };  // kFirst selects the first member that differs
  [[noreturn, gnu::cold]] void differs(TensorView other, Member member) const;
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/checks/impl/expect_failure.h"
#endif
