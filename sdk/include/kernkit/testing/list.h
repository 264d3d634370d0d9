// SPDX-License-Identifier: Apache-2.0
// TestList: a list argument, for a test or benchmark that calls the op's C++ function.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kernkit/list.h"
#include "kernkit/owning_any.h"

namespace kernkit::testing {

/// A list argument of type T for a test, which owns its elements; a TensorView element borrows its
/// tensor, which must outlive the list. T is TensorView, a type that converts to std::string_view,
/// or a type from which Any is made, such as double, bool, int64_t, DLDataType or BytesView.
///
///     const TestList<TensorView> xs(a.view("xs"), b.view("xs"));
///     const TestList<std::string_view> modes("left", "right");
///     pad(y.view("y"), xs.view("xs"), modes.view("modes"));
///
/// A list of bytes needs a host (kernkit/testing/host.h).
template <class T>
class TestList {
 public:
  /// Makes a list of the elements in order, each converted to T; empty without elements. Throws
  /// RuntimeError for bytes without a host, ValueError for a text of more than 7 bytes that
  /// contains NUL and for an unsigned integer above 2^63 - 1, and std::bad_alloc.
  template <class... Elements>
  explicit TestList(const Elements&... elements) {
    (push(T(elements)), ...);
  }
  /// Makes a list of the elements of a vector, in order. Throws the errors of the other
  /// constructor.
  explicit TestList(const std::vector<T>& elements) {
    for (const T& element : elements) push(element);
  }
  TestList(const TestList&) = delete;
  TestList& operator=(const TestList&) = delete;

  /// Returns a view of the list whose messages name the argument `name`, which must outlive the
  /// view. The view is valid during the lifetime of the list. Throws nothing.
  ListView<T> view(const char* name) const { return {elements_.data(), elements_.size(), name}; }

 private:
  void push(const T& element) {
    if constexpr (std::is_same_v<T, TensorView>) {
      elements_.push_back(AnyView(element).get());
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      texts_.emplace_back(element);
      elements_.push_back(AnyView(texts_.back()).get());
    } else {
      owned_.emplace_back(element);
      elements_.push_back(owned_.back().get());
    }
  }

  std::vector<KernkitAny> elements_;
  std::vector<Any> owned_;
  std::deque<std::string> texts_;
};

}  // namespace kernkit::testing
