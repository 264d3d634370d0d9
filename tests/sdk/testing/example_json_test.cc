// SPDX-License-Identifier: Apache-2.0
// Examples of ops as JSON, for tests that call the ops by frameworks.
#include "kernkit/testing/contract/example_json.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "kernkit/export.h"

namespace {

void with_mode(kernkit::TensorView, std::string_view) {}

}  // namespace

KERNKIT_EXPORT(with_mode, "(Tensor(a!) y, str mode=\"left\") -> ()", "", with_mode)

namespace kernkit::testing::contract {
namespace {

TEST(ExampleJson, EscapesText) {
  EXPECT_EQ(json_string("x \"a\\b\"\n"), R"("x \"a\\b\"\u000a")");
  EXPECT_EQ(json_string(""), "\"\"");
}

TEST(ExampleJson, HasTheValuesOfJson) {
  EXPECT_EQ(json_of(list(example<float>(2, 3).values({1, 2}).scratch(), 1.5, true, nullptr)),
            R"([{"dtype": "float32", "shape": [2, 3], "values": [1, 2], "cpu": false, )"
            R"("scratch": true}, 1.5, true, null])");
  EXPECT_EQ(json_of(std::numeric_limits<double>::infinity()), R"({"unknown": "float inf"})");
  EXPECT_EQ(json_of("a\\b"), R"({"unknown": "str \"a\\b\""})");
}

TEST(ExampleJson, NotesAnOpWithTextInItsLine) {
  const std::string path = "example_json_test." + std::to_string(getpid()) + ".json";
  ASSERT_EQ(setenv("KERNKIT_EXAMPLES", path.c_str(), 1), 0);
  const Contract contract({"with_mode", __tvm_ffi_with_mode, __tvm_ffi__metadata_with_mode},
                          {example<float>(2)});
  Verdict verdict;
  note_example(contract, &verdict);
  unsetenv("KERNKIT_EXAMPLES");
  std::string line;
  std::getline(std::ifstream(path), line);
  std::remove(path.c_str());
  const std::string begin =
      "{\"op\": \"with_mode\", \"schema\": \"(Tensor(a!) y, str mode=\\\"left\\\") -> ()\", "
      "\"parsed\": {";
  const std::string end =
      "}, \"arguments\": [{\"dtype\": \"float32\", \"shape\": [2], \"values\": [], \"cpu\": "
      "false}]}";
  ASSERT_GT(line.size(), begin.size() + end.size());
  EXPECT_EQ(line.substr(0, begin.size()), begin);
  EXPECT_EQ(line.substr(line.size() - end.size()), end);
}

}  // namespace
}  // namespace kernkit::testing::contract
