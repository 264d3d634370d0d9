// SPDX-License-Identifier: Apache-2.0
// AnyView: a borrowed value of any type, for calls of host functions.
#pragma once

#include "kernkit/call/optional_argument.h"
#include "kernkit/call/result.h"
#include "kernkit/optional.h"

namespace kernkit {

namespace detail {

/// Base of AnyView and Any: the functions that read the value. The conversions are the same as for
/// arguments of an exported function: a double may be read from an int, and an int32_t only from an
/// int in the range of int32_t.
class AnyValue {
 public:
  /// Returns the type index of the value, a constant of kernkit/abi/abi.h such as kKernkitInt.
  int32_t type_index() const { return any_.type_index; }
  /// Returns true if the value is None.
  bool is_none() const { return any_.type_index == kKernkitNone; }

  /// Returns the value as a T, which may be any parameter type of an exported function. Throws
  /// TypeError for a value of another type, with a message such as `<name>: expected float, got str
  /// "x"`, and ValueError for a number out of range. A view (of a tensor, a text, a list) is valid
  /// as long as this object.
  template <class T>
  T cast(const char* name = "value") const {
    static_assert(std::is_same_v<typename Argument<T>::Storage, T>,
                  "kernkit: cast<T>() does not support this type, which borrows from storage of a "
                  "call; read int[] as ListView<int64_t>");
    return Argument<T>::read(any_, name);
  }
  /// Returns whether cast<T>() would succeed.
  template <class T>
  bool is() const {
    return try_cast<T>().has_value();
  }
  /// Returns the value as a T, or an empty Optional if cast<T>() would throw. A failed conversion
  /// takes as long as throwing and catching an exception.
  template <class T>
  Optional<T> try_cast() const {
    try {
      return cast<T>();
    } catch (const Error&) {
      return {};
    }
  }

  /// The value in the layout of the C ABI, valid as long as this object.
  const KernkitAny& get() const { return any_; }

 protected:
  AnyValue() = default;
  explicit AnyValue(const KernkitAny& any) : any_(any) {}
  KernkitAny any_{};
};

/// Prints the value for messages: "int 3", "a list of 2".
[[gnu::cold]] inline Message& operator<<(Message& out, const AnyValue& value) {
  return out << value.get();
}

template <class T>
inline constexpr bool kIsPlain =
    std::is_arithmetic_v<T> || std::is_same_v<T, DLDataType> || std::is_same_v<T, DLDevice>;

/// Returns the value for a text: up to 7 bytes are copied, a longer text is borrowed as a C string.
/// Throws ValueError for a longer text that contains NUL, because a C string ends at the first NUL;
/// an Any copies such a text.
KernkitAny view_text(const char* data, size_t size);

}  // namespace detail

/// A borrowed value of any type. Converts implicitly from None (nullptr), bool, numbers, dtypes,
/// devices, C strings and std::string, tensors and their views, Function, Any, and an Optional of
/// these. Has the layout of KernkitAny. Copies borrow the same value. As a parameter type it
/// matches the schema type `Any`.
///
/// The members read the value as the members of Any do: type_index() and is_none() describe the
/// value, cast<T>(name) returns the value as a T, or throws TypeError for another type and
/// ValueError for a number out of range, with `name` in the message; is<T>() returns whether
/// cast<T>() succeeds, try_cast<T>() returns an Optional<T>, which is empty if cast<T>() throws. A
/// view that cast() returns is valid as long as the object that was read. is() and try_cast() pass
/// on exceptions other than Error, such as std::bad_alloc. get() returns the KernkitAny.
class AnyView : public detail::AnyValue {
 public:
  /// The value None. Throws nothing.
  AnyView() = default;
  /// The value None, for a literal nullptr. Throws nothing.
  AnyView(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  /// Borrows the value of an Any, which must outlive the view. Throws nothing.
  AnyView(const AnyValue& value) : AnyValue(value.get()) {}  // NOLINT(runtime/explicit)
  /// Borrows a value in the layout of the C ABI, whose object or text must outlive the view.
  /// Neither type nor pointer is checked. Throws nothing.
  explicit AnyView(const KernkitAny& any) : AnyValue(any) {}

  /// A bool, number, dtype or device; floats become double, integers int64_t. Throws ValueError for
  /// an unsigned integer above 2^63 - 1.
  template <class T, std::enable_if_t<detail::kIsPlain<T>, int> = 0>
  AnyView(T value) {  // NOLINT(runtime/explicit)
    detail::Result<T>::set(&any_, value);
  }
  /// Text with a terminating NUL, borrowed: `text` must outlive the view, and must not be null.
  /// Throws nothing.
  AnyView(const char* text) { set(kKernkitRawStr).c_str = text; }  // NOLINT(runtime/explicit)
  /// std::string, or another class with c_str() and size(): copied up to 7 bytes, otherwise
  /// borrowed from `text`, which must then outlive the view. Throws ValueError for a longer text
  /// that contains NUL.
  template <class T, class = decltype(std::declval<const T&>().c_str())>
  AnyView(const T& text)  // NOLINT(runtime/explicit)
      : AnyValue(detail::view_text(text.c_str(), text.size())) {}
  /// A tensor that the caller keeps alive during the view's lifetime, borrowed; must not be null.
  /// Throws nothing.
  AnyView(const DLTensor* tensor) {  // NOLINT(runtime/explicit)
    set(kKernkitDLTensorPtr).ptr = const_cast<DLTensor*>(tensor);
  }
  /// A tensor that the caller keeps alive during the view's lifetime, borrowed. The TensorView's
  /// name is dropped. Throws nothing.
  AnyView(TensorView tensor) : AnyView(tensor.get()) {}  // NOLINT(runtime/explicit)
  /// The object of a Tensor, borrowed: the Tensor must outlive the view. An undefined Tensor
  /// becomes None. Throws ValueError for a read-only tensor, which a callee could not recognise as
  /// read-only: pass its read_only_view() if the callee only reads the tensor.
  AnyView(const Tensor& tensor) {  // NOLINT(runtime/explicit)
    if (tensor.defined()) set(kKernkitTensor).object = tensor.writable_object();
  }
  /// The value of an Optional, or None if the Optional is empty. The Optional must outlive the
  /// view. Throws the errors of the conversion from T.
  template <class T, std::enable_if_t<std::is_constructible_v<AnyView, const T&>, int> = 0>
  AnyView(const Optional<T>& value)  // NOLINT(runtime/explicit)
      : AnyView(value.has_value() ? AnyView(*value) : AnyView()) {}

 private:
  decltype(KernkitAny::v)& set(int32_t type_index) {
    any_.type_index = type_index;
    return any_.v;
  }
};

template <>
struct detail::Argument<AnyView> : PlainArgument<schema::Type::kAny, AnyView> {
  static Storage read(const KernkitAny& any, const char* name) {
    const KernkitAny value = referent(any);
    if (!is_sound(value)) throw_argument_type(name, "a value", any);
    return AnyView(value);
  }
};

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/any_view.h"
#endif
