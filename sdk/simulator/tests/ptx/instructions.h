// SPDX-License-Identifier: Apache-2.0
// Runs one instruction on many values in a kernel and compares the results with a reference.
#pragma once

#include <cstdlib>
#include <functional>
#include <random>

#include "allowed.h"
#include "pairs.h"
#include "ptx_fixture.h"

namespace kernkit::simulator {

inline unsigned width_of(const std::string& type) {
  if (type == "pred" || type.substr(type.size() - 2) == "x2") return 32;
  return static_cast<unsigned>(std::stoi(type.substr(type.find_first_of("0123456789"))));
}

/// Returns edge cases of integers and floats of all widths, and random values.
inline std::vector<uint64_t> values_of_all_kinds() {
  std::vector<uint64_t> values = {0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  127,
                                  128,
                                  255,
                                  256,
                                  0x3c00,
                                  0x7bff,
                                  0x7c00,
                                  0x7e01,
                                  0x8000,
                                  0x8001,
                                  0xfc00,
                                  0xffff,
                                  0x3f80,
                                  0x7f80,
                                  0x7fc1,
                                  0xff80,
                                  0xc302,  // -130 of bfloat16, whose power of 2 is subnormal
                                  0x3f800000,
                                  0xbf800000,
                                  0x7f800000,
                                  0xff800000,
                                  0x7fc01234,
                                  0x80000000,
                                  0x7fffffff,
                                  0xffffffff,
                                  0x00000001,
                                  0x007fffff,
                                  0x00800000,
                                  0x7f7fffff,
                                  0x80000001,
                                  0x4f000000,
                                  0xcf000000,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000001,
                                  0x8000000000000000,
                                  0x7fffffffffffffff,
                                  0xffffffffffffffff,
                                  0x41dfffffffc00000,
                                  0x000fffffffffffff};
  std::mt19937_64 random(1);
  while (values.size() < 96) {
    // 32-bit floats whose sums and products are finite.
    values.push_back((random() & 0xffffffff807fffff) | (96 + random() % 64) << 23);
    values.push_back(random());
  }
  return values;
}

/// Function that returns the expected result of an instruction for the sources a, b and c. Result
/// and sources are bit patterns.
using Reference = std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)>;

/// Base of the tests of instructions. `instruction` has the operands %d, %a, %b and %c, as far as
/// needed; `types` are the operands' types, for example {"u32", "u32", "u32"}.
class Instruction : public Ptx {
 protected:
  Instruction() = default;
  /// Creates a test of instructions that need a different compute capability and PTX target than
  /// sm_90.
  Instruction(int capability, std::string target) : Ptx(capability), target_(std::move(target)) {}

  void check(const std::string& instruction, const std::vector<std::string>& types,
             const Reference& reference, const Bound& bound = {}) {
    check_once(instruction, types, reference, bound);
    check_more(instruction, types, reference, bound);
  }
  /// Checks the instruction with values_of_all_kinds(), without the slow checks of check_more().
  void check_once(const std::string& instruction, const std::vector<std::string>& types,
                  const Reference& reference, const Bound& bound = {}) {
    static const std::vector<uint64_t> values = values_of_all_kinds();
    std::vector<uint64_t> sources[3];
    const size_t n = values.size();
    for (size_t i = 0; i < n * n; ++i) {
      sources[0].push_back(values[i % n]);
      sources[1].push_back(values[i / n]);
      sources[2].push_back(values[(i * 7 + i / n) % n]);
    }
    check(instruction, types, reference, sources, bound);
  }
  void check(const std::string& instruction, const std::vector<std::string>& types,
             const Reference& reference, const std::vector<uint64_t> (&sources)[3],
             const Bound& bound = {}) {
    const size_t count = sources[0].size();
    const std::vector<uint64_t> results = run(instruction, types, sources);
    ASSERT_EQ(fault(), "none") << instruction;
    uint64_t masks[4];
    for (size_t k = 0; k < 4; ++k) {
      masks[k] = ~uint64_t{0} >> (64 - (k < types.size() ? width_of(types[k]) : 64));
    }
    for (size_t i = 0; i < count; ++i) {
      uint64_t operands[3];
      for (size_t k = 0; k < 3; ++k) operands[k] = sources[k][i] & masks[k + 1];
      const uint64_t got = results[i] & masks[0];
      const uint64_t expected = reference(operands[0], operands[1], operands[2]) & masks[0];
      if (!execution_target::is_simulator() && is_allowed_of(types, operands, got, expected, bound))
        continue;
      ASSERT_EQ(got, expected) << instruction << std::hex << ", a 0x" << operands[0] << ", b 0x"
                               << operands[1] << ", c 0x" << operands[2];
    }
  }
  static bool is_allowed_of(const std::vector<std::string>& types, const uint64_t (&operands)[3],
                            uint64_t got, uint64_t expected, const Bound& bound) {
    for (size_t k = 1; k < types.size(); ++k) {
      if (types[k] == "f32" && !covers(bound, types[k], operands[k - 1])) return true;
    }
    return is_allowed(types[0], got, expected, bound);
  }
  // Runs the slow checks that environment variables request, see test_ptx_forms.py. With
  // KERNKIT_PTX_PAIRS=n, two sources of 16 bits or of two 16-bit numbers are checked for every
  // value of the first and every n-th value of the second source. With KERNKIT_PTX_RANDOM=n, other
  // sources are checked for n random values.
  void check_more(const std::string& instruction, const std::vector<std::string>& types,
                  const Reference& reference, const Bound& bound) {
    const auto number = [](const char* name) -> size_t {
      const char* text = std::getenv(name);
      return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
    };
    const auto of_16_bits = [](const std::string& type) {
      return width_of(type) == 16 || is_pair(type);
    };
    if (types.size() == 3 && of_16_bits(types[1]) && of_16_bits(types[2])) {
      check_row(instruction, types, reference);
      check_pairs(instruction, types, number("KERNKIT_PTX_PAIRS"));
    } else {
      check_random(instruction, types, reference, number("KERNKIT_PTX_RANDOM"), bound);
    }
  }
  // Checks that pairs.cc has a function for this instruction and that its results equal the
  // reference.
  void check_row(const std::string& instruction, const std::vector<std::string>& types,
                 const Reference& reference) {
    const Row row = row_of(instruction);
    ASSERT_NE(row, nullptr) << "pairs.cc has no function for " << instruction;
    const uint64_t mask = ~uint64_t{0} >> (64 - (is_pair(types[1]) ? 16 : width_of(types[0])));
    std::vector<uint32_t> results(kRow);
    for (const uint64_t value : {0x0000, 0x8001, 0x3c00, 0xbf80, 0x7c00, 0x7fff, 0x04d2, 0x5a17}) {
      row(static_cast<uint16_t>(value), results.data());
      for (uint64_t x = 0; x < kRow; x += x % 256 < 8 ? 1 : 31) {
        ASSERT_EQ(results[x], reference(x, value, 0) & mask)
            << instruction << std::hex << ", a 0x" << x << ", b 0x" << value;
      }
    }
  }
  // Each thread has one value of the first source and kEach values of the second source. If a
  // register holds two numbers, both numbers of the first source are equal, and the numbers of the
  // second source differ.
  void check_pairs(const std::string& instruction, const std::vector<std::string>& types,
                   size_t step) {
    if (step == 0) return;
    constexpr uint64_t kEach = 16, kOther = 0x5555;
    const unsigned width = width_of(types[0]), bytes = width / 8;
    const bool two = is_pair(types[1]);
    std::string text = head(types, ".param .u32 pb") +
                       "cvt.u16.u32 %x, %i;\nld.param.u64 %p, [pd];\nmul.wide.u32 %o, %i, " +
                       std::to_string(bytes) +
                       ";\nadd.s64 %p, %p, %o;\nld.param.u32 %n, [pb];\ncvt.u16.u32 %y, %n;\n";
    text += two ? "mov.b32 %a, {%x, %x};\n" : "mov.b16 %a, %x;\nmov.b16 %b, %y;\n";
    for (uint64_t j = 0; j < kEach; ++j) {
      if (two) text += "xor.b16 %x, %y, " + std::to_string(kOther) + ";\nmov.b32 %b, {%y, %x};\n";
      text += statement(instruction) + store(types[0], j * kRow * bytes) + "add.u16 " +
              (two ? "%y, %y, " : "%b, %b, ") + std::to_string(step) + ";\n";
    }
    PtxModule module(text + "ret;\n}\n");
    auto* d = memory<unsigned char>(kRow * kEach * bytes);
    const Row row = row_of(instruction);
    std::vector<uint32_t> expected(kRow), upper(kRow);
    for (uint64_t first = 0; first < kRow; first += kEach * step) {
      ASSERT_EQ(module.launch("k", kRow / 256, 256, 0, d, static_cast<uint32_t>(first)),
                cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << fault();
      for (uint64_t j = 0; j < kEach; ++j) {
        const auto second = static_cast<uint16_t>(first + j * step);
        row(second, expected.data());
        if (two) {
          row(second ^ kOther, upper.data());
          put_above(upper.data(), expected.data());
        }
        const unsigned char* results = d + j * kRow * bytes;
        const size_t x = first_other(results, bytes, expected.data());
        if (x == kRow) continue;
        uint32_t result = 0;
        std::memcpy(&result, results + x * bytes, bytes);
        FAIL() << instruction << std::hex << ", of 0x" << x << " and 0x" << second << ": 0x"
               << result << ", expected 0x" << expected[x];
      }
    }
    cudaFree(d);
  }
  void check_random(const std::string& instruction, const std::vector<std::string>& types,
                    const Reference& reference, size_t count, const Bound& bound) {
    std::mt19937_64 random(2);
    std::vector<uint64_t> sources[3];
    constexpr size_t kBatch = 1 << 17;
    for (size_t i = 0; i < count && !HasFatalFailure(); i += kBatch) {
      for (auto& values : sources) {
        values.resize(std::min(kBatch, count - i));
        // Half of the values are 32-bit floats of similar magnitudes: a sum of two random bit
        // patterns rarely depends on both operands, since the magnitudes differ too much.
        for (uint64_t& value : values) {
          const uint64_t any = random();
          value = (any & 1) != 0 ? any : (any & 0xffffffff807fffff) | (96 + (any >> 40) % 64) << 23;
        }
      }
      check(instruction, types, reference, sources, bound);
    }
  }
  static std::string statement(const std::string& instruction) {
    return instruction + (instruction[0] == '{' ? "\n" : ";\n");
  }
  // Returns the beginning of a kernel, with its registers and the thread's number in %i.
  static std::string head(const std::vector<std::string>& types, const std::string& parameters) {
    const char names[] = "dabc";
    std::string text = ".visible .entry k(.param .u64 pd, " + parameters +
                       ")\n{\n.reg .b16 %x, %y;\n.reg .b32 %i, %n, %t, %s;\n"
                       ".reg .b64 %o, %p;\n.reg .pred %q;\n";
    for (size_t k = 0; k < types.size(); ++k) {
      text += ".reg ." + (types[k] == "pred" ? "pred" : "b" + std::to_string(width_of(types[k]))) +
              " %" + names[k] + ";\n";
    }
    return text +
           "mov.u32 %s, %ctaid.x;\nmov.u32 %t, %ntid.x;\nmov.u32 %i, %tid.x;\n"
           "mad.lo.s32 %i, %s, %t, %i;\n";
  }
  static std::string store(const std::string& type, uint64_t offset) {
    const std::string target = "[%p+" + std::to_string(offset) + "], ";
    if (type == "pred") return "selp.u32 %t, 1, 0, %d;\nst.global.u32 " + target + "%t;\n";
    return "st.global.b" + std::to_string(width_of(type)) + " " + target + "%d;\n";
  }
  std::vector<uint64_t> run(const std::string& instruction, const std::vector<std::string>& types,
                            const std::vector<uint64_t> (&sources)[3]) {
    const char names[] = "dabc";
    std::string text =
        head(types, ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn") +
        "ld.param.u32 %n, [pn];\nsetp.ge.u32 %q, %i, %n;\n@%q bra done;\nmul.wide.u32 %o, %i, 8;\n";
    for (size_t k = 1; k < types.size(); ++k) {
      text += std::string("ld.param.u64 %p, [p") + names[k] +
              "];\nadd.s64 %p, %p, %o;\nld.global.b" + std::to_string(width_of(types[k])) + " %" +
              names[k] + ", [%p];\n";
    }
    text += statement(instruction) + "ld.param.u64 %p, [pd];\nadd.s64 %p, %p, %o;\n" +
            store(types[0], 0) + "done:\nret;\n}\n";
    PtxModule module(text, target_);
    const auto count = static_cast<uint32_t>(sources[0].size());
    uint64_t* d = memory<uint64_t>(count);
    const uint64_t *a = memory(sources[0]), *b = memory(sources[1]), *c = memory(sources[2]);
    EXPECT_EQ(module.launch("k", (count + 127) / 128, 128, 0, d, a, b, c, count), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::vector<uint64_t> results(d, d + count);
    for (const uint64_t* array : {static_cast<const uint64_t*>(d), a, b, c}) {
      cudaFree(const_cast<uint64_t*>(array));
    }
    return results;
  }

 private:
  const std::string target_ = "sm_90";
};

}  // namespace kernkit::simulator
