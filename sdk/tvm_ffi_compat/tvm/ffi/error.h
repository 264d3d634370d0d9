// SPDX-License-Identifier: Apache-2.0
// tvm-ffi's Error and checks, based on kernkit::Error. Kinds and texts are the same as in tvm-ffi;
// messages begin with "name(): ".
#pragma once

#include <stdio.h>

#include "kernkit/error.h"
#include "kernkit/errors/streamable.h"
#include "tvm/ffi/extra/kernkit_compat.h"

KERNKIT_TVM_FFI_BEGIN
/// tvm-ffi's Error, implemented by kernkit::Error: an exception with a kind, such as "ValueError",
/// and a message.
class Error : public kernkit::Error {
 public:
  /// Makes an error. The third argument, tvm-ffi's backtrace, is ignored; `location` is the line in
  /// the traceback of Python.
  Error(const std::string& kind, const std::string& message, const std::string& = "",
        kernkit::SourceLocation location = {})
      : kernkit::Error(kind.c_str(), message.c_str(), location) {}
  /// Converts an error of kernkit.
  explicit Error(const kernkit::Error& error) : kernkit::Error(error) {}

  /// Returns the kind, such as "ValueError".
  std::string kind() const { return kernkit::Error::kind(); }
  /// Returns the message without the kind.
  std::string message() const { return kernkit::Error::message(); }
  /// Returns the message without its kind, as in tvm-ffi. Valid during the lifetime of the error
  /// and its copies.
  const char* what() const noexcept override { return kernkit::Error::message(); }
};

namespace detail {
/// Throws an Error of any kind; the macro passes the kind's name as a token.
class Thrower {
 public:
  constexpr Thrower(const char* kind, kernkit::SourceLocation location, bool log = false)
      : kind_(kind), location_(location), log_(log) {}

  [[noreturn, gnu::cold]] void operator&(kernkit::Message& message) const {
    message.trim();
    if (log_)
      fprintf(stderr, "%s:%d: %s: %s\n", location_.file, location_.line, kind_, message.c_str());
    throw Error(kind_, message.c_str(), "", location_);
  }

 private:
  const char* kind_;
  kernkit::SourceLocation location_;
  bool log_;
};

/// Rethrows errors of kernkit as an Error of this namespace, which callers may catch.
template <class Call>
decltype(auto) translate(Call&& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const kernkit::Error& error) {
    throw Error(error);
  }
}

template <class A, class B>
[[gnu::cold]] kernkit::Message* describe(const char* expression, const A& a, const B& b) {
  auto* message = new kernkit::Message;
  *message << "Check failed: " << expression << " (" << a << " vs. " << b << ") : ";
  return message;
}

template <class T>
T&& check_not_null(T&& x, const char* text, const char* kind, kernkit::SourceLocation location) {
  if (x == nullptr)
    Thrower(kind, location) & (kernkit::Message().stream() << "Check not null: " << text);
  return static_cast<T&&>(x);
}
}  // namespace detail
KERNKIT_TVM_FFI_END

/// Evaluates the condition as a bool; the compiler expects false.
#define TVM_FFI_PREDICT_FALSE(condition) (__builtin_expect(static_cast<bool>(condition), 0))
/// Evaluates the condition as a bool; the compiler expects true.
#define TVM_FFI_PREDICT_TRUE(condition) (__builtin_expect(static_cast<bool>(condition), 1))

// The macros are expressions, so that an else after a check belongs to the if before it. Each macro
// ends in a stream or a literal: `<< value` may follow and, in sources that omit the <<, another
// literal. Values are evaluated only if the check fails.

/// Throws an Error of `Kind`, an identifier such as ValueError, with the streamed text.
///
///     TVM_FFI_THROW(ValueError) << "text" << value;
#define TVM_FFI_THROW(Kind) \
  ::tvm::ffi::detail::Thrower(#Kind, KERNKIT_HERE) & ::kernkit::Message().stream()
/// Prints file, line, kind and message to stderr, and throws as TVM_FFI_THROW does.
#define TVM_FFI_LOG_AND_THROW(Kind) \
  ::tvm::ffi::detail::Thrower(#Kind, KERNKIT_HERE, true) & ::kernkit::Message().stream()
/// Throws an Error of `Kind` with "Check failed: (condition) is false: " and the streamed text if
/// the condition is false.
#define TVM_FFI_CHECK(condition, Kind)              \
  __builtin_expect(static_cast<bool>(condition), 1) \
      ? static_cast<void>(0)                        \
      : TVM_FFI_THROW(Kind) << "Check failed: (" #condition ") is false: "
/// Throws an Error of `Kind` with both operands, each evaluated once, if `a op b` is false.
/// Integers compare by value, even if one is signed and one unsigned.
#define KERNKIT_TVM_FFI_CHECK_OP(a, op, b, Kind)                                                   \
  while (::kernkit::detail::Mismatch kernkit_mismatch{[](const auto& x, const auto& y) {           \
    return __builtin_expect(                                                                       \
               static_cast<bool>(::kernkit::detail::left(x, y) op ::kernkit::detail::right(x, y)), \
               1)                                                                                  \
               ? nullptr                                                                           \
               : ::tvm::ffi::detail::describe(#a " " #op " " #b, x, y);                            \
  }((a), (b))})                                                                                    \
  ::tvm::ffi::detail::Thrower(#Kind, KERNKIT_HERE) & kernkit_mismatch.stream() << ""
/// Throws an Error of `Kind` with both values unless a == b.
#define TVM_FFI_CHECK_EQ(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, ==, b, Kind)
/// Throws an Error of `Kind` with both values unless a != b.
#define TVM_FFI_CHECK_NE(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, !=, b, Kind)
/// Throws an Error of `Kind` with both values unless a < b.
#define TVM_FFI_CHECK_LT(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, <, b, Kind)
/// Throws an Error of `Kind` with both values unless a <= b.
#define TVM_FFI_CHECK_LE(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, <=, b, Kind)
/// Throws an Error of `Kind` with both values unless a > b.
#define TVM_FFI_CHECK_GT(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, >, b, Kind)
/// Throws an Error of `Kind` with both values unless a >= b.
#define TVM_FFI_CHECK_GE(a, b, Kind) KERNKIT_TVM_FFI_CHECK_OP(a, >=, b, Kind)
/// Returns `x`. Throws an Error of `Kind` if the pointer is null.
#define TVM_FFI_CHECK_NOTNULL(x, Kind) \
  ::tvm::ffi::detail::check_not_null((x), #x, #Kind, KERNKIT_HERE)
/// Throws InternalError if the condition is false: a bug of the library.
#define TVM_FFI_ICHECK(condition) TVM_FFI_CHECK(condition, InternalError)
/// Throws InternalError with both values unless a == b.
#define TVM_FFI_ICHECK_EQ(a, b) TVM_FFI_CHECK_EQ(a, b, InternalError)
/// Throws InternalError with both values unless a != b.
#define TVM_FFI_ICHECK_NE(a, b) TVM_FFI_CHECK_NE(a, b, InternalError)
/// Throws InternalError with both values unless a < b.
#define TVM_FFI_ICHECK_LT(a, b) TVM_FFI_CHECK_LT(a, b, InternalError)
/// Throws InternalError with both values unless a <= b.
#define TVM_FFI_ICHECK_LE(a, b) TVM_FFI_CHECK_LE(a, b, InternalError)
/// Throws InternalError with both values unless a > b.
#define TVM_FFI_ICHECK_GT(a, b) TVM_FFI_CHECK_GT(a, b, InternalError)
/// Throws InternalError with both values unless a >= b.
#define TVM_FFI_ICHECK_GE(a, b) TVM_FFI_CHECK_GE(a, b, InternalError)
/// Returns `x`. Throws InternalError if the pointer is null.
#define TVM_FFI_ICHECK_NOTNULL(x) TVM_FFI_CHECK_NOTNULL(x, InternalError)
