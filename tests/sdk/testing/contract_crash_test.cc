// SPDX-License-Identifier: Apache-2.0
// Output and exit status of contract_crash_program, whose ops end the process.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "kernkit/base/asan.h"

namespace {

struct Ended {
  int status = 0;
  std::string output;

  size_t count(const std::string& text) const {
    size_t n = 0;
    for (size_t at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) {
      ++n;
    }
    return n;
  }
};

Ended run(const std::string& arguments, const std::string& variables = "") {
  Ended result;
  FILE* pipe = popen((variables + " '" PROGRAM "' " + arguments + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) result.output.append(buffer, n);
  result.status = pclose(pipe);
  return result;
}

struct ContractCrash : ::testing::Test {
  void SetUp() override {
#if defined(KERNKIT_UNDER_QEMU)
    GTEST_SKIP() << "qemu-user cannot execute a program again";
#endif
  }
};

// The name of an op that ends the process, and a regular expression for how the process ended.
struct Ending {
  const char* op;
  const char* how;
};
constexpr Ending kEndings[] = {
    {"segments", "signal SIGSEGV"},
    {"aborts", "signal SIGABRT"},
    {"divides", "signal SIGFPE|a sanitizer's report"},
    {"traps", "signal SIGILL"},
    {"exhausts_stack", "signal SIGSEGV"},
    {"segments_in_helper", "signal SIGSEGV"},
#if defined(KERNKIT_ASAN)
    {"reads_past_the_end", "a sanitizer's report"},
#endif
    {"terminates", "signal SIGABRT"},
};

TEST_F(ContractCrash, NamesTheCallAndContinuesWithTheNextOp) {
  const Ended all = run("");
  ASSERT_TRUE(WIFEXITED(all.status)) << all.output;
  EXPECT_EQ(WEXITSTATUS(all.status), 1);
  for (const Ending& ending : kEndings) {
    const std::string op = ending.op, test = "Contract/" + op + ".Sentences";
    const std::string text = std::string("(") + ending.how + ") in " + op +
                             "\\(\\) with 0 for every size: y float32 \\[0\\]; x float32 \\[0\\]\n";
    const std::string line = std::string("kernkit: ").append(test).append(": ").append(text);
    EXPECT_TRUE(std::regex_search(all.output, std::regex(line))) << op;
    // The process that runs the tests after the crash also reports the failure.
    EXPECT_TRUE(std::regex_search(all.output, std::regex("Failed\n" + text))) << op;
    EXPECT_EQ(all.count("[ RUN      ] Contract/" + op + ".Empty\n"), 1u) << op;
    EXPECT_GE(all.count("not tried: " + test + " crashed\n"), 1u) << op;
  }
  EXPECT_EQ(all.count("kernkit: Contract/aborts_later.Example: signal SIGABRT after "
                      "aborts_later(): x float32 [33]\n"),
            1u);
  EXPECT_EQ(all.count("kernkit: Line.always_segments: signal SIGSEGV in always_segments(): y "
                      "float32 [33]; x float32 [33]\n"),
            1u);
  // Tests that pass run once, before or after a crash; a failed test may run again.
  for (const char* test : {"Contract/before.Empty", "Contract/after.Empty", "Other.Passes"}) {
    EXPECT_EQ(all.count(std::string("[       OK ] ") + test + " ("), 1u) << test;
  }
  EXPECT_EQ(all.output.substr(all.output.rfind("Running main()")).find("] Contract/before."),
            std::string::npos);
  EXPECT_GE(all.count("[  FAILED  ] Other.Fails\n"), 1u);
}

// If one test is selected, as by CTest, the signal ends the process, which leaves a core dump.
TEST_F(ContractCrash, EndsTheProcessOfOneTest) {
  const Ended ended = run("--gtest_filter=Contract/segments.Empty");
  EXPECT_EQ(ended.count("kernkit: Contract/segments.Empty: signal SIGSEGV in segments() with 0 for "
                        "every size: y float32 [0]; x float32 [0]\n"),
            1u);
  EXPECT_EQ(ended.count("[ RUN      ]"), 1u);
  EXPECT_NE(ended.status, 0);
#if !defined(KERNKIT_ASAN)
  const bool by_signal = WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGSEGV;
  EXPECT_TRUE(by_signal || WEXITSTATUS(ended.status) == 128 + SIGSEGV) << ended.status;
#endif
}

TEST_F(ContractCrash, KeepsFilterShardsAndReport) {
  const std::string file = ::testing::TempDir() + "contract_crash.xml";
  size_t tests = 0;
  for (const char* shard : {"0", "1"}) {
    const Ended part = run("--gtest_filter='Contract/*.Empty-*traps*' --gtest_output=xml:" + file,
                           std::string("GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=") + shard);
    for (const Ending& ending : kEndings) {
      tests += part.count(std::string("kernkit: Contract/") + ending.op + ".Empty: ");
    }
    EXPECT_EQ(part.count("RUN      ] Contract/traps"), 0u);
    EXPECT_EQ(part.count(".Layouts ("), 0u);
    std::ifstream report(file);
    std::stringstream text;
    text << report.rdbuf();
    EXPECT_NE(text.str().find(" in "), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("with 0 for every size"), std::string::npos) << text.str();
  }
  EXPECT_EQ(tests, std::size(kEndings) - 1);
  remove(file.c_str());
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}
size_t matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

// The report includes the tests that passed in an earlier process, before the first crash.
TEST_F(ContractCrash, TheReportHasAllTests) {
  const std::string file = ::testing::TempDir() + "contract_crash_all.xml";
  remove(file.c_str());
  const Ended all = run("--gtest_output=xml:" + file);
  EXPECT_EQ(WEXITSTATUS(all.status), 1);
  const std::string report = text_of(file);
  const std::string listed = run("--gtest_list_tests").output;
  EXPECT_EQ(matches(report, "<testcase "), matches(listed, "(^|\n)  ")) << report;
  for (const char* suite : {"Contract/before", "Contract/after"}) {
    EXPECT_EQ(matches(report, std::string("classname=\"") + suite + "\" />"),
              matches(report, std::string("classname=\"") + suite + "\""))
        << suite << " passes";
    EXPECT_GE(matches(report, std::string("classname=\"") + suite + "\""), 3u);
  }
  for (const Ending& ending : kEndings) {
    const std::string how = std::regex_replace(ending.how, std::regex("'"), "&apos;");
    const std::string failure = std::string("<failure message=\"[^\"]*(") + how + ") in " +
                                ending.op + "\\(\\) with 0 for every size";
    EXPECT_EQ(matches(report, failure), 1u) << ending.op;
    EXPECT_EQ(all.count(std::string("kernkit: Contract/") + ending.op + "."), 1u)
        << ending.op << " is called once";
  }
  EXPECT_EQ(matches(report, "<failure message=\"[^\"]*on purpose"), 1u);
  remove(file.c_str());
}

// The report is also written if the last test crashes: another process, which runs no test, writes
// the report.
TEST_F(ContractCrash, TheReportHasACrashOfTheLastTest) {
  const std::string file = ::testing::TempDir() + "contract_crash_last";
  for (const std::string format : {"xml", "json"}) {
    remove(file.c_str());
    const std::string output = std::string("--gtest_output=").append(format) + ":" + file;
    const Ended last = run("--gtest_filter='Contract/before.*:Contract/segments.Empty' " + output);
    ASSERT_TRUE(WIFEXITED(last.status)) << last.output;
    EXPECT_EQ(WEXITSTATUS(last.status), 1);
    const std::string report = text_of(file);
    EXPECT_EQ(matches(report, "signal SIGSEGV in segments\\(\\)"), format == "xml" ? 2u : 1u)
        << report;
    EXPECT_GE(matches(report, "Contract\\\\?/before"), 3u) << report;
    remove(file.c_str());
    const Ended alone =
        run("--gtest_filter=Contract/segments.Empty", "GTEST_OUTPUT=" + format + ":" + file);
    EXPECT_EQ(WEXITSTATUS(alone.status), 1) << alone.output;
    EXPECT_NE(text_of(file).find("signal SIGSEGV in segments()"), std::string::npos);
  }
  remove(file.c_str());
}

TEST_F(ContractCrash, IsOneProcessWhereTestsRepeat) {
  const Ended twice = run("--gtest_filter='Contract/*.Empty' --gtest_repeat=2");
  EXPECT_EQ(twice.count("Running main()"), 1u);
  EXPECT_EQ(twice.count("kernkit: Contract/segments.Empty: signal SIGSEGV in segments()"), 1u);
}

}  // namespace
