// SPDX-License-Identifier: Apache-2.0
// ListView: a list argument, read element by element. IntList: a list of integers.
#pragma once

#include "kernkit/call/list_items.h"

namespace kernkit {

namespace detail {

/// Throws a copy of `error`, a message about `name`, as an error of element i, such as "v[1]:
/// expected int".
[[noreturn, gnu::cold]] void throw_for_element(const Error& error, const char* name, size_t i);

template <class T>
typename Argument<T>::Storage read_element(const KernkitAny* data, size_t i, const char* name) {
  try {
    return Argument<T>::read(data[i], name);
  } catch (const Error& error) {
    throw_for_element(error, name, i);
  }
}

}  // namespace detail

/// An argument of a list type: float[], Tensor[], str[] or bool[] (int[] is a ShapeView). The
/// elements are checked when the call begins and do not change during the call: the view borrows
/// the elements of an Array (a Python list or tuple), and holds copies of the elements of a List,
/// which a callback may change. Copies of the view share these elements. A member throws nothing
/// unless the member's comment names an error.
template <class T>
class ListView {
  static_assert(std::is_same_v<typename detail::Argument<T>::Storage, T>,
                "kernkit: ListView does not support this element type; read a list of int[] as "
                "ListView<ListView<int64_t>>");

 public:
  /// Borrows `size` elements at `data`, which are not checked. Messages use `name`. `data` and
  /// `name` must outlive the view and its copies. Throws nothing.
  ListView(const KernkitAny* data, size_t size, const char* name)
      : ListView(detail::ListItems(data, size), name) {}
  /// Shares the elements that a call holds. Messages use `name`, which must outlive the view and
  /// its copies. Throws nothing.
  ListView(const detail::ListItems& items, const char* name) : items_(items), name_(name) {}

  /// Number of elements.
  size_t size() const { return items_.size(); }
  /// True for a list without elements.
  bool empty() const { return items_.size() == 0; }
  /// Element i as a T, counted from 0. The index is not checked. Throws TypeError or ValueError,
  /// such as "xs[2]: ...", for an element that does not convert to T. The elements of an argument
  /// of an exported function were checked when the call began, so the operator throws nothing for
  /// them. A view that is returned is valid as long as the list.
  T operator[](size_t i) const { return detail::read_element<T>(items_.data(), i, name_); }

  /// Iterator for `for (const TensorView x : xs)`: dereferencing reads the element.
  class Iterator {
   public:
    /// Points to element i of `list`, which must outlive the iterator.
    Iterator(const ListView& list, size_t i) : list_(&list), i_(i) {}
    /// Returns the element; throws the TypeError or ValueError of operator[]. The iterator must not
    /// be at end().
    T operator*() const { return (*list_)[i_]; }
    /// Advances to the next element, and returns this iterator.
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    /// True for equal positions; both iterators must belong to the same list.
    bool operator==(const Iterator& other) const { return i_ == other.i_; }
    /// True for different positions; both iterators must belong to the same list.
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }

   private:
    const ListView* list_;
    size_t i_;
  };
  /// Iterator at the first element, valid as long as this ListView.
  Iterator begin() const { return Iterator(*this, 0); }
  /// Iterator past the last element, valid as long as this ListView.
  Iterator end() const { return Iterator(*this, size()); }

 private:
  detail::ListItems items_;
  const char* name_;
};

namespace detail {

template <class T>
struct Argument<ListView<T>> {
  using Storage = ListView<T>;
  static constexpr bool fits(const schema::Param& param) {
    schema::Param element = param;
    element.is_list = false;
    return param.is_list && !param.is_optional && Argument<T>::fits(element);
  }
  static Storage read(const KernkitAny& any, const char* name) {
    Storage list(ListItems::from(read_list(any, name, "a list")), name);
    for (size_t i = 0; i < list.size(); ++i) (void)list[i];
    return list;
  }
};

/// Holds the integers of an int[] argument during a call: borrows them from a Shape, and copies
/// them from a list.
class IntList {
 public:
  IntList(const KernkitAny& argument, const char* name) {
    const KernkitAny any = referent(argument);
    if (any.type_index == kKernkitShape && is_sound(any)) {
      const auto* cell = cell_of<KernkitShapeCell>(any);
      view_ = ShapeView(cell->data, cell->size);
      return;
    }
    const auto* cell = cell_of<KernkitSeqCell>(read_list(any, name, "a list of int"));
    const auto size = static_cast<size_t>(cell->size);
    if (size > kInline) heap_ = new int64_t[size];
    int64_t* out = heap_ != nullptr ? heap_ : inline_;
    try {
      for (size_t i = 0; i < size; ++i) {
        out[i] = read_element<int64_t>(static_cast<const KernkitAny*>(cell->data), i, name);
      }
    } catch (...) {
      delete[] heap_;
      throw;
    }
    view_ = ShapeView(out, size);
  }
  IntList(const IntList&) = delete;
  IntList& operator=(const IntList&) = delete;
  ~IntList() { delete[] heap_; }

  operator ShapeView() const { return view_; }  // NOLINT(runtime/explicit)

 private:
  static constexpr size_t kInline = 16;
  int64_t inline_[kInline];
  int64_t* heap_ = nullptr;
  ShapeView view_;
};

template <>
struct Argument<ShapeView> {
  using Storage = IntList;
  static constexpr bool fits(const schema::Param& param) {
    return param.type == schema::Type::kInt && param.is_list && !param.is_optional;
  }
  static Storage read(const KernkitAny& any, const char* name) { return Storage(any, name); }
};

}  // namespace detail
}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/list.h"
#endif
