// SPDX-License-Identifier: Apache-2.0
// The host functions that a library uses.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "host_stub.h"
#include "kernkit/env.h"
#include "kernkit/export.h"

using host_stub::host;
using host_stub::make_array;
using host_stub::stream;

namespace ops {
void reject(int64_t n) { KERNKIT_THROW(ValueError) << "n: is " << n; }
std::string name() { return "a name"; }
std::tuple<double, kernkit::Tensor> pair(kernkit::Tensor x) { return {0.5, x}; }
void documented(kernkit::TensorView, kernkit::TensorView, double, std::string) {}
void none() {}
}  // namespace ops

const int kRejectLine = __LINE__ + 1;
KERNKIT_EXPORT(reject, "(int n) -> ()", "", ops::reject)
KERNKIT_EXPORT(name, "() -> str", "", ops::name)
KERNKIT_EXPORT(pair, "(Tensor x) -> (float a, Tensor b)", "", ops::pair)
KERNKIT_EXPORT(documented, "(Tensor(a!) y, Tensor x, float f=1.0, str s=\"a\") -> ()",
               "y = \"x\",\n\tand more.", ops::documented)
KERNKIT_EXPORT(none, "() -> ()", "", ops::none)

namespace kernkit {
namespace {

class HostTest : public ::testing::Test {
 protected:
  HostTest() { host = host_stub::Host(); }
  KernkitAny result{};
};

// [error]
TEST_F(HostTest, ErrorGoesToTheHost) {
  KernkitAny n{};
  n.type_index = kKernkitInt;
  EXPECT_EQ(__tvm_ffi_reject(nullptr, &n, 1, &result), -1);
  EXPECT_EQ(host.kind, "ValueError");
  EXPECT_EQ(host.message, "reject(): n: is 0");
  EXPECT_EQ(host.raised, 1);
  EXPECT_EQ(host.released, 1) << "the slot holds its own reference";
  // The backtrace has one frame: the line that threw, not the line of the export.
  EXPECT_EQ(host.backtrace.find("  File \""), 0u);
  EXPECT_NE(host.backtrace.find("host_api_test.cc\", line "), std::string::npos);
  EXPECT_EQ(host.backtrace.find("line " + std::to_string(kRejectLine)), std::string::npos);
  EXPECT_EQ(host.backtrace.substr(host.backtrace.size() - 12), ", in reject\n");
}
// [/error]

TEST_F(HostTest, ArgumentErrorPointsToTheExport) {
  EXPECT_EQ(__tvm_ffi_reject(nullptr, nullptr, 0, &result), -1);
  EXPECT_EQ(host.kind, "TypeError");
  EXPECT_NE(host.backtrace.find("line " + std::to_string(kRejectLine)), std::string::npos);
}

TEST_F(HostTest, ErrorWithoutALineHasNoFrame) {
  EXPECT_EQ(detail::raise("it", kind::ValueError, "failed", SourceLocation{}), -1);
  EXPECT_EQ(host.message, "it(): failed");
  EXPECT_EQ(host.backtrace, "");
}

TEST_F(HostTest, KeepsAnErrorThatTheHostDoesNotAccept) {
  host.fails = true;
  EXPECT_EQ(__tvm_ffi_reject(nullptr, nullptr, 0, &result), -1);
  EXPECT_EQ(host.raised, 0);
  EXPECT_STREQ(kernkit_last_error(), "TypeError: reject(): takes 1 argument (n), got 0");
}

TEST_F(HostTest, Strings) {
  EXPECT_EQ(__tvm_ffi_name(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitStr);
  EXPECT_EQ(host.text, "a name");
  host.fails = true;
  result = KernkitAny{};
  EXPECT_EQ(__tvm_ffi_name(nullptr, nullptr, 0, &result), -1);
  EXPECT_STREQ(kernkit_last_error(), "MemoryError: name(): returning a str: the host has none");
  EXPECT_EQ(result.type_index, kKernkitNone);
}

TEST_F(HostTest, TupleHandsItsReferencesOver) {
  struct {
    KernkitObject header;
    DLTensor tensor;
  } object{{(uint64_t{1} << 32) | 1, kKernkitTensor, 0, nullptr}, {}};
  KernkitAny x{};
  x.type_index = kKernkitTensor;
  x.v.object = &object.header;
  const uint64_t array_before = make_array.ref_counts;
  EXPECT_EQ(__tvm_ffi_pair(nullptr, &x, 1, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitArray);
  ASSERT_EQ(host.items.size(), 2u);
  EXPECT_EQ(host.items[0].v.f64, 0.5);
  EXPECT_EQ(host.items[1].v.object, &object.header);
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 2)
      << "the owners are the caller and the array";
  EXPECT_EQ(make_array.ref_counts, array_before);
  host.fails = true;
  EXPECT_EQ(__tvm_ffi_pair(nullptr, &x, 1, &result), -1);
  EXPECT_STREQ(kernkit_last_error(), "MemoryError: pair(): returning a tuple: the host has none");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 2)
      << "the failed call changed the number of owners";
  EXPECT_EQ(make_array.ref_counts, array_before);
}

TEST_F(HostTest, Doc) {
  EXPECT_EQ(__tvm_ffi__doc_documented(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(host.text, "y = \"x\",\n\tand more.");
}

std::string metadata(KernkitFunction function) {
  KernkitAny result{};
  EXPECT_EQ(function(nullptr, nullptr, 0, &result), 0);
  return host.text;
}

TEST_F(HostTest, Metadata) {
  const char* documented =
      R"json({"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"None\"},)json"
      R"json({\"type\":\"DLTensor*\"},{\"type\":\"DLTensor*\"},{\"type\":\"float\"},)json"
      R"json({\"type\":\"ffi.String\"}]}",)json"
      R"json("schema":"(Tensor(a!) y, Tensor x, float f=1.0, str s=\"a\") -> ()",)json"
      R"json("arguments":[{"name":"y","written":true},{"name":"x","written":false},)json"
      R"json({"name":"f","written":false,"default":"1.0"},)json"
      R"json({"name":"s","written":false,"default":"\"a\""}],)json"
      R"json("parsed":{"version":1,"parameters":[)json"
      R"json({"type":"Tensor","name":"y","alias":"a!"},{"type":"Tensor","name":"x"},)json"
      R"json({"type":"float","name":"f","default":"1.0"},)json"
      R"json({"type":"str","name":"s","default":"\"a\""}],"results":[]}})json";
  EXPECT_EQ(metadata(__tvm_ffi__metadata_documented), documented);
  const char* none =
      R"json({"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"None\"}]}",)json"
      R"json("schema":"() -> ()","arguments":[],)json"
      R"json("parsed":{"version":1,"parameters":[],"results":[]}})json";
  EXPECT_EQ(metadata(__tvm_ffi__metadata_none), none);
  const std::string pair =
      R"json({"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"Tuple\",)json"
      R"json(\"args\":[{\"type\":\"float\"},{\"type\":\"ffi.Tensor\"}]},)json"
      R"json({\"type\":\"DLTensor*\"}]}")json";
  EXPECT_EQ(metadata(__tvm_ffi__metadata_pair).substr(0, pair.size()), pair);
}

TEST_F(HostTest, CurrentStream) {
  EXPECT_EQ(current_stream({kDLCUDA, 3}), &stream);
  EXPECT_EQ(current_stream({kDLCUDA, 2}), nullptr);
}

}  // namespace
}  // namespace kernkit
