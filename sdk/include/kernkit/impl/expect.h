// SPDX-License-Identifier: Apache-2.0
// The sentences of KERNKIT_EXPECT.
#pragma once

#include "kernkit/expect.h"

namespace kernkit {

KERNKIT_COLD void Expect::append_binding(Message& text, const Dim& dim, int* bound) const {
  if (!dim.is_bound()) return;
  text << (++*bound == 1 ? " with " : ", ") << dim.name() << " = " << dim.value();
  if (strcmp(dim.bound_by(), name_) != 0) text << " (bound by " << dim.bound_by() << ")";
}

KERNKIT_COLD void Expect::fail(const char* kind, const Message& text) const {
  throw Error(kind, text.c_str(), where_);
}

KERNKIT_COLD void Expect::fail_dtype(DLDataType wanted) const {
  Message text;
  fail(kind::TypeError,
       text << name_ << ": dtype " << x_.dtype() << " is not supported; expected " << wanted);
}

KERNKIT_COLD void Expect::fail_rank(int32_t wanted) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": shape " << x_.sizes() << " has rank " << x_.ndim()
                              << "; expected rank " << wanted);
}

KERNKIT_COLD void Expect::fail_shape(const Message& wanted) const {
  Message text;
  text << name_ << ": shape " << x_.sizes() << " does not match ";
  fail(kind::ValueError, text.append(wanted.c_str(), wanted.size()));
}

KERNKIT_COLD void Expect::fail_device(const char* wanted) const {
  Message text;
  const bool cuda_missing = !kWithCuda && is_cuda(x_.device()) && strcmp(wanted, "cpu") != 0;
  if (cuda_missing) {
    fail(kind::RuntimeError, text << name_ << ": is on " << x_.device()
                                  << ", but this library was built without CUDA; rebuild it "
                                     "where nvcc is found, or pass CPU tensors");
  }
  fail(kind::ValueError,
       text << name_ << ": device " << x_.device() << " is not supported; expected " << wanted);
}

KERNKIT_COLD void Expect::fail_same_dtype(const TensorView& other) const {
  Message text;
  fail(kind::TypeError, text << name_ << ": dtype " << x_.dtype() << " does not match "
                             << detail::name_or(other, "the other tensor") << " (" << other.dtype()
                             << ")");
}

KERNKIT_COLD void Expect::fail_same_device(const TensorView& other) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": device " << x_.device() << " does not match "
                              << detail::name_or(other, "the other tensor") << " ("
                              << other.device() << ")");
}

KERNKIT_COLD void Expect::fail_same_shape(const TensorView& other) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": shape " << x_.sizes() << " does not match "
                              << detail::name_or(other, "the other tensor") << " (" << other.sizes()
                              << ")");
}

KERNKIT_COLD void Expect::fail_contiguous() const {
  Message text;
  fail(kind::ValueError, text << name_ << ": must be contiguous; shape " << x_.sizes()
                              << " has strides " << x_.strides());
}

KERNKIT_COLD void Expect::fail_overlap(const TensorView& other, const char* how) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": " << how << "overlaps "
                              << detail::name_or(other, "the other tensor") << " in memory (" << x_
                              << " at " << x_.data_ptr() << ", " << other << " at "
                              << other.data_ptr() << ")");
}

}  // namespace kernkit
