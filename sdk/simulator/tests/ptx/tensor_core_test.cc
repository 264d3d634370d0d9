// SPDX-License-Identifier: Apache-2.0
// CudaRuntime::set_device_summation(): sums of mma and wgmma. tensor_core_sums.txt has 100 vectors
// for each form, for which the simulator and MMA-Sim (arXiv 2511.10909) have the same result. A
// line "= NAME capability m a b c d k" begins a form, where c and d are types. A line of a vector
// has a row of A, a column of B, c and d, each element as a hexadecimal code.
#include <fstream>
#include <sstream>

#include "ptx_fixture.h"
#include "simulator_target.h"

namespace kernkit::simulator {
namespace {

struct Form {
  std::string name;  // mma or wgmma
  int capability = 0;
  std::string a, b, c, d;  // types
  uint32_t k = 0;
};
struct Vector {
  std::vector<uint64_t> a, b;
  uint64_t c, d;
};

uint32_t bits_of(const std::string& type) {
  if (type[0] == 'e' || type == "s8") return 8;
  return type == "f64" ? 64 : type == "f16" || type == "bf16" ? 16 : 32;
}

// Returns whether the bits of an f64 are a NaN. PTX ISA does not specify a NaN's sign and payload.
bool is_nan(uint64_t code) { return (code & 0x7fffffffffffffff) > 0x7ff0000000000000; }

// The registers in which a warp holds a matrix. A line is a row of A, C or D, or a column of B.
// Four lanes hold a line: each lane in turn holds `adjacent_` neighbouring elements, in `of_line_`
// registers.
class Registers {
 public:
  Registers(uint32_t lines, uint32_t length, uint32_t bits, bool is_sum)
      : lines_(lines),
        bits_(bits),
        adjacent_(is_sum       ? 2
                  : bits == 64 ? 1
                               : 32 / bits),
        of_line_(is_sum ? adjacent_ * bits / std::max(bits, 32u) : 1),
        bytes(lines * length * bits / 8) {}
  // Returns the offset of an element [bits].
  size_t at(uint32_t line, uint32_t i) const {
    const uint32_t width = std::max(bits_, 32u);
    const uint32_t within = i % adjacent_ * bits_;
    const uint32_t number =
        (i / (4 * adjacent_) * (lines_ / 8) + line / 8) * of_line_ + within / width;
    const uint32_t lane = line % 8 * 4 + i / adjacent_ % 4;
    return size_t{32 * number + lane} * width + within % width;
  }

 private:
  uint32_t lines_, bits_, adjacent_, of_line_;

 public:
  size_t bytes;
};

class PtxTensorCore : public Ptx {
 protected:
  static void put(unsigned char* to, size_t bit, uint64_t code, uint32_t bits) {
    std::memcpy(to + bit / 8, &code, bits / 8);
  }
  static std::string list(const char* name, uint32_t count) {
    std::string text = "{";
    for (uint32_t i = 0; i < count; ++i)
      text += std::string(i > 0 ? ", %" : "%") + name + std::to_string(i);
    return text + "}";
  }

  // Multiplies 8 vectors at a time. The results are the diagonal of D.
  std::vector<uint64_t> multiply(const Form& form, const std::vector<Vector>& vectors) {
    const bool is_warpgroup = form.name == "wgmma";
    const uint32_t m = form.a == "f64" && form.capability == 80 ? 8 : 16;
    const uint32_t bits_a = bits_of(form.a), bits_c = bits_of(form.c), bits_d = bits_of(form.d);
    const Registers a(m, form.k, bits_a, false), b(8, form.k, bits_a, false), c(m, 8, bits_c, true),
        d(m, 8, bits_d, true);
    const size_t blocks = (vectors.size() + 7) / 8, bytes = a.bytes + b.bytes + c.bytes;
    std::vector<unsigned char> in(blocks * bytes);
    for (size_t v = 0; v < vectors.size(); ++v) {
      unsigned char* const to = &in[v / 8 * bytes];
      const auto line = static_cast<uint32_t>(v % 8);
      for (uint32_t k = 0; k < form.k; ++k) {
        put(to, a.at(line, k), vectors[v].a[k], bits_a);
        // wgmma reads B from shared memory, in matrices of 8 columns with 16 bytes each.
        const size_t byte = k * bits_a / 8;
        const size_t in_shared = 8 * (byte / 16 * 128 + line * 16 + byte % 16);
        put(to + a.bytes, is_warpgroup ? in_shared : b.at(line, k), vectors[v].b[k], bits_a);
      }
      put(to + a.bytes + b.bytes, c.at(line, line), vectors[v].c, bits_c);
    }
    unsigned char* const out = memory<unsigned char>(blocks * d.bytes);
    PtxModule module(text_of(form, m, a.bytes, b.bytes, c.bytes, d.bytes),
                     "sm_" + std::to_string(form.capability) + (is_warpgroup ? "a" : ""));
    EXPECT_EQ(module.launch("k", static_cast<unsigned>(blocks), is_warpgroup ? 128 : 32, 0, out,
                            memory(in)),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << fault();
    std::vector<uint64_t> results(vectors.size());
    for (size_t v = 0; v < vectors.size(); ++v) {
      const auto line = static_cast<uint32_t>(v % 8);
      std::memcpy(&results[v], out + v / 8 * d.bytes + d.at(line, line) / 8, bits_d / 8);
    }
    return results;
  }

  static std::string text_of(const Form& form, uint32_t m, size_t a, size_t b, size_t c, size_t d) {
    const bool is_warpgroup = form.name == "wgmma";
    const size_t width = form.a == "f64" ? 8 : 4, warp = 32 * width;
    const std::string type = ".b" + std::to_string(8 * width);
    std::string text =
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .pred %q;\n"
        ".reg .b32 %i, %block, %s;\n.reg .b64 %out, %in, %x, %y;\n.shared .align 128 .b8 "
        "tile[256];\n.reg " +
        type + " %a<9>, %b<9>, %c<9>, %d<9>;\n" +
        "ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\nmov.u32 %block, %ctaid.x;\n"
        "mov.u32 %i, %tid.x;\nand.b32 %i, %i, 31;\nmul.wide.u32 %y, %block, " +
        std::to_string(a + b + c) + ";\nadd.u64 %in, %in, %y;\nmul.wide.u32 %y, %block, " +
        std::to_string(d) + ";\nadd.u64 %out, %out, %y;\nmul.wide.u32 %x, %i, " +
        std::to_string(width) + ";\nadd.u64 %in, %in, %x;\nadd.u64 %out, %out, %x;\n";
    const auto load = [&](const char* name, size_t offset, size_t bytes) {
      for (size_t r = 0; r < bytes / warp; ++r)
        text += "ld.global" + type + " %" + name + std::to_string(r) + ", [%in+" +
                std::to_string(offset + r * warp) + "];\n";
    };
    const auto count = [&](size_t bytes) { return static_cast<uint32_t>(bytes / warp); };
    load("a", 0, a);
    load("b", a, b);
    load(is_warpgroup ? "d" : "c", a + b, c);
    const std::string shape = "k" + std::to_string(form.k);
    const std::string types = form.d + "." + form.a + "." + form.b;
    if (is_warpgroup) {
      text +=
          "mov.u32 %s, tile;\nshl.b32 %i, %i, 2;\nadd.u32 %i, %i, %s;\nst.shared.b32 [%i], %b0;\n"
          "st.shared.b32 [%i+128], %b1;\nfence.proxy.async;\nbar.sync 0;\nshr.u32 %s, %s, 4;\n"
          "cvt.u64.u32 %x, %s;\nor.b64 %x, %x, " +
          std::to_string(uint64_t{8} << 16 | uint64_t{16} << 32) +
          ";\nsetp.eq.u32 %q, 1, 1;\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n8" +
          shape + "." + types + " " + list("d", count(d)) + ", " + list("a", 4) + ", %x, %q, 1, 1" +
          (bits_of(form.a) == 16 ? ", 0" : "") +
          ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
          "mov.u32 %i, %tid.x;\nsetp.lt.u32 %q, %i, 32;\n";
    } else {
      text += "setp.eq.u32 %q, 1, 1;\nmma.sync.aligned.m" + std::to_string(m) + "n8" + shape +
              ".row.col." + types + "." + form.c + " " + list("d", count(d)) + ", " +
              list("a", count(a)) + ", " + list("b", count(b)) + ", " + list("c", count(c)) + ";\n";
    }
    for (size_t r = 0; r < d / warp; ++r)
      text += "@%q st.global" + type + " [%out+" + std::to_string(r * warp) + "], %d" +
              std::to_string(r) + ";\n";
    return text + "ret;\n}\n";
  }
};

// Compares the simulator's sums with the sums of devices that tensor_core_sums.txt contains. If the
// environment variable KERNKIT_TENSOR_CORE_SUMS is set, reads the file with this path instead.
TEST_F(PtxTensorCore, SumsOfDevices) {
  const char* other = std::getenv("KERNKIT_TENSOR_CORE_SUMS");
  std::ifstream file(other != nullptr ? other : KERNKIT_TENSOR_CORE_SUMS);
  std::string line, head;
  Form form;
  std::vector<Vector> vectors;
  size_t forms = 0;
  const auto check = [&] {
    if (vectors.empty()) return;
    execution_target::end();
    execution_target::begin(form.capability);
    execution_target::runtime().set_device_summation(true);
    const std::vector<uint64_t> results = multiply(form, vectors);
    size_t wrong = 0;
    for (size_t v = 0; v < vectors.size(); ++v) {
      if (results[v] == vectors[v].d) continue;
      if (form.d == "f64" && is_nan(results[v]) && is_nan(vectors[v].d)) continue;
      if (++wrong <= 3) {
        ADD_FAILURE() << head << ", vector " << v << std::hex << ": expected " << vectors[v].d
                      << ", found " << results[v];
      }
    }
    EXPECT_EQ(wrong, 0u) << head << ": " << vectors.size() << " vectors";
    EXPECT_GE(vectors.size(), 100u) << head;
    ++forms;
    vectors.clear();
  };
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (line[0] == '#') continue;
    if (line[0] == '=') {
      check();
      head = line;
      words.ignore(1);
      words >> form.name >> form.capability >> form.a >> form.b >> form.c >> form.d >> form.k;
      continue;
    }
    Vector vector;
    vector.a.resize(form.k);
    vector.b.resize(form.k);
    words >> std::hex;
    for (uint64_t& code : vector.a) words >> code;
    for (uint64_t& code : vector.b) words >> code;
    words >> vector.c >> vector.d;
    ASSERT_TRUE(words) << line;
    vectors.push_back(vector);
  }
  check();
  EXPECT_GT(forms, 0u);
}

// 0.5 + 2^24 + 1 - 2^24: the sum in float is 0. With terms of 24 fraction bits, 0.5 is lost; with
// 25 fraction bits, the sum is exact.
TEST_F(PtxTensorCore, SumsDependOnTheCapability) {
  Vector vector{{0x6c00, 0x3c00, 0x6c00}, {0x6c00, 0x3c00, 0xec00}, 0x3f000000, 0};
  vector.a.resize(16);
  vector.b.resize(16);
  for (const int capability : {0, 80, 90}) {
    execution_target::end();
    execution_target::begin(capability == 0 ? 90 : capability);
    execution_target::runtime().set_device_summation(capability != 0);
    const Form form{"mma", capability == 0 ? 90 : capability, "f16", "f16", "f32", "f32", 16};
    const uint64_t result = multiply(form, {vector})[0];
    EXPECT_EQ(result, capability == 0    ? 0u
                      : capability == 80 ? 0x3f800000u
                                         : 0x3fc00000u)
        << capability;
  }
}

}  // namespace
}  // namespace kernkit::simulator
