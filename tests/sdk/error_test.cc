// SPDX-License-Identifier: Apache-2.0
#include "kernkit/error.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;

int counted = 0;
int count(int value) {
  ++counted;
  return value;
}

TEST(Error, Parts) {
  const Error error("ValueError", "n: must be positive", {"file.cc", 12});
  EXPECT_STREQ(error.kind(), "ValueError");
  EXPECT_STREQ(error.message(), "n: must be positive");
  EXPECT_STREQ(error.what(), "ValueError: n: must be positive");
  EXPECT_STREQ(error.location().file, "file.cc");
  EXPECT_EQ(error.location().line, 12);
  const Where former = error.where();  // Where and where() are the former names
  EXPECT_EQ(former.line, 12);
}

TEST(Error, EmptyParts) {
  const Error error("", "");
  EXPECT_STREQ(error.kind(), "");
  EXPECT_STREQ(error.message(), "");
  EXPECT_EQ(error.location().line, 0);
}

TEST(Error, CopiesItsText) {
  char text[] = "text";
  char kind[] = "Kind";
  const Error error(kind, text);
  text[0] = kind[0] = 'X';
  EXPECT_STREQ(error.what(), "Kind: text");
}

TEST(Error, CopiesShareAndOutlive) {
  auto* first = new Error("TypeError", "one");
  Error copy(*first);
  Error assigned("ValueError", "two");
  assigned = *first;
  const char* const text = first->what();
  delete first;
  EXPECT_EQ(copy.what(), text);
  EXPECT_STREQ(assigned.what(), "TypeError: one");
  Error& self = assigned;
  assigned = self;
  EXPECT_STREQ(assigned.what(), "TypeError: one");
}

// Copying an Error throws no exception: an exception object is copied while it is thrown, and an
// exception of the copy constructor would end the process.
TEST(Error, CopyingDoesNotThrow) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  static_assert(std::is_nothrow_copy_assignable_v<Error>);
  static_assert(std::is_base_of_v<std::exception, Error>);
}

TEST(Throw, Message) {
  EXPECT_EQ(error_of([] { KERNKIT_THROW(IndexError) << "i: " << 3; }), "IndexError: i: 3");
  EXPECT_EQ(error_of([] { KERNKIT_THROW(MemoryError); }), "MemoryError: unspecified");
}

TEST(Check, Passes) {
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(1 + 1 == 2, ValueError) << "never"; }), "nothing");
}

TEST(Check, Message) {
  const int n = -1;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK(n > 0, ValueError) << "n: must be positive, got " << n; }),
            "ValueError: n: must be positive, got -1");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK(n > 0, TypeError); }), "TypeError: check failed: n > 0");
}

TEST(Check, EveryKind) {
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, TypeError) << "t"; }), "TypeError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, ValueError) << "t"; }), "ValueError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, RuntimeError) << "t"; }), "RuntimeError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, InternalError) << "t"; }), "InternalError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, IndexError) << "t"; }), "IndexError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, MemoryError) << "t"; }), "MemoryError: t");
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(false, NotImplementedError) << "t"; }),
            "NotImplementedError: t");
}

TEST(Check, RecordsTheLineOfTheMacro) {
  const int line = __LINE__ + 2;
  try {
    KERNKIT_CHECK(false, ValueError);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, line);
    EXPECT_TRUE(std::string(error.location().file).find("error_test.cc") != std::string::npos);
  }
}

TEST(Check, OperandsAreLazyAndEvaluatedOnce) {
  counted = 0;
  KERNKIT_CHECK(true, ValueError) << count(1);
  EXPECT_EQ(counted, 0);
  EXPECT_EQ(error_of([] { KERNKIT_CHECK(count(0) != 0, ValueError) << count(1); }),
            "ValueError: 1");
  EXPECT_EQ(counted, 2);
  KERNKIT_CHECK(count(1) == 1, ValueError);
  EXPECT_EQ(counted, 3);
}

// The else belongs to the `if` in the source. If the check were a bare `if`, the else would belong
// to the check.
TEST(Check, InIfElseWithoutBraces) {
  // clang-format off
  const auto branch = [](bool a) {
    std::string taken = "none";
    if (a) KERNKIT_CHECK(true, ValueError) << "x"; else taken = "else";
    return taken;
  };
  const auto icheck_branch = [](bool a) {
    std::string taken = "none";
    if (a) KERNKIT_ICHECK(true) << "x"; else taken = "else";
    return taken;
  };
  const auto compare_branch = [](bool a) {
    std::string taken = "none";
    if (a) KERNKIT_ICHECK_EQ(1, 1) << "x"; else taken = "else";
    return taken;
  };
  const auto throw_branch = [](bool a) {
    std::string taken = "none";
    if (a) KERNKIT_THROW(ValueError); else taken = "else";
    return taken;
  };
  // clang-format on
  EXPECT_EQ(branch(true), "none");
  EXPECT_EQ(branch(false), "else");
  EXPECT_EQ(icheck_branch(true), "none");
  EXPECT_EQ(icheck_branch(false), "else");
  EXPECT_EQ(compare_branch(true), "none");
  EXPECT_EQ(compare_branch(false), "else");
  EXPECT_EQ(throw_branch(false), "else");
}

// The condition may contain `cond ? a : b` and other operators with lower precedence than the
// operators in the macro's expansion.
TEST(Check, EvaluatesTheWholeCondition) {
  const bool a = true, b = false;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK(a ? b : a, ValueError) << "x"; }), "ValueError: x");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK(a || b, ValueError) << "x"; }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK(a ? b : a); }).substr(0, 13), "InternalError");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_EQ(a ? 1 : 2, b ? 1 : 2) << "x"; }),
            "InternalError: internal check failed: a ? 1 : 2 == b ? 1 : 2 (1 vs 2) x");
}

struct Throws {};
Message& operator<<(Message&, const Throws&) { throw std::runtime_error("operand"); }
template <class Call>
std::string text_of_exception(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

// The exception of an operand of << reaches the caller. If the check threw its error in a
// destructor, std::terminate() would end the process.
TEST(Check, OperandThatThrows) {
  EXPECT_EQ(text_of_exception([] { KERNKIT_CHECK(false, ValueError) << "a" << Throws(); }),
            "operand");
  EXPECT_EQ(text_of_exception([] { KERNKIT_THROW(ValueError) << "a" << Throws(); }), "operand");
  EXPECT_EQ(text_of_exception([] { KERNKIT_ICHECK(false) << Throws(); }), "operand");
  EXPECT_EQ(text_of_exception([] { KERNKIT_ICHECK_EQ(1, 2) << Throws(); }), "operand");
}

// A check may throw while another exception unwinds the stack, if the check's error is caught
// before leaving the destructor.
TEST(Check, WhileUnwinding) {
  struct Cleanup {
    std::string* caught;
    ~Cleanup() {
      *caught = error_of([] { KERNKIT_CHECK(false, ValueError) << "inner"; });
    }
  };
  std::string caught;
  EXPECT_EQ(error_of([&] {
              Cleanup cleanup{&caught};
              KERNKIT_THROW(TypeError) << "outer";
            }),
            "TypeError: outer");
  EXPECT_EQ(caught, "ValueError: inner");
}

TEST(ICheck, Message) {
  EXPECT_EQ(error_of([] { KERNKIT_ICHECK(1 > 2) << "why"; }),
            "InternalError: internal check failed: 1 > 2 why");
}

TEST(ICheck, PrintsBothValues) {
  const int a = 3, b = 4;
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_EQ(a, b) << "why"; }),
            "InternalError: internal check failed: a == b (3 vs 4) why");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_NE(a, 3) << "why"; }),
            "InternalError: internal check failed: a != 3 (3 vs 3) why");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_LT(b, a) << "why"; }),
            "InternalError: internal check failed: b < a (4 vs 3) why");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_LE(b, a) << "why"; }),
            "InternalError: internal check failed: b <= a (4 vs 3) why");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_GT(a, b) << "why"; }),
            "InternalError: internal check failed: a > b (3 vs 4) why");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_GE(a, b) << "why"; }),
            "InternalError: internal check failed: a >= b (3 vs 4) why");
  EXPECT_EQ(error_of([] { KERNKIT_ICHECK_EQ(dl_float32, dl_int8) << "dtypes"; }),
            "InternalError: internal check failed: dl_float32 == dl_int8 (float32 vs int8) dtypes");
}

TEST(ICheck, Boundaries) {
  EXPECT_EQ(error_of([] {
              KERNKIT_ICHECK_EQ(3, 3);
              KERNKIT_ICHECK_NE(3, 4);
              KERNKIT_ICHECK_LT(3, 4);
              KERNKIT_ICHECK_LE(3, 3);
              KERNKIT_ICHECK_GT(4, 3);
              KERNKIT_ICHECK_GE(3, 3);
            }),
            "nothing");
  EXPECT_NE(error_of([] { KERNKIT_ICHECK_LT(3, 3); }), "nothing");
  EXPECT_NE(error_of([] { KERNKIT_ICHECK_GT(3, 3); }), "nothing");
}

TEST(ICheck, NothingTrailsWithoutText) {
  EXPECT_EQ(error_of([] { KERNKIT_ICHECK(1 > 2); }), "InternalError: internal check failed: 1 > 2");
  EXPECT_EQ(error_of([] { KERNKIT_ICHECK_EQ(1, 2); }),
            "InternalError: internal check failed: 1 == 2 (1 vs 2)");
}

TEST(ICheck, OperandsAreEvaluatedOnce) {
  counted = 0;
  KERNKIT_ICHECK_EQ(count(1), count(1)) << count(2);
  EXPECT_EQ(counted, 2);
  EXPECT_EQ(error_of([] { KERNKIT_ICHECK_EQ(count(1), count(2)) << count(3); }),
            "InternalError: internal check failed: count(1) == count(2) (1 vs 2) 3");
  EXPECT_EQ(counted, 5);
}

// A signed and an unsigned operand are compared as numbers, without a warning of the compiler.
TEST(ICheck, ComparesSignedWithUnsigned) {
  const size_t three = 3, largest = ~size_t{0};
  const int minus_one = -1;
  EXPECT_EQ(error_of([&] {
              KERNKIT_ICHECK_EQ(three, 3);
              KERNKIT_ICHECK_EQ(3, three);
              KERNKIT_ICHECK_NE(largest, minus_one);
              KERNKIT_ICHECK_LT(minus_one, three);
              KERNKIT_ICHECK_LE(three, int8_t{3});
              KERNKIT_ICHECK_GT(largest, int64_t{1});
              KERNKIT_ICHECK_GE(three, minus_one);
              KERNKIT_ICHECK_EQ(true, 1);
            }),
            "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_EQ(largest, minus_one) << "n"; }),
            "InternalError: internal check failed: largest == minus_one (18446744073709551615 vs "
            "-1) n");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_LT(three, minus_one); }),
            "InternalError: internal check failed: three < minus_one (3 vs -1)");
  const double nan = __builtin_nan("");
  EXPECT_EQ(error_of([&] { KERNKIT_ICHECK_NE(nan, nan); }), "nothing");
  EXPECT_NE(error_of([&] { KERNKIT_ICHECK_GE(nan, 0); }), "nothing");
}

}  // namespace
}  // namespace kernkit
