// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_RECORDING: recorded calls as tests. test_recording_tests.py runs this program with
// recordings that it makes; their folders are in the environment variable KERNKIT_TEST_FOLDERS.
#include "kernkit/testing/recording.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "kernkit/testing/host.h"
#include "kernkit/testing/impl/recording.h"

// [recording]
KERNKIT_TEST_RECORDING("recordings/add_to-1")
// [/recording]

namespace {

namespace contract = kernkit::testing::contract;
using contract::Json;
using contract::JsonParser;
using contract::RecordedCall;

const bool kRegistered = [] {
  const char* folders = getenv("KERNKIT_TEST_FOLDERS");
  const char* tolerance = getenv("KERNKIT_TEST_TOLERANCE");
  const std::string text = folders == nullptr ? "" : folders;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    contract::register_recording(__FILE__, __LINE__, text.substr(begin, end - begin),
                                 tolerance == nullptr ? 0 : strtod(tolerance, nullptr));
    begin = end + 1;
  }
  return true;
}();

const std::string kFolder = KERNKIT_SOURCE_FOLDER "tests/logging/recordings/add_to-1";

std::string error_of(const std::string& folder) {
  try {
    return contract::report_of_recording(folder, 0).failure;
  } catch (const kernkit::Error& error) {
    return error.message();
  }
}

class Copy : public ::testing::Test {
 protected:
  Copy() {
    std::string name = std::filesystem::temp_directory_path() / "kernkit_recording_XXXXXX";
    path_ = mkdtemp(name.data());
    std::filesystem::copy(kFolder, path_, std::filesystem::copy_options::recursive);
  }
  ~Copy() override { std::filesystem::remove_all(path_); }

  std::string read(const std::string& file) const {
    FILE* stream = fopen((path_ + "/" + file).c_str(), "rb");
    std::string text;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stream)) > 0;) text.append(buffer, n);
    fclose(stream);
    return text;
  }
  void write(const std::string& file, const std::string& text) const {
    FILE* stream = fopen((path_ + "/" + file).c_str(), "wb");
    ASSERT_EQ(fwrite(text.data(), 1, text.size(), stream), text.size());
    fclose(stream);
  }
  void replace(const std::string& file, const std::string& what, const std::string& by) const {
    std::string text = read(file);
    ASSERT_NE(text.find(what), std::string::npos) << text;
    write(file, text.replace(text.find(what), what.size(), by));
  }

  std::string path_;
};

TEST_F(Copy, PassesUnchanged) { EXPECT_EQ(error_of(path_), ""); }

TEST_F(Copy, ReportsTheFirstElementThatDiffers) {
  std::string text = read("outputs.safetensors");
  text[text.size() - 1] ^= '\x80';
  write("outputs.safetensors", text);
  EXPECT_EQ(error_of(path_), "add_to(): y: element [1, 2] was -11 and is 11");
}

TEST_F(Copy, RejectsAnotherSchemaLine) {
  replace("call.json", "Tensor x, float", "Tensor? x, float");
  EXPECT_NE(error_of(path_).find("add_to has another schema line than in the recording: ("),
            std::string::npos);
  EXPECT_NE(error_of(path_).find("; record the call again"), std::string::npos);
}

TEST_F(Copy, RejectsAnotherOp) {
  replace("call.json", "\"op\":\"add_to\"", "\"op\":\"other\"");
  EXPECT_EQ(error_of(path_),
            "other: the program exports no such op; link the op, and set ENABLE_EXPORTS of the "
            "program in CMake");
  replace("call.json", "\"op\":\"other\"", "\"op\":\"../x\"");
  EXPECT_EQ(error_of(path_), path_ + ": the name of the op is damaged");
}

TEST_F(Copy, PassesACallThatDidNotReturn) {
  std::filesystem::remove(path_ + "/results.json");
  EXPECT_EQ(error_of(path_), "");
  replace("call.json", "\"shape\":[2,3],\"strides\":[1,2]", "\"shape\":[2,2],\"strides\":[1,2]");
  EXPECT_NE(error_of(path_).find("add_to(): it raised ValueError: add_to(): x: "),
            std::string::npos);
  EXPECT_NE(error_of(path_).find("; the recorded call did not return"), std::string::npos);
}

TEST_F(Copy, SkipsTensorsOfOtherDevices) {
  std::string text = read("call.json");
  for (size_t at; (at = text.find("\"device\":[1,0]")) != std::string::npos;) {
    text.replace(at, 14, "\"device\":[2,0]");
  }
  write("call.json", text);
  EXPECT_EQ(contract::report_of_recording(path_, 0).skipped,
            "the recording has CUDA tensors, and this program has no CUDA device");
}

TEST_F(Copy, ReadsNoLinks) {
  std::filesystem::rename(path_ + "/inputs.safetensors", path_ + "/elsewhere");
  std::filesystem::create_symlink(path_ + "/elsewhere", path_ + "/inputs.safetensors");
  EXPECT_EQ(error_of(path_),
            path_ + "/call.json: inputs.safetensors is missing, is not a file, or is too large");
}

TEST(Recordings, AMissingFolderIsReported) {
  EXPECT_EQ(error_of("/no"), "/no/call.json: call.json is missing, is not a file, or is too large");
}

TEST(Recordings, JsonIsParsed) {
  const Json json = JsonParser::parse(
      R"( {"a": [1, -2.5e3, "x\"\\\u00e9\ud83d\ude00\n", true, false, null], "b": {}} )");
  const Json& a = json.at("a");
  EXPECT_EQ(a.items[0].as_int(0, 1), 1);
  EXPECT_EQ(a.items[1].as_float(), -2500);
  EXPECT_EQ(a.items[2].as_text(), "x\"\\\u00e9\U0001f600\n");
  EXPECT_TRUE(a.items[3].as_bool() && !a.items[4].as_bool());
  EXPECT_EQ(a.items[5].kind, Json::kNull);
  EXPECT_TRUE(json.at("b").items.empty());
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul", "\"\\x\"", "\"\\u12\"", "1 2", "[",
                           "\"a", "{\"a\":1,}", "'a'"}) {
    EXPECT_THROW(JsonParser::parse(text), kernkit::Error) << text;
  }
  EXPECT_THROW(JsonParser::parse(std::string(10000, '[')), kernkit::Error);
}

/// Returns the text after one to four changes, each of which changes a bit or a character, or
/// removes, copies or inserts characters.
std::string mutated(std::mt19937_64& random, std::string text) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t k = 1 + below(4); k > 0 && !text.empty(); --k) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text[at] = "0123456789-{}[]\",:.e"[below(20)]; break;
      case 2: text.erase(at, 1 + below(40)); break;
      case 3: text.insert(at, text.substr(below(text.size()), 1 + below(40))); break;
      default: {
        static constexpr const char* kNumbers[] = {
            "-1", "0", "2147483648", "9223372036854775808", "18446744073709551615", "1e300"};
        text.insert(at, kNumbers[below(6)]);
      }
    }
  }
  return text;
}

/// Mutated recordings are read or rejected with an error. If a recording is read, the test also
/// makes the recorded call.
TEST_F(Copy, MutatedFilesAreReadOrRejected) {
  const char* setting = getenv("KERNKIT_TEST_MUTATIONS");
  const int count = setting == nullptr ? 2000 : atoi(setting);
  const std::vector<std::string> files = {"call.json",           "call.json",
                                          "results.json",        "inputs.safetensors",
                                          "outputs.safetensors", "result.safetensors"};
  std::vector<std::string> originals(files.size());
  for (size_t k = 0; k < files.size(); ++k) originals[k] = read(files[k]);
  std::mt19937_64 random(7);
  int rejected = 0, called = 0;
  for (int i = 0; i < count; ++i) {
    const size_t k = random() % files.size();
    write(files[k], mutated(random, originals[k]));
    try {
      const RecordedCall call = RecordedCall::read(path_);
      for (const auto& value : call.arguments) {
        ASSERT_LT(value.storage, static_cast<int>(call.storages.size()));
      }
      (void)contract::report_of_recording(path_, 0);
      ++called;
    } catch (const kernkit::Error& error) {
      ++rejected;
      ASSERT_EQ(std::string(error.message()).compare(0, path_.size(), path_), 0) << error.message();
    }
    write(files[k], originals[k]);
  }
  printf("%d rejected, %d called\n", rejected, called);
  EXPECT_GT(rejected, count / 3);
  EXPECT_GT(called, count / 30);
}

}  // namespace
