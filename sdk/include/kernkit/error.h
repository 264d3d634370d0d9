// SPDX-License-Identifier: Apache-2.0
// Error, and the macros that throw one: KERNKIT_CHECK, KERNKIT_THROW, KERNKIT_ICHECK*.
#pragma once

#include <new>  // defines std::exception; a tenth as long as <exception>

#include "kernkit/errors/message.h"

namespace kernkit {

/// Kinds of errors. A kind is the name of the exception in Python; InternalError and
/// NotImplementedError, which tvm_ffi does not support, become a RuntimeError.
///   TypeError      a wrong dtype, or type or number of arguments
///   ValueError     a wrong shape, device, layout, aliasing or range
///   RuntimeError   an error of CUDA, a missing host
///   InternalError  only a bug in the library that throws the error
namespace kind {
/// A wrong dtype, argument type or number of arguments; Python's TypeError.
inline constexpr char TypeError[] = "TypeError";
/// A wrong shape, device, layout, aliasing or range of a value; Python's ValueError.
inline constexpr char ValueError[] = "ValueError";
/// An error of CUDA, or a host that is missing or fails; Python's RuntimeError.
inline constexpr char RuntimeError[] = "RuntimeError";
/// A bug in the library that throws the error; a RuntimeError in Python.
inline constexpr char InternalError[] = "InternalError";
/// A dimension or an index that does not exist; Python's IndexError.
inline constexpr char IndexError[] = "IndexError";
/// Memory that cannot be allocated; Python's MemoryError.
inline constexpr char MemoryError[] = "MemoryError";
/// A case that the library does not support; a RuntimeError in Python.
inline constexpr char NotImplementedError[] = "NotImplementedError";
}  // namespace kind

/// The source line where an error was thrown; in Python, the last frame of the traceback.
struct SourceLocation {
  const char* file = "";  ///< path as the compiler got it; static, "" for no line
  int line = 0;           ///< number from 1; 0 for no line
};
using Where = SourceLocation;  ///< former name of SourceLocation; remains for one MINOR version
/// The source line of the expansion, as a kernkit::SourceLocation. Throws nothing.
#define KERNKIT_HERE (::kernkit::SourceLocation{__FILE__, __LINE__})

/// The exception that kernkit throws. Copies share one text, so copying does not throw; no member
/// throws. Threads may use copies at the same time.
class Error : public std::exception {
 public:
  /// Copies `error_kind`, one of the names in kernkit::kind, and `text`; neither may be null.
  /// `location` is the source line that location() returns. Throws nothing: if memory is exhausted,
  /// the error becomes "MemoryError: out of memory".
  [[gnu::cold]] Error(const char* error_kind, const char* text, SourceLocation location = {});
  /// Copies `error_kind`, one of the names in kernkit::kind, and copies and deletes `text`, which
  /// `new` created: unwinding is slower if it has to run a destructor. Throws nothing: if memory is
  /// exhausted, the error becomes "MemoryError: out of memory".
  [[gnu::cold]] Error(const char* error_kind, Message* text, SourceLocation location = {});
  /// Shares the text of the other error. Safe from any thread.
  Error(const Error& other) noexcept;
  /// Shares the text of the other error, and releases the previous text.
  Error& operator=(const Error& other) noexcept;
  ~Error() override;

  /// The kind, such as "ValueError"; "MemoryError" if memory was exhausted. Valid while the error
  /// or a copy of the error exists.
  const char* kind() const noexcept;
  /// The message without the kind ("out of memory" if memory was exhausted), valid while the error
  /// or a copy of the error exists.
  const char* message() const noexcept;
  /// Kind and message, as "ValueError: the message" ("MemoryError: out of memory" if memory was
  /// exhausted), valid while the error or a copy of the error exists.
  const char* what() const noexcept override;
  /// The source line at which the error was thrown; an empty SourceLocation for an error without a
  /// source line, such as an error of an argument or of the host.
  SourceLocation location() const noexcept { return location_; }
  /// Returns location(), of which this is the former name; the function remains for one MINOR
  /// version.
  SourceLocation where() const noexcept { return location_; }

 private:
  struct Block {
    long count;
    size_t kind_size;
  };
  const char* text_at(size_t offset, const char* otherwise) const noexcept;
  void retain() const noexcept;
  void release() const noexcept;

  Block* block_;
  SourceLocation location_;
};

namespace detail {

/// Throws the error in operator&, an operator with a precedence below << and above ?: . A macro
/// that uses the class is therefore one expression, which evaluates the streamed operands only if
/// the check fails, and no destructor throws.
class Thrower {
 public:
  /// `otherwise` is the error's text if no operand is streamed. The macros call a constructor
  /// instead of using a braced list: in an argument of another macro, the commas of a braced list
  /// would separate arguments.
  constexpr Thrower(const char* kind, const char* otherwise, SourceLocation location)
      : kind_(kind), otherwise_(otherwise), location_(location) {}

  [[noreturn, gnu::cold]] void operator&(Message& message) const;

 private:
  const char* kind_;
  const char* otherwise_;
  SourceLocation location_;
};

/// Owns the text of a failed comparison; has no text if the comparison succeeded.
class Mismatch {
 public:
  explicit Mismatch(Message* message) : message_(message) {}
  Mismatch(const Mismatch&) = delete;
  Mismatch& operator=(const Mismatch&) = delete;
  ~Mismatch() { delete message_; }
  explicit operator bool() const { return message_ != nullptr; }
  Message& stream() { return *message_; }

 private:
  Message* message_;
};

// True if A and B are integer types of different signedness, which C++ would compare as unsigned
// numbers.
template <class A, class B>
inline constexpr bool kMixed =
    std::is_integral_v<A>&& std::is_integral_v<B>&& std::is_signed_v<A> != std::is_signed_v<B>;

/// Returns -1, 0 or 1 if the first number is less than, equal to or greater than the second.
template <class A, class B>
constexpr int compare(A a, B b) {
  if constexpr (std::is_signed_v<B>) {
    return -compare(b, a);
  } else {
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    return a < 0 || x < y ? -1 : x > y;
  }
}

/// The two sides of a comparison: the operands, or, for operands of mixed signedness, the result of
/// compare() and 0.
template <class A, class B>
constexpr decltype(auto) left(const A& a, [[maybe_unused]] const B& b) {
  if constexpr (kMixed<A, B>) {
    return compare(a, b);
  } else {
    return (a);
  }
}
template <class A, class B>
constexpr decltype(auto) right(const A&, [[maybe_unused]] const B& b) {
  if constexpr (kMixed<A, B>) {
    return 0;
  } else {
    return (b);
  }
}

template <class A, class B>
[[gnu::cold]] Message* describe_mismatch(const char* expression, const A& a, const B& b) {
  return &(*new Message << "internal check failed: " << expression << " (" << a << " vs " << b
                        << ") ");
}

}  // namespace detail
}  // namespace kernkit

/// `KERNKIT_THROW(ValueError) << "text" << value;` throws kernkit::Error. `Kind` is a name in
/// kernkit::kind; the error has the source line of the macro. Operands of kernkit::Message may be
/// streamed; without an operand the text is "unspecified". Spaces at the end are removed.
#define KERNKIT_THROW(Kind)                                                        \
  ::kernkit::detail::Thrower(::kernkit::kind::Kind, "unspecified", KERNKIT_HERE) & \
      ::kernkit::Message().stream()

/// `KERNKIT_CHECK(n > 0, ValueError) << "n: must be positive, got " << n;` throws kernkit::Error of
/// that kind if the condition, which is evaluated once, is false. `Kind` is a name in
/// kernkit::kind. The message is evaluated only in that case; without a message the error has the
/// condition's text. Safe inside if/else. Enabled in every build.
#define KERNKIT_CHECK(condition, Kind)                                                 \
  __builtin_expect(static_cast<bool>(condition), 1)                                    \
      ? static_cast<void>(0)                                                           \
      : ::kernkit::detail::Thrower(::kernkit::kind::Kind, "check failed: " #condition, \
                                   KERNKIT_HERE) &                                     \
            ::kernkit::Message().stream()

/// `KERNKIT_ICHECK(i < n) << "text";` throws InternalError if the condition, which is evaluated
/// once, is false: a check whose failure is a bug in this library. The text is appended to the text
/// of the condition. Enabled in every build.
#define KERNKIT_ICHECK(condition)                                                      \
  __builtin_expect(static_cast<bool>(condition), 1)                                    \
      ? static_cast<void>(0)                                                           \
      : ::kernkit::detail::Thrower(::kernkit::kind::InternalError, "", KERNKIT_HERE) & \
            ::kernkit::Message().stream() << "internal check failed: " #condition " "

/// Throws InternalError with both operands unless `a op b`, where `op` is a comparison operator. A
/// statement. Operands are evaluated once, and must be printable by kernkit::Message. Integers
/// compare by value, even if one is signed and one unsigned. Enabled in every build. More text may
/// be streamed: `KERNKIT_ICHECK_OP(i, <, n) << "rows";` Throws std::bad_alloc if memory is
/// exhausted.
#define KERNKIT_ICHECK_OP(a, op, b)                                                                \
  while (::kernkit::detail::Mismatch kernkit_mismatch{[](const auto& x, const auto& y) {           \
    return __builtin_expect(                                                                       \
               static_cast<bool>(::kernkit::detail::left(x, y) op ::kernkit::detail::right(x, y)), \
               1)                                                                                  \
               ? nullptr                                                                           \
               : ::kernkit::detail::describe_mismatch(#a " " #op " " #b, x, y);                    \
  }((a), (b))})                                                                                    \
  ::kernkit::detail::Thrower(::kernkit::kind::InternalError, "", KERNKIT_HERE) &                   \
      kernkit_mismatch.stream()
/// Throws InternalError with both operands unless a == b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_EQ(a, b) KERNKIT_ICHECK_OP(a, ==, b)
/// Throws InternalError with both operands unless a != b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_NE(a, b) KERNKIT_ICHECK_OP(a, !=, b)
/// Throws InternalError with both operands unless a < b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_LT(a, b) KERNKIT_ICHECK_OP(a, <, b)
/// Throws InternalError with both operands unless a <= b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_LE(a, b) KERNKIT_ICHECK_OP(a, <=, b)
/// Throws InternalError with both operands unless a > b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_GT(a, b) KERNKIT_ICHECK_OP(a, >, b)
/// Throws InternalError with both operands unless a >= b. Integers compare by value; operands are
/// evaluated once; more text may be streamed (see KERNKIT_ICHECK_OP).
#define KERNKIT_ICHECK_GE(a, b) KERNKIT_ICHECK_OP(a, >=, b)

namespace kernkit::detail {
[[noreturn, gnu::cold]] void throw_out_of_shape(size_t i, size_t size);
}
inline int64_t kernkit::ShapeView::at(size_t i) const {
  if (__builtin_expect(i >= size_, 0)) detail::throw_out_of_shape(i, size_);
  return data_[i];
}

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/error.h"
#endif
