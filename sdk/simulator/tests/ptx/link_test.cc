// SPDX-License-Identifier: Apache-2.0
// The linker of device code.
#include "ptx/link/link_ptx.h"

#include <gtest/gtest.h>

#include "ptx/parser/parser.h"
#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

const std::string kHeader = ".version 8.7\n.target sm_80\n.address_size 64\n";

std::unique_ptr<Module> linked(const std::vector<std::string>& bodies) {
  std::vector<std::string> modules;
  for (const std::string& body : bodies) modules.push_back(kHeader + body);
  return parse_module(link_ptx(modules));
}

std::string problem_of(const std::vector<std::string>& bodies) {
  try {
    linked(bodies);
  } catch (const UnsupportedPtx& problem) {
    return problem.what();
  }
  return "";
}

// Returns the first byte of the variable that is the second operand of the function's first
// instruction; -1 if the module does not define the variable.
int first_byte(const Module& module, const std::string& function) {
  const std::string name = parse_body(module.functions.at(function)).at(0).operands.at(1).name;
  for (const Variable& variable : module.variables) {
    if (variable.name == name) return variable.initial.bytes.at(0);
  }
  return -1;
}

TEST(LinkPtx, OneModuleIsUnchanged) { EXPECT_EQ(link_ptx({"no PTX"}), "no PTX"); }

TEST(LinkPtx, ADefinitionReplacesDeclarations) {
  const auto module =
      linked({".extern .func f;\n.extern .global .align 4 .u32 x;\n"
              ".visible .entry k() { call f; ret; }",
              ".extern .global .align 4 .u32 x;\n.visible .func f { ret; }",
              ".visible .global .align 4 .u32 x = 6;"});
  EXPECT_TRUE(module->functions.at("f").has_body);
  ASSERT_EQ(module->variables.size(), 1u);
  EXPECT_FALSE(module->variables[0].is_extern);
  EXPECT_EQ(module->variables[0].initial.bytes[0], 6);
}

TEST(LinkPtx, ANameThatNoModuleDefinesStaysOneDeclaration) {
  const std::string shared = ".extern .shared .align 16 .b8 row[];\n.extern .func vprintf;\n";
  const auto module = linked({shared, shared});
  ASSERT_EQ(module->variables.size(), 1u);
  EXPECT_TRUE(module->variables[0].is_extern);
  EXPECT_FALSE(module->functions.at("vprintf").has_body);
}

TEST(LinkPtx, ALocalNameBelongsToItsModule) {
  const auto of = [](int number, const char* function) {
    return ".global .align 1 .b8 $str[1] = {" + std::to_string(number) + "};\n.visible .func " +
           function + " { mov.u64 %rd1, $str; ret; }";
  };
  const auto module = linked({of(1, "f"), of(2, "g"), of(3, "h")});
  EXPECT_EQ(module->variables.size(), 3u);
  EXPECT_EQ(first_byte(*module, "f"), 1);
  EXPECT_EQ(first_byte(*module, "g"), 2);
  EXPECT_EQ(first_byte(*module, "h"), 3);
}

// The second module's local function f does not define f for the first module.
TEST(LinkPtx, ALocalNameIsNoDefinitionForOtherModules) {
  const auto module = linked({".extern .func f;\n.visible .func g { call f; ret; }",
                              ".func f { ret; }\n.visible .func h { call f; ret; }"});
  const auto called = [&](const char* caller) {
    return parse_body(module->functions.at(caller)).at(0).operands.at(0).name;
  };
  EXPECT_EQ(called("g"), "f");
  EXPECT_FALSE(module->functions.at("f").has_body);
  EXPECT_TRUE(module->functions.at(called("h")).has_body);
}

TEST(LinkPtx, AStrongDefinitionReplacesWeakDefinitions) {
  const auto module = linked({".weak .global .align 4 .u32 x = 1;", ".visible .global .u32 x = 2;",
                              ".weak .global .align 4 .u32 x = 3;"});
  ASSERT_EQ(module->variables.size(), 1u);
  EXPECT_EQ(module->variables[0].initial.bytes[0], 2);
  EXPECT_EQ(linked({".weak .func f { ret; }", ".weak .func f { ret; }"})->functions.size(), 1u);
}

TEST(LinkPtx, TwoStrongDefinitionsAreRejected) {
  EXPECT_EQ(problem_of({".visible .func f { ret; }", ".visible .func f { ret; }"}),
            "two modules define f: define the name in one module, or make the definitions .weak");
  EXPECT_EQ(problem_of({".entry k() { ret; }", ".visible .entry k() { ret; }"}),
            "two modules define k: define the name in one module, or make the definitions .weak");
}

TEST(LinkPtx, TheDeviceRuntimeIsLeftOut) {
  const auto module =
      linked({".extern .func __cudaCDP2LaunchDeviceV2;\n.visible .entry k() { ret; }",
              ".visible .func __cudaCDP2LaunchDeviceV2 { ret; }\n"
              ".visible .func __cudaCDP2GetDevice { ret; }"});
  EXPECT_EQ(module->functions.size(), 2u);
  EXPECT_FALSE(module->functions.at("__cudaCDP2LaunchDeviceV2").has_body);
}

TEST(LinkPtx, CopiesAndFillsOfKernelsAreAdded) {
  const std::string kernel = ".visible .entry k() { ret; }";
  const auto module = linked({".extern .func (.param .b32 e) __cudaCDP2MemsetAsync_ptsz;" + kernel,
                              ".visible .func __cudaCDP2LaunchDeviceV2 { ret; }"});
  EXPECT_TRUE(module->functions.at("__cudaCDP2MemsetAsync_ptsz").has_body);
  EXPECT_TRUE(module->functions.at("cudaMemsetAsync_in_kernel").is_kernel);
  EXPECT_FALSE(module->functions.at("__cudaCDP2LaunchDeviceV2").has_body);
  EXPECT_EQ(linked({kernel, ".extern .func __cudaCDP2GetDevice;"})->functions.size(), 2u);
}

TEST(LinkPtx, TextThatIsNoPtxIsRejected) {
  EXPECT_EQ(problem_of({"", "unknown;"}), "line 4 of the PTX: unknown unknown, got ';'");
  EXPECT_EQ(problem_of({"", ".func f { ret;"}), "line 4 of the PTX: expected '}', got 'the end'");
}

// Each input module numbers its files from 1; in the linked module, each file has one number.
TEST(LinkPtx, FilesHaveOneNumberInAllModules) {
  const std::string body =
      " {\n .loc 1 7 3\n ret;\n .loc 2 9 1, function_name $L1, "
      "inlined_at 1 5 2\n ret; }\n.section .debug_str { $L1: .b8 1 }\n";
  const auto module =
      linked({".visible .func f" + body + ".file 1 \"a.cu\"\n.file 2 \"all.h\"\n",
              ".visible .func g" + body + ".file 1 \"b.cu\"\n.file 2 \"all.h\", 7, 9\n"});
  const auto location = [&](const char* function, size_t i) {
    return module->location_text(parse_body(module->functions.at(function)).at(i).line);
  };
  EXPECT_EQ(location("f", 0), "a.cu:7");
  EXPECT_EQ(location("g", 0), "b.cu:7");
  EXPECT_EQ(location("f", 1), "all.h:9 (inlined at a.cu:5)");
  EXPECT_EQ(location("g", 1), "all.h:9 (inlined at b.cu:5)");
}

}  // namespace
}  // namespace kernkit::simulator::ptx
