// SPDX-License-Identifier: Apache-2.0
// Refusal: the sentences of KERNKIT_EXPECT.
#pragma once

#include <initializer_list>

#include "kernkit/checks/dim.h"
#include "kernkit/tensor.h"

namespace kernkit::detail {

/// One entry of a wanted shape: factor * dim, or the factor alone.
struct WantedDim {
  int64_t factor;
  const Dim* dim;
};

/// A tensor that failed a check. Each function throws the Error for one check.
struct Refusal {
  const DLTensor* tensor;
  const char* name;
  Where where;

  TensorView x() const { return {tensor, name}; }

  [[noreturn, gnu::cold]] void dtype(DLDataType wanted) const;
  [[noreturn, gnu::cold]] void rank(int32_t wanted) const;
  /// Of the shape, or of the strides.
  [[noreturn, gnu::cold]] void dims(bool strides, std::initializer_list<WantedDim> wanted) const;
  [[noreturn, gnu::cold]] void aligned(size_t bytes) const;
  [[noreturn, gnu::cold]] void numel(int64_t most) const;
  [[noreturn, gnu::cold]] void device(const char* wanted) const;
  [[noreturn, gnu::cold]] void layout(const char* what) const;  // shape and strides behind it
  [[noreturn, gnu::cold]] void overlap(TensorView other, const char* how) const;

  [[noreturn, gnu::cold]] void fail(const char* kind, Message& text) const;
  Message& text() const { return *new Message << name; }
  enum Member { kDType, kDevice, kShape, kFirst };  // kFirst: of the others, the first that differs
  [[noreturn, gnu::cold]] void differs(TensorView other, Member member) const;
};

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/checks/impl/refusal.h"
#endif
