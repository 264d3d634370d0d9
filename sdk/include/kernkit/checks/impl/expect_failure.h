// SPDX-License-Identifier: Apache-2.0
// The messages of KERNKIT_EXPECT.
#pragma once

#include "kernkit/checks/expect_failure.h"
#include "kernkit/memory/overlap.h"

namespace kernkit::detail {

KERNKIT_COLD void ExpectFailure::fail(const char* kind, Message& text) const {
  throw Error(kind, &text, location);
}

KERNKIT_COLD void ExpectFailure::dtype(DLDataType expected) const {
  fail(kind::TypeError,
       text() << ": dtype " << x().dtype() << " is not supported; expected " << expected);
}

KERNKIT_COLD void ExpectFailure::rank(int32_t expected) const {
  fail(kind::ValueError, text() << ": shape " << x().sizes() << " has rank " << x().ndim()
                                << "; expected rank " << expected);
}

// "x: shape [4] does not match [n] with n = 5 (bound by y)"
KERNKIT_COLD void ExpectFailure::dims(bool strides,
                                      std::initializer_list<ExpectedDim> expected) const {
  Message& text = this->text() << (strides ? ": strides " : ": shape ");
  strides ? text << x().strides() : text << x().sizes();
  text << " does not match [";
  const char* separator = "";
  for (const ExpectedDim& entry : expected) {
    text << separator;
    separator = ", ";
    if (entry.dim == nullptr || entry.factor != 1) text << entry.factor;
    if (entry.dim != nullptr) text << (entry.factor != 1 ? " * " : "") << entry.dim->name();
  }
  text << "]";
  separator = " with ";
  for (const ExpectedDim& entry : expected) {
    bool is_printed = entry.dim == nullptr || !entry.dim->is_bound();
    for (const ExpectedDim* before = expected.begin(); before != &entry; ++before) {
      is_printed |= before->dim == entry.dim;
    }
    if (is_printed) continue;
    text << separator << entry.dim->name() << " = " << entry.dim->value();
    const char* by = entry.dim->bound_by();
    if (strcmp(by, name) != 0) text << " (bound by " << by << ")";
    separator = ", ";
  }
  fail(kind::ValueError, text);
}

KERNKIT_COLD void ExpectFailure::layout(const char* what) const {
  fail(kind::ValueError,
       text() << ": " << what << "; shape " << x().sizes() << " has strides " << x().strides());
}

KERNKIT_COLD void ExpectFailure::aligned(size_t bytes) const {
  fail(kind::ValueError,
       text() << ": address " << x().data_ptr() << " is not aligned to " << bytes << " bytes");
}

KERNKIT_COLD void ExpectFailure::numel(int64_t n) const {
  fail(kind::ValueError, text() << ": shape " << x().sizes() << " has " << x().numel()
                                << " elements; at most " << n << " are supported");
}

KERNKIT_COLD void ExpectFailure::device(const char* expected) const {
  if (!kWithCuda && is_cuda(x().device()) && strcmp(expected, "cpu") != 0) {
    fail(kind::RuntimeError, text() << ": is on " << x().device()
                                    << ", but this library was built without CUDA; rebuild it "
                                       "where nvcc is found, or pass CPU tensors");
  }
  fail(kind::ValueError,
       text() << ": device " << x().device() << " is not supported; expected " << expected);
}

KERNKIT_COLD void ExpectFailure::differs(TensorView other, Member member) const {
  const bool same_dtype = x().dtype() == other.dtype(),
             same_device = x().device() == other.device();
  if (member == kFirst) member = !same_dtype ? kDType : !same_device ? kDevice : kShape;
  Message& text = this->text();
  const auto print = [&](const char* before, TensorView t, const char* after) {
    member == kDType    ? text << before << t.dtype() << after
    : member == kDevice ? text << before << t.device() << after
                        : text << before << t.sizes() << after;
  };
  const char* const names[] = {": dtype ", ": device ", ": shape "};
  print(names[member], x(), " does not match ");
  text << name_or(other, "the other tensor");
  print(" (", other, ")");
  // The exception is thrown here and not in fail(), because unwinding a frame takes about 0.2 us.
  throw Error(member == kDType ? kind::TypeError : kind::ValueError, &text, location);
}

KERNKIT_COLD void ExpectFailure::overlap(TensorView other, const char* how) const {
  // Throws the errors of numel() and data_ptr() for a tensor whose elements cannot be counted or
  // that has no memory.
  for (const TensorView& t : {x(), other})
    if (t.numel() != 0) (void)t.data_ptr();
  if (may_overlap_itself(tensor)) layout("elements may share memory");
  const bool is_certain = x().is_contiguous() && other.is_contiguous();
  fail(kind::ValueError,
       text() << (is_certain ? ": " : ": may ") << how << (is_certain ? "overlaps " : "overlap ")
              << name_or(other, "the other tensor") << " in memory (" << x() << " at "
              << x().data_ptr() << ", " << other << " at " << other.data_ptr() << ")");
}

}  // namespace kernkit::detail
