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

/// A list argument of type T for a test, which owns its elements. The tensors that TensorView
/// elements refer to must outlive the list.
///
///     const TestList<TensorView> xs(a.view("xs"), b.view("xs"));
///     const TestList<std::string_view> modes("left", "right");
///     pad(y.view("y"), xs.view("xs"), modes.view("modes"));
///
/// A list of bytes needs a host (kernkit/testing/host.h).
template <class T>
class TestList {
 public:
  /// Makes a list of the elements, each converted to T. Throws RuntimeError for bytes without a
  /// host.
  template <class... Elements>
  explicit TestList(const Elements&... elements) {
    (push(T(elements)), ...);
  }
  /// Makes a list of the elements of a vector. Throws RuntimeError for bytes without a host.
  explicit TestList(const std::vector<T>& elements) {
    for (const T& element : elements) push(element);
  }
  TestList(const TestList&) = delete;
  TestList& operator=(const TestList&) = delete;

  /// Returns the list as an argument for messages that name the argument `name`, which must outlive
  /// the view. The view is valid during the lifetime of the list. Throws nothing.
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
