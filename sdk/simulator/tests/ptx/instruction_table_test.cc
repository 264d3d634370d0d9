// SPDX-License-Identifier: Apache-2.0
// Checks the instruction table against the list of tested forms, and for consistency.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/isa/instruction.h"

namespace kernkit::simulator::ptx {
namespace {

std::vector<const Instruction*> rows() {
  std::vector<const Instruction*> all;
  const Sections table = sections();
  for (const Section* section = table.begin; section != table.end; ++section) {
    for (size_t i = 0; i < section->count; ++i) all.push_back(&section->rows[i]);
  }
  return all;
}

std::string text_of(const Instruction& row) { return std::string(row.name) + " " + row.modifiers; }

InstructionMatch find(const std::string& form) {
  std::vector<std::string> parts;
  std::istringstream stream(form);
  for (std::string part; std::getline(stream, part, '.');) parts.push_back(part);
  return find_instruction(parts.at(0), {parts.begin() + 1, parts.end()});
}

struct TestedForm {
  std::string form, test;
  std::string simd_list;  // list of the form's SIMD code; "" for a form without such code
};

std::vector<TestedForm> tested_forms() {
  std::ifstream file(KERNKIT_PTX_FORMS_LIST);
  std::vector<TestedForm> forms;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    TestedForm& form = forms.emplace_back();
    std::istringstream(line) >> form.form >> form.test >> form.simd_list;
  }
  return forms;
}

std::string name_of(Simd list) {
  switch (list) {
    case Simd::kNone: return "";
    case Simd::kIntegers: return "integers";
    case Simd::kReals: return "reals";
    case Simd::kWarps: return "warps";
    case Simd::kMatrices: return "matrices";
  }
  return "?";
}

TEST(PtxInstructionTable, HasEachFormThatTestsRun) {
  const std::vector<TestedForm> forms = tested_forms();
  EXPECT_GT(forms.size(), 1000u);
  for (const TestedForm& form : forms) EXPECT_NE(find(form.form).row, nullptr) << form.form;
}

TEST(PtxInstructionTable, EachRowHasAFormThatTestsRun) {
  std::set<const Instruction*> tested;
  for (const TestedForm& form : tested_forms()) tested.insert(find(form.form).row);
  for (const Instruction* row : rows()) EXPECT_EQ(tested.count(row), 1u) << text_of(*row);
}

// The decoder searches SIMD code only in the list that the row of the instruction names. This test
// checks the names; PtxSteps compares the results of the SIMD code with the code for every
// processor.
TEST(PtxInstructionTable, NamesTheListOfSimdCode) {
  std::map<const Instruction*, std::set<std::string>> lists;
  for (const TestedForm& form : tested_forms()) {
    if (!form.simd_list.empty()) lists[find(form.form).row].insert(form.simd_list);
  }
  for (const Instruction* row : rows()) {
    std::set<std::string> expected;
    if (row->simd_list != Simd::kNone) expected.insert(name_of(row->simd_list));
    EXPECT_EQ(lists[row], expected) << text_of(*row);
  }
}

TEST(PtxInstructionTable, RowsDiffer) {
  std::set<std::string> texts;
  for (const Instruction* row : rows())
    EXPECT_TRUE(texts.insert(text_of(*row)).second) << text_of(*row);
}

TEST(PtxInstructionTable, AccessesAreListed) {
  for (const Instruction* row : rows()) {
    const std::string name = row->name;
    const std::string text = text_of(*row);
    const AccessKind access = row->access;
    if (text.find("async") != std::string::npos && (name == "st" || name == "red")) {
      EXPECT_EQ(access, AccessKind::kNone) << text;  // described by IssuedCopy
    } else if (name == "ld" || name == "ldu" || name == "ldmatrix") {
      EXPECT_EQ(access, AccessKind::kLoad) << text;
    } else if (name == "tensormap") {
      EXPECT_EQ(access == AccessKind::kStore, text.find("replace") != std::string::npos) << text;
    } else if (name == "st" || name == "stmatrix") {
      EXPECT_EQ(access, AccessKind::kStore) << text;
    } else if (name == "atom" || name == "red") {
      EXPECT_EQ(access, AccessKind::kAtomic) << text;
    } else if (name == "mbarrier") {
      EXPECT_EQ(access == AccessKind::kNone, text.find("pending_count") != std::string::npos)
          << text;
    } else if (name != "wmma" && name != "cp") {
      EXPECT_EQ(access, AccessKind::kNone) << text;
    }
  }
  EXPECT_EQ(find("wmma.load.a.sync.aligned.row.m16n16k16.f16").row->access, AccessKind::kLoad);
  EXPECT_EQ(find("wmma.store.d.sync.aligned.row.m16n16k16.f32").row->access, AccessKind::kStore);
  EXPECT_EQ(find("cp.async.ca.shared.global").row->access, AccessKind::kCopy);
  EXPECT_EQ(find("cp.async.wait_all").row->access, AccessKind::kNone);
}

TEST(PtxInstructionTable, ReportsWhatIsUnsupported) {
  EXPECT_FALSE(find("tcgen05.wait::ld.sync.aligned").is_known);
  EXPECT_TRUE(find("add.approx.f64").is_known);
  EXPECT_EQ(find("add.approx.f64").unsupported, "approx");
  // Some rows of add accept .sat and others accept .u32, but no row accepts both.
  EXPECT_EQ(find("add.sat.u32").row, nullptr);
  EXPECT_EQ(find("add.sat.u32").unsupported, "");
  // An instruction must have exactly one modifier for each required item of its row.
  EXPECT_EQ(find("add.u32.u32").row, nullptr);
  EXPECT_EQ(find("shl").row, nullptr);
}

TEST(PtxInstructionTable, AssignsModifiersWhateverTheirOrder) {
  const InstructionMatch product = find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  ASSERT_NE(product.row, nullptr);
  EXPECT_EQ(product.row->definedness, Definedness::kProduct);
  EXPECT_EQ(find("atom.add.release.gpu.u32").row, find("atom.release.gpu.add.u32").row);
  EXPECT_EQ(find("atom.exch.b32").row->definedness, Definedness::kExchange);
  EXPECT_EQ(find("ld.global.nc.L1::no_allocate.L2::128B.v4.u32").ignored,
            (std::vector<bool>{false, true, true, true, false, false}));
}

}  // namespace
}  // namespace kernkit::simulator::ptx
