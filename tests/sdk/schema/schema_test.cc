// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "kernkit/schema/parser.h"

namespace kernkit::schema {
namespace {

constexpr char kScale[] = "(Tensor(a!) y, Tensor x, float factor=1.0) -> ()";
constexpr Schema kParsed = parse(kScale);
static_assert(kParsed.error == ParseError::kNone && kParsed.num_params == 3);

std::string text(const char* line, Span span) {
  return std::string(line + span.begin, static_cast<size_t>(span.size));
}

// [parts]
TEST(Schema, Parts) {
  EXPECT_EQ(kParsed.num_required, 2);
  EXPECT_EQ(kParsed.num_returns, 0);
  EXPECT_EQ(text(kScale, kParsed.params[0].name), "y");
  EXPECT_EQ(kParsed.params[0].type, Type::kTensor);
  EXPECT_TRUE(kParsed.params[0].is_written);
  EXPECT_EQ(text(kScale, kParsed.params[1].name), "x");
  EXPECT_FALSE(kParsed.params[1].is_written);
  EXPECT_EQ(kParsed.params[1].default_kind, DefaultKind::kAbsent);
  EXPECT_EQ(kParsed.params[1].default_source.size, 0);
  EXPECT_EQ(text(kScale, kParsed.params[2].name), "factor");
  EXPECT_EQ(kParsed.params[2].default_kind, DefaultKind::kFloat);
  EXPECT_EQ(kParsed.params[2].default_float, 1.0);
  EXPECT_EQ(text(kScale, kParsed.params[2].default_source), "1.0");
}
// [/parts]

TEST(Schema, EveryType) {
  const Schema schema = parse(
      "(Tensor a, int b, float c, bool d, str e, ScalarType f, Device g, Tensor? h, int[] i, "
      "float[]? j, Tensor(b) k, Tensor(a!)[]? l) -> ()");
  ASSERT_EQ(schema.error, ParseError::kNone);
  ASSERT_EQ(schema.num_params, 12);
  const Type expected[] = {Type::kTensor, Type::kInt,        Type::kFloat,  Type::kBool,
                           Type::kStr,    Type::kScalarType, Type::kDevice, Type::kTensor,
                           Type::kInt,    Type::kFloat,      Type::kTensor, Type::kTensor};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(schema.params[i].type, expected[i]) << i;
    EXPECT_EQ(schema.params[i].is_optional, i == 7 || i == 9 || i == 11) << i;
    EXPECT_EQ(schema.params[i].is_list, i == 8 || i == 9 || i == 11) << i;
    EXPECT_EQ(schema.params[i].is_written, i == 11) << i;
  }
}

TEST(Schema, Results) {
  EXPECT_EQ(parse("() -> Tensor").num_returns, 1);
  EXPECT_EQ(parse("() -> Tensor").returns[0].type, Type::kTensor);
  const char line[] = "() -> (Tensor y, int, Tensor(a!)? z)";
  const Schema schema = parse(line);
  ASSERT_EQ(schema.error, ParseError::kNone);
  ASSERT_EQ(schema.num_returns, 3);
  EXPECT_EQ(text(line, schema.returns[0].name), "y");
  EXPECT_EQ(schema.returns[1].name.size, 0);
  EXPECT_TRUE(schema.returns[2].is_optional);
  EXPECT_TRUE(schema.returns[2].is_written);
}

TEST(Schema, ShapesAndDtypesArePassedOver) {
  const char line[] =
      "(Tensor(out!) y[n, (d + 1)]: int8, Tensor(a!) x[], ScalarType? t=None) -> Tensor z[n]: t or "
      "x";
  const Schema schema = parse(line);
  ASSERT_EQ(schema.error, ParseError::kNone) << schema.position;
  EXPECT_TRUE(schema.has_shapes);
  EXPECT_TRUE(schema.params[0].is_only_written);
  EXPECT_TRUE(schema.params[0].is_written && schema.params[1].is_written);
  EXPECT_FALSE(schema.params[1].is_only_written);
  EXPECT_EQ(text(line, schema.params[1].name), "x");
  EXPECT_EQ(text(line, schema.returns[0].name), "z");
  EXPECT_EQ(schema.params[2].default_kind, DefaultKind::kNone);
  EXPECT_FALSE(kParsed.has_shapes);
  EXPECT_TRUE(parse("(Tensor y: x, Tensor x) -> ()").has_shapes);
  EXPECT_EQ(parse("(Tensor y[n, Tensor x) -> ()").error, ParseError::kSeparator);
}

TEST(Schema, SpaceDoesNotMatter) {
  for (const char* line :
       {"()->()", "  ( )  ->  ( )  ", "(int a,int b)->int", "( int a , int b )->()",
        "(int a = 3 )->()", "(Tensor( a ! ) y)->()", "(int[ ] a) -> ()"}) {
    EXPECT_EQ(parse(line).error, ParseError::kNone) << line;
  }
}

TEST(Schema, Defaults) {
  const char line[] =
      "(int a=-3, bool b=True, bool c=False, float d=1e-5, float e=-inf, str f='x, (y)', "
      "str g=\"it's\", ScalarType h=bfloat16, Tensor? i=None, int? j=7, str? k=None, str l='', "
      "int[]? m=None) -> ()";
  const Schema schema = parse(line);
  ASSERT_EQ(schema.error, ParseError::kNone) << schema.position;
  ASSERT_EQ(schema.num_params, 13);
  EXPECT_EQ(schema.num_required, 0);
  const Param* p = schema.params;
  EXPECT_EQ(p[0].default_kind, DefaultKind::kInt);
  EXPECT_EQ(p[0].default_int, -3);
  EXPECT_EQ(p[1].default_kind, DefaultKind::kBool);
  EXPECT_EQ(p[1].default_int, 1);
  EXPECT_EQ(p[2].default_kind, DefaultKind::kBool);
  EXPECT_EQ(p[2].default_int, 0);
  EXPECT_EQ(p[3].default_float, 1e-5);
  EXPECT_EQ(p[4].default_float, -__builtin_inf());
  EXPECT_EQ(p[5].default_kind, DefaultKind::kStr);
  EXPECT_EQ(text(line, p[5].default_text), "x, (y)");
  EXPECT_EQ(text(line, p[5].default_source), "'x, (y)'");
  EXPECT_EQ(text(line, p[6].default_text), "it's");
  EXPECT_EQ(p[7].default_kind, DefaultKind::kScalarType);
  EXPECT_EQ(text(line, p[7].default_text), "bfloat16");
  EXPECT_EQ(p[8].default_kind, DefaultKind::kNone);
  EXPECT_EQ(p[9].default_kind, DefaultKind::kInt);
  EXPECT_EQ(p[9].default_int, 7);
  EXPECT_EQ(p[10].default_kind, DefaultKind::kNone);
  EXPECT_EQ(text(line, p[11].default_text), "");
  EXPECT_EQ(text(line, p[11].default_source), "''");
  EXPECT_EQ(p[12].default_kind, DefaultKind::kNone);
}

struct Bad {
  const char* line;
  ParseError error;
  int position;
};
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.line; }

class BadSchema : public ::testing::TestWithParam<Bad> {};
TEST_P(BadSchema, ReportsErrorAndPosition) {
  const Schema schema = parse(GetParam().line);
  EXPECT_EQ(schema.error, GetParam().error) << static_cast<int>(schema.error);
  EXPECT_EQ(schema.position, GetParam().position);
}
using E = ParseError;
INSTANTIATE_TEST_SUITE_P(
    Schema, BadSchema,
    ::testing::Values(
        Bad{"", E::kOpenParenthesis, 0}, Bad{"scale(Tensor x) -> ()", E::kOpenParenthesis, 0},
        Bad{"(", E::kType, 1}, Bad{"(Tenso x) -> ()", E::kType, 1},
        Bad{"(Tensor x, double y) -> ()", E::kType, 11}, Bad{"(tensor x) -> ()", E::kType, 1},
        Bad{"(Tensors x) -> ()", E::kType, 1}, Bad{"(int a,) -> ()", E::kType, 7},
        Bad{"(, int a) -> ()", E::kType, 1}, Bad{"(*, int a) -> ()", E::kType, 1},
        Bad{"(Tensor(!) x) -> ()", E::kAlias, 9}, Bad{"(Tensor(a! x) -> ()", E::kAlias, 11},
        Bad{"(Tensor() x) -> ()", E::kAlias, 8}, Bad{"(int(a!) x) -> ()", E::kAlias, 9},
        Bad{"(int[3] x) -> ()", E::kList, 5}, Bad{"(int[ x) -> ()", E::kList, 6},
        Bad{"(Tensor) -> ()", E::kName, 7}, Bad{"(Tensor, int b) -> ()", E::kName, 7},
        Bad{"(int 2a) -> ()", E::kName, 5}, Bad{"(int? ?) -> ()", E::kName, 6},
        Bad{"() -> int 2a", E::kName, 10}, Bad{"() -> Tensor [n]", E::kName, 13},
        Bad{"() -> Tensor: x", E::kName, 12}, Bad{"(int __a) -> ()", E::kReservedName, 5},
        Bad{"() -> int __a", E::kReservedName, 10},
        Bad{"() -> (int a, int a)", E::kDuplicateName, 18},
        Bad{"(int a, int a) -> ()", E::kDuplicateName, 12},
        Bad{"(int a, int b, float a=1) -> ()", E::kDuplicateName, 21},
        Bad{"(int a=) -> ()", E::kDefault, 7}, Bad{"(int a=1.5) -> ()", E::kDefault, 7},
        Bad{"(int a= x) -> ()", E::kDefault, 8}, Bad{"(int a=None) -> ()", E::kDefault, 7},
        Bad{"(int a=9223372036854775808) -> ()", E::kDefault, 7},
        Bad{"(float a=True) -> ()", E::kDefault, 9}, Bad{"(float a='1') -> ()", E::kDefault, 9},
        Bad{"(bool a=1) -> ()", E::kDefault, 8}, Bad{"(bool a=true) -> ()", E::kDefault, 8},
        Bad{"(str a=x) -> ()", E::kDefault, 7}, Bad{"(str a='x) -> ()", E::kDefault, 7},
        Bad{"(Tensor a=None) -> ()", E::kDefault, 10}, Bad{"(Device a=cpu) -> ()", E::kDefault, 10},
        Bad{"(ScalarType a=floats) -> ()", E::kDefault, 14},
        Bad{"(int[] a=3) -> ()", E::kDefault, 9}, Bad{"(int[] a=None) -> ()", E::kDefault, 9},
        Bad{"(int a=1, int b) -> ()", E::kDefaultOrder, 14},
        Bad{"(int a=1, int b, int c) -> ()", E::kDefaultOrder, 14},
        Bad{"(int a int b) -> ()", E::kSeparator, 7}, Bad{"(int a", E::kSeparator, 6},
        Bad{"(int a=1 2) -> ()", E::kSeparator, 9}, Bad{"(int a; int b) -> ()", E::kSeparator, 6},
        Bad{"(int a)", E::kArrow, 7}, Bad{"(int a) ()", E::kArrow, 8},
        Bad{"(int a) - > ()", E::kArrow, 10}, Bad{"(int a) => ()", E::kArrow, 8},
        Bad{"() ->", E::kType, 5}, Bad{"() -> (Tensor", E::kReturns, 13},
        Bad{"() -> (Tensor; int)", E::kReturns, 13}, Bad{"() -> void", E::kType, 6},
        Bad{"() -> (,)", E::kType, 7}, Bad{"() -> () x", E::kTrailing, 9},
        Bad{"() -> Tensor x y", E::kTrailing, 15}, Bad{"() -> ();", E::kTrailing, 8},
        Bad{"() -> (int, int, int, int, int, int, int, int, int)", E::kTooMany, 47}));

std::string with_params(int n) {
  std::string line = "(";
  for (int i = 0; i < n; ++i) line += (i == 0 ? "int a" : ", int a") + std::to_string(i);
  return line + ") -> ()";
}

TEST(Schema, AtMost64Parameters) {
  EXPECT_EQ(parse(with_params(64).c_str()).error, ParseError::kNone);
  EXPECT_EQ(parse(with_params(64).c_str()).num_params, 64);
  EXPECT_EQ(parse(with_params(65).c_str()).error, ParseError::kTooMany);
}

}  // namespace
}  // namespace kernkit::schema
