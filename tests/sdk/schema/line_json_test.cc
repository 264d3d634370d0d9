// SPDX-License-Identifier: Apache-2.0
// The JSON of a parsed schema line, which libraries contain.
#include "kernkit/schema/line_json.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernkit/schema/diagnostics.h"
#include "kernkit/schema/parser.h"

namespace kernkit::schema {
namespace {

/// Returns the JSON of a schema line, from the first parameter to the end.
std::string json(const std::string& line) {
  const auto parsed = std::make_unique<ParsedLine>(parse_line(line.c_str()));
  const Schema& schema = parsed->schema;
  EXPECT_EQ(schema.error, ParseError::kNone) << line << " at " << schema.position;
  EXPECT_EQ(parsed->shapes.error, ShapeError::kNone) << line << " at " << parsed->shapes.position;
  const Signature signature = {schema.num_params, schema.num_required, schema.num_returns,
                               schema.params, schema.returns};
  const ShapeLine* shapes = schema.has_shapes ? &parsed->shapes : nullptr;
  std::string text(write_json(line.c_str(), signature, shapes, nullptr), '@');
  EXPECT_EQ(write_json(line.c_str(), signature, shapes, text.data()), text.size());
  const std::string head = R"({"version":1,"parameters":[)";
  EXPECT_EQ(text.substr(0, head.size()), head);
  return text.substr(head.size());
}

TEST(LineJson, ParametersAndResults) {
  EXPECT_EQ(json("() -> ()"), R"(],"results":[]})");
  EXPECT_EQ(json("(Tensor(a!) y, Tensor(b)[]? xs, int[] n, float? f) -> (Tensor, str s)"),
            R"({"type":"Tensor","name":"y","alias":"a!"},)"
            R"({"type":"Tensor","name":"xs","list":true,"optional":true,"alias":"a"},)"
            R"({"type":"int","name":"n","list":true},{"type":"float","name":"f","optional":true}],)"
            R"("results":[{"type":"Tensor"},{"type":"str","name":"s"}]})");
  EXPECT_EQ(json("(Tensor( out ! ) y) -> ()"),
            R"({"type":"Tensor","name":"y","alias":"out!"}],"results":[]})");
  EXPECT_EQ(json("(bool a, ScalarType b, Device c, bytes d, Callable e) -> Any"),
            R"({"type":"bool","name":"a"},{"type":"ScalarType","name":"b"},)"
            R"({"type":"Device","name":"c"},{"type":"bytes","name":"d"},)"
            R"({"type":"Callable","name":"e"}],"results":[{"type":"Any"}]})");
}

TEST(LineJson, DefaultsAreAsWritten) {
  EXPECT_EQ(json("(int n= -07, Tensor? x=None, float f=1.5e-3, ScalarType t=int8) -> ()"),
            R"({"type":"int","name":"n","default":"-07"},)"
            R"({"type":"Tensor","name":"x","optional":true,"default":"None"},)"
            R"({"type":"float","name":"f","default":"1.5e-3"},)"
            R"({"type":"ScalarType","name":"t","default":"int8"}],"results":[]})");
  EXPECT_EQ(json("(str s='a\"\\\n\x1f\xc3\xa4', str t=\"'\") -> ()"),
            R"({"type":"str","name":"s","default":"'a\"\\\u000a\u001f)"
            "\xc3\xa4"
            R"('"},{"type":"str","name":"t","default":"\"'\""}],"results":[]})");
}

/// Returns the sizes in the last shape of the JSON of a schema line.
std::string sizes(const std::string& line) {
  const std::string text = json(line);
  const size_t begin = text.rfind("\"shape\":[") + 9;
  return text.substr(begin, text.rfind("]}],\"results") - begin);
}

TEST(LineJson, Sizes) {
  EXPECT_EQ(sizes("(Tensor x[]) -> ()"), "");
  EXPECT_EQ(sizes("(Tensor x[_, n, ... , _d]) -> ()"), R"("_","n","...","_d")");
  EXPECT_EQ(sizes("(Tensor x[ each ... , each]) -> ()"), R"("each...","each")");
  EXPECT_EQ(sizes("(Tensor x[2*n, n*03]) -> ()"),
            R"({"expression":["*","2","n"],"name":"n","factor":2},)"
            R"({"expression":["*","n","03"],"name":"n","factor":3})");
  EXPECT_EQ(sizes("(Tensor x[((n))]) -> ()"),
            R"json({"expression":["()",["()","n"]],"name":"n"})json");
  EXPECT_EQ(sizes("(Tensor x[n], Tensor(out!) y[k?]) -> ()"),
            R"({"expression":"k","name":"k","caller":true})");
  EXPECT_EQ(sizes("(Tensor x[n, 8, n - 1 + 2, (n + 1) * n / 2]) -> ()"),
            R"json("n",{"expression":"8"},{"expression":["+",["-","n","1"],"2"]},)json"
            R"json({"expression":["/",["*",["()",["+","n","1"]],"n"],"2"]})json");
  EXPECT_EQ(sizes("(Tensor x[..., n], Tensor y[numel(...), ceil_div(n, 8), round_up(n, 2)]) -> ()"),
            R"({"expression":["numel"]},{"expression":["ceil_div","n","8"]},)"
            R"({"expression":["round_up","n","2"]})");
}

TEST(LineJson, DeepParentheses) {
  const std::string open(300, '('), close(300, ')');
  const std::string text = sizes("(Tensor x[n, " + open + "n + 1" + close + " * 2]) -> ()");
  EXPECT_NE(text.find(R"json(["()",["+","n","1"]])json"), std::string::npos);
  const std::string begin = R"json("n",{"expression":["*",["()",)json";
  EXPECT_EQ(text.substr(0, begin.size()), begin);
}

TEST(LineJson, Dtypes) {
  EXPECT_EQ(json("(Tensor x: int8, ScalarType? t, Tensor(out!) y:  t or  w or bfloat16, Tensor? w, "
                 "Tensor(out!) z: ?) -> ()"),
            R"({"type":"Tensor","name":"x","dtype":["int8"]},)"
            R"({"type":"ScalarType","name":"t","optional":true},)"
            R"({"type":"Tensor","name":"y","alias":"out!","dtype":[1,3,"bfloat16"]},)"
            R"({"type":"Tensor","name":"w","optional":true},)"
            R"({"type":"Tensor","name":"z","alias":"out!","dtype":["?"]}],)"
            R"("results":[],"names":[],"like":0})");
  // int8 names the dtype here, although a parameter has the same name.
  EXPECT_NE(json("(Tensor x[n], Tensor int8) -> Tensor y[n]: int8").find(R"("dtype":["int8"])"),
            std::string::npos);
}

/// Returns the part of the JSON of a schema line that follows the results, from "names" on.
std::string sources(const std::string& line) {
  const std::string text = json(line);
  return text.substr(text.find("\"names\""));
}

TEST(LineJson, SourcesInTheOrderOfBinding) {
  EXPECT_EQ(sources("(Tensor(out!)? v[k?], Tensor(out!) w[k?], Tensor? b[n, m], Tensor[] cs[n, l], "
                    "Tensor a[..., 2*n]) -> ()"),
            R"("names":[{"name":"n","value":4,"place":-1,"factor":2},)"
            R"({"name":"l","value":3,"place":1},{"name":"m","value":2,"place":1,"optional":true},)"
            R"({"name":"k","value":1,"place":0}],"run_of":4,"like":4})");
  // An int parameter, not a tensor, binds n, and the schema line states the dtype.
  EXPECT_EQ(sources("(int n, Tensor? x[n]) -> Tensor y[n]: int8"), R"("names":[]})");
  EXPECT_EQ(sources("(Tensor x[..., 9223372036854775807*n]) -> ()"),
            R"("names":[{"name":"n","value":0,"place":-1,"factor":9223372036854775807}],)"
            R"("run_of":0,"like":0})");
}

TEST(LineJson, NumbersOfAnySize) {
  char text[32] = {};
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{10}, INT64_MAX, INT64_MIN}) {
    detail::JsonText out(text);
    out.put_number(number);
    EXPECT_EQ(std::string(text, out.size()), std::to_string(number));
  }
}

TEST(LineJson, AnErrorLeavesThePartBefore) {
  const Schema schema = parse("(Tensor x, int[] n=3, str s) -> ()");
  ASSERT_EQ(schema.error, ParseError::kDefault);
  EXPECT_EQ(schema.num_params, 1);
  EXPECT_EQ(schema.params[1].type, Type::kInt);
  EXPECT_EQ(schema.params[1].default_source.size, 1);
  EXPECT_EQ(schema.params[2].type, Type::kNone);
  EXPECT_EQ(parse("(str s='abc) -> ()").params[0].default_source.size, 0);
  EXPECT_EQ(parse("() -> (int n, Tensor(a) 2)").returns[1].type, Type::kTensor);
}

TEST(ShapeErrorText, NamesTheEnumerator) {
  EXPECT_STREQ(shape_error_text(ShapeError::kTwoRuns).name, "kTwoRuns");
  EXPECT_STREQ(shape_error_text(ShapeError::kTwoRuns).text,
               "a shape contains '...' more than once");
  EXPECT_STREQ(shape_error_text(ShapeError::kTooMany).name, "kTooMany");
}

}  // namespace
}  // namespace kernkit::schema
