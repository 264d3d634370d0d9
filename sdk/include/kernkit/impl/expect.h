// SPDX-License-Identifier: Apache-2.0
// The sentences of KERNKIT_EXPECT.
#pragma once

#include "kernkit/expect.h"

namespace kernkit {

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

// "x: shape [4] does not match [n] with n = 5 (bound by y)"
KERNKIT_COLD void Expect::fail_dims(bool strides, std::initializer_list<Entry> wanted) const {
  Message text;
  text << name_ << (strides ? ": strides " : ": shape ");
  strides ? text << x_.strides() : text << x_.sizes();
  text << " does not match [";
  const char* separator = "";
  for (const Entry& entry : wanted) {
    text << separator;
    separator = ", ";
    if (entry.dim == nullptr || entry.factor != 1) text << entry.factor;
    if (entry.dim != nullptr) text << (entry.factor != 1 ? " * " : "") << entry.dim->name();
  }
  text << "]";
  separator = " with ";
  for (const Entry& entry : wanted) {
    if (entry.dim == nullptr || !entry.dim->is_bound()) continue;
    text << separator << entry.dim->name() << " = " << entry.dim->value();
    if (strcmp(entry.dim->bound_by(), name_) != 0) {
      text << " (bound by " << entry.dim->bound_by() << ")";
    }
    separator = ", ";
  }
  fail(kind::ValueError, text);
}

KERNKIT_COLD void Expect::fail_last_dim() const {
  Message text;
  fail(kind::ValueError, text << name_ << ": the last dimension must be contiguous; shape "
                              << x_.sizes() << " has strides " << x_.strides());
}

KERNKIT_COLD void Expect::fail_aligned(size_t bytes) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": address " << x_.data_ptr() << " is not aligned to "
                              << bytes << " bytes");
}

KERNKIT_COLD void Expect::fail_numel(int64_t n) const {
  Message text;
  fail(kind::ValueError, text << name_ << ": shape " << x_.sizes() << " has " << x_.numel()
                              << " elements; at most " << n << " are supported");
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
