// SPDX-License-Identifier: Apache-2.0
// Instructions on matrices of a warp: ldmatrix, stmatrix, mma and wmma. The layouts of fragments
// are copied from the figures of PTX ISA, "Matrix Fragments".
#include <functional>
#include <random>

#include "float_formats.h"
#include "ptx_fixture.h"

namespace kernkit::simulator {
namespace {

struct Element {
  int row, column;
};
/// Returns the position, in the matrix, of element i of the fragment that lane t of group g holds.
using Layout = std::function<Element(int g, int t, int i)>;

int low(int i) { return i & 1; }

// Returns the layout of elements of 4 bits or 1 bit: a register holds 8 or 32 adjacent elements of
// a row or column.
Layout layout_of_small(const std::string& shape, int bits, bool of_a) {
  const int each = 32 / bits, rows = of_a && shape.rfind("m16", 0) == 0 ? 2 : 1;
  return [=](int g, int t, int i) {
    const int number = i / each;
    const int row = g + number % rows * 8, column = t * each + i % each + number / rows * 4 * each;
    return of_a ? Element{row, column} : Element{column, row};
  };
}
Layout layout_of_a(const std::string& shape, int bits) {
  if (bits < 8) return layout_of_small(shape, bits, true);
  if (bits == 16 && shape == "m16n8k8")
    return [](int g, int t, int i) { return Element{i < 2 ? g : g + 8, t * 2 + low(i)}; };
  if (bits == 16)  // m16n8k16
    return [](int g, int t, int i) {
      return Element{(0 <= i && i < 2) || (4 <= i && i < 6) ? g : g + 8,
                     i < 4 ? t * 2 + low(i) : t * 2 + low(i) + 8};
    };
  if (shape == "m16n8k4") return [](int g, int t, int i) { return Element{i == 0 ? g : g + 8, t}; };
  if (bits == 32)  // m16n8k8
    return [](int g, int t, int i) {
      return Element{i == 0 || i == 2 ? g : g + 8, i == 0 || i == 1 ? t : t + 4};
    };
  if (shape == "m8n8k16") return [](int g, int t, int i) { return Element{g, t * 4 + i}; };
  if (shape == "m16n8k16")
    return [](int g, int t, int i) { return Element{i < 4 ? g : g + 8, t * 4 + (i & 3)}; };
  return [](int g, int t, int i) {  // m16n8k32
    return Element{(0 <= i && i < 4) || (8 <= i && i < 12) ? g : g + 8,
                   i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
  };
}
Layout layout_of_b(const std::string& shape, int bits) {
  if (bits < 8) return layout_of_small(shape, bits, false);
  if (bits == 16 && shape == "m16n8k8")
    return [](int g, int t, int i) { return Element{t * 2 + i, g}; };
  if (bits == 16)
    return [](int g, int t, int i) {
      return Element{i < 2 ? t * 2 + low(i) : t * 2 + low(i) + 8, g};
    };
  if (bits == 32) return [](int g, int t, int i) { return Element{i == 0 ? t : t + 4, g}; };
  return [](int g, int t, int i) {  // 8-bit types
    return Element{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
  };
}
Layout layout_of_c(const std::string& shape) {
  if (shape.rfind("m8n8", 0) == 0) {
    return [](int g, int t, int i) { return Element{g, t * 2 + low(i)}; };
  }
  return [](int g, int t, int i) { return Element{i < 2 ? g : g + 8, t * 2 + low(i)}; };
}

int bits_of(const std::string& type) {
  if (type == "e4m3" || type == "e5m2") return 8;
  return type == "bf16"   ? 16
         : type == "tf32" ? 32
                          : std::stoi(type.substr(type.find_first_of("0123456789")));
}
double value_of(const std::string& type, uint32_t code) {
  if (type == "f16") return decoded(code, 5, 10);
  if (type == "bf16") return decoded(code, 8, 7);
  if (type == "tf32") return decoded(code >> 13, 8, 10);
  if (type == "f32") return decoded(code, 8, 23);
  if (type == "e5m2") return decoded(code, 5, 2);
  if (type == "s8") return static_cast<int8_t>(code);
  if (type == "s32") return static_cast<int32_t>(code);
  if (type == "s4") return code > 7 ? static_cast<int>(code) - 16 : static_cast<int>(code);
  if (type == "u8" || type == "u4" || type == "b1") return code;
  // In e4m3, the exponent of all ones does not mean infinity.
  const double magnitude = std::ldexp((code & 7) + ((code & 0x78) != 0 ? 8 : 0),
                                      std::max<int>((code >> 3) & 15, 1) - 7 - 3);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

/// A matrix. `codes` contains the bit patterns of the elements in row-major order.
struct Matrix {
  std::string type;
  int rows, columns;
  std::vector<uint32_t> codes;

  double value(int row, int column) const {
    return value_of(type, codes[static_cast<size_t>(row * columns + column)]);
  }
};

class PtxMatrix : public Ptx {
 protected:
  Matrix random(const std::string& type, int rows, int columns) {
    Matrix all{type, rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      const auto some = static_cast<uint32_t>(random_());
      uint32_t code = some;  // 8-bit types: any code; .f16 to .f32: about 1, some subnormal
      if (type == "e4m3" || type == "e5m2") code &= 0xbf;  // no NaN
      if (type == "s32" && some % 4 != 0) code = some % 200 - 100;
      if (type == "f16") code = (some & 0x83ff) | ((some >> 20 & 7) * 0x400 + 0x3000);
      if (type == "bf16") code = (some & 0x807f) | ((some >> 20 & 7) * 0x80 + 0x3e00);
      if (type == "f32" || type == "tf32")
        code = (some & 0x807fffff) | ((some >> 23 & 7) + 124) << 23;
      if (some % 17 == 0 && type != "s32") code &= type == "f16" ? 0x83ffu : 0u;
      all.codes.push_back(bits_of(type) == 32 ? code : code & ((1u << bits_of(type)) - 1));
    }
    return all;
  }
  // Returns the registers of the fragments that 32 lanes hold. The register varies slowest, the
  // lane fastest.
  static std::vector<uint32_t> fragment(const Matrix& matrix, const Layout& layout) {
    const int bits = bits_of(matrix.type), each = 32 / bits;
    const int count = matrix.rows * matrix.columns / 32;
    std::vector<uint32_t> registers(static_cast<size_t>(32 * count / each));
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < count; ++i) {
        const Element at = layout(lane / 4, lane % 4, i);
        const uint32_t code =
            matrix.codes[static_cast<size_t>(at.row * matrix.columns + at.column)];
        registers[static_cast<size_t>(i / each * 32 + lane)] |= code << (i % each * bits);
      }
    }
    return registers;
  }
  static std::string list(const std::string& name, size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
    return text + "}";
  }
  // Compares D with the exact sums. Hardware may add in any order and round each sum, so each
  // addition may have an error of 2^-24 times the sum of all magnitudes. A .f16 result is rounded
  // once more. If `form` has .xor, the product of two bits is their exclusive or.
  static void expect(const std::string& form, const Matrix& a, const Matrix& b, const Matrix& c,
                     const Matrix& d, bool saturates = false) {
    const bool is_xor = form.find(".xor") != std::string::npos;
    for (int row = 0; row < c.rows; ++row) {
      for (int column = 0; column < c.columns; ++column) {
        double sum = c.value(row, column), magnitudes = std::fabs(sum);
        for (int k = 0; k < a.columns; ++k) {
          const double x = a.value(row, k), y = b.value(k, column);
          const double product = is_xor ? (x < y || x > y ? 1 : 0) : x * y;
          sum += product;
          magnitudes += std::fabs(product);
        }
        if (c.type == "s32") {
          if (saturates) sum = std::min(std::max(sum, -2147483648.0), 2147483647.0);
          const auto wrapped = static_cast<uint32_t>(static_cast<int64_t>(sum));
          ASSERT_EQ(d.codes[static_cast<size_t>(row * c.columns + column)], wrapped)
              << form << " at " << row << ", " << column;
          continue;
        }
        double bound = (a.columns + 1) * std::ldexp(magnitudes, -24);
        if (d.type == "f16") bound += std::ldexp(std::fabs(sum), -11) + std::ldexp(1.0, -25);
        ASSERT_NEAR(d.value(row, column), sum, bound) << form << " at " << row << ", " << column;
      }
    }
  }
  void check_mma(const std::string& shape, const std::vector<std::string>& types,
                 const std::string& more = "", const std::string& last = "") {
    const auto number = [&](const char* letter) {
      return std::stoi(shape.substr(shape.find(letter) + 1));
    };
    const int m = number("m"), n = number("n"), k = number("k");
    const std::string form = "mma.sync.aligned." + shape + ".row.col." + more + types[0] + "." +
                             types[1] + "." + types[2] + "." + types[3] + last;
    const Layout layouts[] = {layout_of_a(shape, bits_of(types[1])),
                              layout_of_b(shape, bits_of(types[2])), layout_of_c(shape)};
    for (int round = 0; round < 8; ++round) {
      Matrix all[] = {random(types[1], m, k), random(types[2], k, n), random(types[3], m, n)};
      if (round == 1 && types[3] == "s32") all[2].codes.assign(all[2].codes.size(), 0x7fffff80);
      std::vector<uint32_t> in;
      std::string loads, operands;
      for (int i = 0; i < 3; ++i) {
        const std::vector<uint32_t> registers = fragment(all[i], layouts[i]);
        const std::string name(1, "abc"[i]);
        for (size_t r = 0; r < registers.size() / 32; ++r) {
          loads += "ld.global.u32 %" + name + std::to_string(r) + ", [%in+" +
                   std::to_string(4 * (in.size() + 32 * r)) + "];\n";
        }
        operands += ", " + list(name, registers.size() / 32);
        in.insert(in.end(), registers.begin(), registers.end());
      }
      const size_t count = fragment(all[2], layouts[2]).size() / 32;
      std::string stores;
      for (size_t r = 0; r < count; ++r) {
        stores +=
            "st.global.u32 [%out+" + std::to_string(128 * r) + "], %d" + std::to_string(r) + ";\n";
      }
      const auto out =
          run(loads + form + " " + list("d", count) + operands + ";\n" + stores, in, 32 * count);
      Matrix d = all[2];
      const int bits = bits_of(types[0]), each = 32 / bits;
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < m * n / 32; ++i) {
          const Element at = layouts[2](lane / 4, lane % 4, i);
          const uint32_t code = out[static_cast<size_t>(i / each * 32 + lane)] >> (i % each * bits);
          d.codes[static_cast<size_t>(at.row * n + at.column)] = bits == 32 ? code : code & 0xffff;
        }
      }
      expect(form, all[0], all[1], all[2], d, !more.empty());
      if (HasFatalFailure()) return;
    }
  }
  // Runs a kernel with the given body in one block. In lane i, %in and %out are the addresses of
  // word i of the input and of the output.
  std::vector<uint32_t> run(const std::string& body, const std::vector<uint32_t>& in, size_t count,
                            unsigned threads = 32) {
    PtxModule module(
        ".file 1 \"/src/matrix.cu\"\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".reg .b32 %i, %s<9>, %a<9>, %b<9>, %c<9>, %d<9>;\n.reg .b64 %out, %in, %first, %y<9>;\n"
        ".shared .align 16 .b8 tile[4096];\n"
        "ld.param.u64 %out, [out];\nld.param.u64 %first, [in];\nmov.u32 %i, %tid.x;\n"
        "mul.wide.u32 %y0, %i, 4;\nadd.u64 %out, %out, %y0;\nadd.u64 %in, %first, %y0;\n"
        ".loc 1 12 3\n" +
        body + "ret;\n}\n");
    uint32_t* out = memory<uint32_t>(count);
    error_ = module.launch("k", 1, threads, 0, out, memory(in));
    if (error_ == cudaSuccess) error_ = cudaDeviceSynchronize();
    return std::vector<uint32_t>(out, out + count);
  }

  std::mt19937 random_{7};
  cudaError_t error_ = cudaSuccess;
};

TEST_F(PtxMatrix, ProductsOf16Bits) {
  for (const char* shape : {"m16n8k8", "m16n8k16"}) {
    check_mma(shape, {"f32", "f16", "f16", "f32"});
    check_mma(shape, {"f16", "f16", "f16", "f16"});
    check_mma(shape, {"f32", "bf16", "bf16", "f32"});
  }
}
TEST_F(PtxMatrix, ProductsOfTf32) {
  check_mma("m16n8k4", {"f32", "tf32", "tf32", "f32"});
  check_mma("m16n8k8", {"f32", "tf32", "tf32", "f32"});
}
TEST_F(PtxMatrix, ProductsOf8Bits) {
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) {
      for (const char* c : {"f32", "f16"}) {
        check_mma("m16n8k32", {c, a, b, c});
        check_mma("m16n8k16", {c, a, b, c});
      }
    }
  }
}
TEST_F(PtxMatrix, ProductsOfIntegers) {
  for (const char* shape : {"m8n8k16", "m16n8k16", "m16n8k32"}) {
    for (const char* a : {"s8", "u8"}) {
      for (const char* b : {"s8", "u8"}) {
        for (const char* more : {"", "satfinite."}) check_mma(shape, {"s32", a, b, "s32"}, more);
      }
    }
  }
}

TEST_F(PtxMatrix, ProductsOf4Bits) {
  for (const char* shape : {"m8n8k32", "m16n8k32", "m16n8k64"}) {
    for (const char* a : {"s4", "u4"}) {
      for (const char* b : {"s4", "u4"}) {
        for (const char* more : {"", "satfinite."}) check_mma(shape, {"s32", a, b, "s32"}, more);
      }
    }
  }
}
TEST_F(PtxMatrix, ProductsOfBits) {
  for (const char* shape : {"m8n8k128", "m16n8k128", "m16n8k256"}) {
    for (const char* last : {".xor.popc", ".and.popc"}) {
      check_mma(shape, {"s32", "b1", "b1", "s32"}, "", last);
    }
  }
}

// Matrices of doubles. In the second round, only one product of each sum is not zero, so the result
// equals a fused multiply-add for every order of the additions.
TEST_F(PtxMatrix, ProductsOfDoubles) {
  std::uniform_real_distribution<double> about_one(-2, 2);
  for (const std::string shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}) {
    for (const std::string how : {"", ".rn", ".rz", ".rm", ".rp"}) {
      const int m = shape[1] == '8' ? 8 : 16, blocks = m / 8;
      const int k = std::stoi(shape.substr(shape.find('k') + 1));
      const size_t of_a = static_cast<size_t>(m * k / 32), of_b = static_cast<size_t>(k / 4),
                   of_c = static_cast<size_t>(m / 4);
      for (const bool has_one : {false, true}) {
        double a[16][16], b[16][8], c[16][8];
        for (auto& row : a) {
          for (double& x : row) x = about_one(random_);
        }
        for (auto& row : b) {
          for (double& x : row) x = has_one && &row != &b[k - 1] ? 0 : about_one(random_);
        }
        for (auto& row : c) {
          for (double& x : row) x = about_one(random_);
        }
        std::vector<double> values;
        for (size_t i = 0; i < of_a + of_b + of_c; ++i) {
          for (int lane = 0; lane < 32; ++lane) {
            const int g = lane / 4, t = lane % 4, r = static_cast<int>(i),
                      in_b = r - static_cast<int>(of_a), in_c = in_b - static_cast<int>(of_b);
            values.push_back(i < of_a          ? a[g + r % blocks * 8][t + r / blocks * 4]
                             : i < of_a + of_b ? b[t + 4 * in_b][g]
                                               : c[g + in_c / 2 * 8][2 * t + in_c % 2]);
          }
        }
        std::string text =
            ".reg .b64 %v<20>, %w<4>;\nmul.wide.u32 %y1, %i, 8;\nadd.u64 %in, %first, %y1;\n"
            "ld.param.u64 %out, [out];\nadd.u64 %out, %out, %y1;\n";
        for (size_t i = 0; i < of_a + of_b + of_c; ++i) {
          text +=
              "ld.global.b64 %v" + std::to_string(i) + ", [%in+" + std::to_string(256 * i) + "];\n";
        }
        const auto registers = [](size_t first, size_t count, const char* name = "%v") {
          std::string all;
          for (size_t i = 0; i < count; ++i) {
            all += (i == 0 ? "{" : ", ") + (name + std::to_string(first + i));
          }
          return all + "}";
        };
        const std::string form =
            "mma.sync.aligned." + shape + ".row.col" + how + ".f64.f64.f64.f64";
        text += form + " " + registers(0, of_c, "%w") + ", " + registers(0, of_a) + ", " +
                registers(of_a, of_b) + ", " + registers(of_a + of_b, of_c) + ";\n";
        for (size_t i = 0; i < of_c; ++i) {
          text += "st.global.b64 [%out+" + std::to_string(256 * i) + "], %w" + std::to_string(i) +
                  ";\n";
        }
        std::vector<uint32_t> in(2 * values.size());
        std::memcpy(in.data(), values.data(), 8 * values.size());
        const std::vector<uint32_t> out = run(text, in, 64 * of_c);
        ASSERT_EQ(fault(), "none") << form;
        for (size_t i = 0; i < of_c; ++i) {
          for (int lane = 0; lane < 32; ++lane) {
            const int row = lane / 4 + static_cast<int>(i) / 2 * 8,
                      column = lane % 4 * 2 + static_cast<int>(i) % 2;
            double got, sum = c[row][column], magnitudes = std::fabs(sum);
            std::memcpy(&got, &out[2 * (32 * i + static_cast<size_t>(lane))], sizeof(got));
            for (int n = 0; n < k; ++n) {
              sum += a[row][n] * b[n][column];
              magnitudes += std::fabs(a[row][n] * b[n][column]);
            }
            ASSERT_NEAR(got, sum, (k + 1) * std::ldexp(magnitudes, -52)) << form;
            if (!has_one) continue;
            // `error` is the exact sum x * y + z minus the nearest double; x * y equals high + low
            // exactly.
            const double x = a[row][k - 1], y = b[k - 1][column], z = c[row][column];
            const double nearest = std::fma(x, y, z), high = x * y, low = std::fma(x, y, -high);
            const long double error = static_cast<long double>(high) - nearest + z + low;
            const double lower = error < 0 ? std::nextafter(nearest, -4.0 * magnitudes) : nearest,
                         upper = error > 0 ? std::nextafter(nearest, 4.0 * magnitudes) : nearest;
            const bool down = how == ".rm" || (how == ".rz" && nearest > 0);
            const bool up = how == ".rp" || (how == ".rz" && nearest <= 0);
            ASSERT_EQ(got, down ? lower : up ? upper : nearest) << form;
          }
        }
      }
    }
  }
}

TEST_F(PtxMatrix, Movmatrix) {
  for (const bool again : {false, true}) {
    const std::string transpose = "movmatrix.sync.aligned.m8n8.trans.b16 %a0, %a0;\n";
    std::vector<uint32_t> in;
    const auto element = [](uint32_t row, uint32_t column) { return 8 * row + column; };
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t row = lane / 4, column = lane % 4 * 2;
      in.push_back(element(row, column) | element(row, column + 1) << 16);
    }
    const auto out = run("ld.global.u32 %a0, [%in];\n" + transpose + (again ? transpose : "") +
                             "st.global.u32 [%out], %a0;\n",
                         in, 32);
    ASSERT_EQ(fault(), "none");
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t row = lane / 4, column = lane % 4 * 2;
      ASSERT_EQ(out[lane],
                again ? in[lane] : element(column, row) | element(column + 1, row) << 16);
    }
  }
}

// Returns matrices of 8 rows of 16 bytes: element i of row r of matrix j is 64 j + 8 r + i.
std::vector<uint32_t> numbered() {
  std::vector<uint32_t> packed;
  for (uint32_t i = 0; i < 256; i += 2) packed.push_back(i | (i + 1) << 16);
  return packed;
}
// Returns the elements of matrix j that a lane holds, as in the figure of ldmatrix.
uint32_t expected_row(uint32_t j, uint32_t lane, bool transposed) {
  const uint32_t row = lane / 4, column = lane % 4 * 2;
  const auto at = [&](uint32_t r, uint32_t c) {
    return transposed ? 64 * j + 8 * c + r : 64 * j + 8 * r + c;
  };
  return at(row, column) | at(row, column + 1) << 16;
}
const char* const kToTile =  // copies the input; %s0 is the address of the lane's row
    "mov.u32 %s0, tile;\nshl.b32 %s1, %i, 4;\nadd.u32 %s0, %s0, %s1;\nmul.wide.u32 %y1, %i, 16;\n"
    "add.u64 %y1, %first, %y1;\ncp.async.cg.shared.global [%s0], [%y1], 16;\n";
const char* const kAndWait = "cp.async.wait_all;\nbar.warp.sync 0xffffffff;\n";

TEST_F(PtxMatrix, Ldmatrix) {
  for (const uint32_t count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      for (const bool generic : {false, true}) {
        std::string body = std::string(kToTile) + kAndWait + "cvt.u64.u32 %y2, %s0;\n";
        // ldmatrix ignores the addresses of lanes that supply no row.
        body +=
            "setp.ge.u32 %p1, %i, " + std::to_string(8 * count) + ";\n@%p1 mov.u32 %s0, 12345;\n";
        const std::string number = ".x" + std::to_string(count);
        const std::string form = !transposed ? ".m8n8" + number
                                 : generic   ? ".m8n8" + number + ".trans"
                                             : ".trans.m8n8" + number;  // the form in older code
        body += "cvta.shared.u64 %y2, %y2;\nldmatrix.sync.aligned" + form +
                (generic ? "" : ".shared") + ".b16 " + list("d", count) +
                (generic ? ", [%y2];\n" : ", [%s0];\n");
        for (uint32_t j = 0; j < count; ++j) {
          body += "st.global.u32 [%out+" + std::to_string(128 * j) + "], %d" + std::to_string(j) +
                  ";\n";
        }
        const auto out = run(".reg .pred %p<2>;\n" + body, numbered(), 32 * count);
        ASSERT_EQ(fault(), "none");
        for (uint32_t i = 0; i < 32 * count; ++i) {
          ASSERT_EQ(out[i], expected_row(i / 32, i % 32, transposed))
              << count << transposed << " " << i;
        }
      }
    }
  }
}

TEST_F(PtxMatrix, Stmatrix) {
  for (const uint32_t count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      std::vector<uint32_t> in;
      for (uint32_t i = 0; i < 128; ++i) in.push_back(expected_row(i / 32, i % 32, transposed));
      std::string body = "mov.u32 %s0, tile;\nshl.b32 %s1, %i, 4;\nadd.u32 %s0, %s0, %s1;\n";
      for (uint32_t j = 0; j < count; ++j) {
        body +=
            "ld.global.u32 %a" + std::to_string(j) + ", [%in+" + std::to_string(128 * j) + "];\n";
      }
      body += "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
              (transposed ? ".trans" : "") + ".shared.b16 [%s0], " + list("a", count) +
              ";\nbar.warp.sync 0xffffffff;\n"
              "mov.u32 %s0, tile;\nshl.b32 %s1, %i, 2;\nadd.u32 %s0, %s0, %s1;\n";
      for (uint32_t j = 0; j < count; ++j) {
        const std::string at = std::to_string(128 * j);
        body += "ld.shared.u32 %d0, [%s0+" + at + "];\nst.global.u32 [%out+" + at + "], %d0;\n";
      }
      const auto out = run(body, in, 32 * count);
      ASSERT_EQ(fault(), "none");
      for (uint32_t i = 0; i < 32 * count; ++i)
        ASSERT_EQ(out[i], numbered()[i]) << count << " " << i;
    }
  }
}

// Without a wait for the asynchronous copy, ldmatrix loads the content from before the copy.
TEST_F(PtxMatrix, LdmatrixBeforeTheWait) {
  const std::string old =
      "mov.u32 %s3, tile;\nadd.u32 %s3, %s3, %s1;\n"
      "st.shared.v4.u32 [%s3], {%i, %i, %i, %i};\n";
  const std::string load =
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%s0];\n"
      "st.global.u32 [%out], %d0;\n";
  const std::string before = "mov.u32 %s1, %i;\nshl.b32 %s1, %s1, 4;\n" + old;
  const auto late = run(before + kToTile + "cp.async.commit_group;\n" + load, numbered(), 32);
  const auto landed = run(
      before + kToTile + "cp.async.commit_group;\ncp.async.wait_group 0;\n" + load, numbered(), 32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const bool arrived_early =
        !execution_target::is_simulator() && late[lane] == expected_row(0, lane, false);
    EXPECT_TRUE(late[lane] == lane / 4 || arrived_early) << lane;
    EXPECT_EQ(landed[lane], expected_row(0, lane, false)) << lane;
  }
}

// Unused results need no register: `_` replaces the register in the list.
TEST_F(PtxMatrix, ResultsWithoutARegister) {
  const std::string setup = "mov.b32 %a0, 0x3c003c00;\nmov.b32 %c0, 0;\nmov.b32 %d0, 7;\n";
  const auto sums = run(setup +
                            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {_, %d1, %d2, _}, "
                            "{%a0, %a0}, {%a0}, {%c0, %c0, %c0, 0f40000000};\n"
                            "st.global.u32 [%out], %d1;\nst.global.u32 [%out+128], %d0;\n",
                        {0}, 64);
  EXPECT_EQ(sums[5], 0x41000000u);
  EXPECT_EQ(sums[37], 7u);
  run(kToTile + std::string(kAndWait) +
          "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_, %d1}, [%s0];\nst.global.u32 [%out], %d1;\n",
      numbered(), 32);
  EXPECT_EQ(fault(), "none");
}

// Tests of faults, which run only in the simulator: on a GPU a fault ends the process.
class PtxMatrixFaults : public PtxMatrix {
 protected:
  void SetUp() override {
    if (!execution_target::is_simulator()) GTEST_SKIP() << "only the simulator describes faults";
  }
};

TEST_F(PtxMatrixFaults, OfMatrices) {
  run("mov.u32 %s0, tile;\nadd.u32 %s0, %s0, 8;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%s0];\n",
      {0}, 1);
  EXPECT_EQ(error_, cudaErrorMisalignedAddress);
  EXPECT_EQ(fault(),
            "k: block [0, 0, 0], thread [0, 0, 0]: Invalid __shared__ read of size 16 bytes, at a "
            "misaligned address (matrix.cu:12)");
}
TEST_F(PtxMatrixFaults, RowsOutsideOfSharedMemory) {
  run("mov.u32 %s0, tile;\nmad.lo.u32 %s0, %i, 512, %s0;\n"
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0, %d1}, [%s0];\n",
      {0}, 1);
  EXPECT_EQ(error_, cudaErrorIllegalAddress);
  EXPECT_EQ(fault(),
            "k: block [0, 0, 0], thread [8, 0, 0]: Invalid __shared__ read of size 16 bytes, at "
            "byte 4096 of shared "
            "variable tile (4096 bytes) (matrix.cu:12)");
}
TEST_F(PtxMatrixFaults, PartOfAWarp) {
  run("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, "
      "{%c0, %c1, %c2, %c3};\n",
      {0}, 1, 16);
  EXPECT_EQ(error_, cudaErrorLaunchFailure);
  EXPECT_EQ(fault(),
            "k: block [0, 0, 0], thread [0, 0, 0]: mma.sync.aligned.m16n8k8.row.col.f32."
            "f16.f16.f32 needs all 32 lanes of the warp, found the mask 0x0000ffff "
            "(matrix.cu:12)");
}
// Rejects forms for the tensor cores of other architectures, and forms with unsupported element
// types.
TEST_F(PtxMatrixFaults, RejectsOtherForms) {
  for (const char* form :
       {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, "
        "%b1}, {%c0, %c1, %c2, %c3}",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, "
        "%a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, "
        "{%b0, %b1}, {%c0, %c1, %c2, %c3}, %i, 0",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%a0}, [%in], %i"}) {
    run(std::string(form) + ";\n", {0}, 1);
    EXPECT_EQ(error_, cudaErrorNotSupported) << form;
  }
}

// Tests of wmma that load, multiply and store whole matrices, since PTX ISA does not specify the
// layout of the fragments.
class Wmma : public PtxMatrix {
 protected:
  void check(const std::string& shape, const std::vector<std::string>& types, int of_a, int of_b,
             bool columns_of_a, bool columns_of_b, bool columns_of_c,
             const std::string& space = "") {
    const size_t second = shape.find('n'), third = shape.find('k');
    const int m = std::stoi(shape.substr(1)), n = std::stoi(shape.substr(second + 1)),
              k = std::stoi(shape.substr(third + 1));
    const bool by_columns[] = {columns_of_a, columns_of_b, columns_of_c};
    const Matrix all[] = {random(types[1], m, k), random(types[2], k, n), random(types[3], m, n)};
    std::vector<uint32_t> in;
    std::string body, of_types;
    const auto count_of_sum = [&](const std::string& type) {
      return type == "f16" ? m * n / 64 : m * n / 32;
    };
    const int counts[] = {of_a, of_b, count_of_sum(types[3])};
    const auto of_d = static_cast<size_t>(count_of_sum(types[0]));
    for (int i = 0; i < 3; ++i) {
      const Matrix& matrix = all[i];
      const int bytes = bits_of(matrix.type) / 8,
                row = (by_columns[i] ? matrix.rows : matrix.columns) + 16 / bytes;
      std::vector<unsigned char> bytes_of_matrix(
          static_cast<size_t>((by_columns[i] ? matrix.columns : matrix.rows) * row * bytes), 0xa5);
      for (int r = 0; r < matrix.rows; ++r) {
        for (int c = 0; c < matrix.columns; ++c) {
          const int at = by_columns[i] ? c * row + r : r * row + c;
          std::memcpy(&bytes_of_matrix[static_cast<size_t>(at * bytes)],
                      &matrix.codes[static_cast<size_t>(r * matrix.columns + c)],
                      static_cast<size_t>(bytes));
        }
      }
      strides_[i] = row;
      const std::string name(1, "abc"[i]);
      body += "add.u64 %y1, %first, " + std::to_string(4 * in.size()) + ";\n";
      if (space == ".shared") body += to_shared(bytes_of_matrix.size());
      body += "wmma.load." + name + ".sync.aligned." + (by_columns[i] ? "col" : "row") + "." +
              shape + space + "." + matrix.type + " " + list(name, static_cast<size_t>(counts[i])) +
              (space == ".shared" ? ", [%s0], " : ", [%y1], ") + std::to_string(row) + ";\n";
      bytes_of_matrix.resize((bytes_of_matrix.size() + 3) / 4 * 4);
      in.resize(in.size() + bytes_of_matrix.size() / 4);
      std::memcpy(&in[in.size() - bytes_of_matrix.size() / 4], bytes_of_matrix.data(),
                  bytes_of_matrix.size());
    }
    const bool of_all = types[1] != "f16";
    const std::string form = std::string("wmma.mma.sync.aligned.") +
                             (columns_of_a ? "col." : "row.") + (columns_of_b ? "col." : "row.") +
                             shape + "." + types[0] + "." +
                             (of_all ? types[1] + "." + types[2] + "." : "") + types[3];
    body += form + " " + list("d", of_d);
    for (int i = 0; i < 3; ++i)
      body += ", " + list(std::string(1, "abc"[i]), static_cast<size_t>(counts[i]));
    const int row = strides_[2], bytes = bits_of(types[0]) / 8;
    const int size = (columns_of_c ? n : m) * row * bytes;
    body += ";\nld.param.u64 %y2, [out];\nwmma.store.d.sync.aligned." +
            std::string(columns_of_c ? "col" : "row") + "." + shape +
            (space == ".shared" ? "" : space) + "." + types[0] + " [%y2], " + list("d", of_d) +
            ", " + std::to_string(row) + ";\n";
    const auto out = run(body, in, static_cast<size_t>(size / 4));
    ASSERT_EQ(fault(), "none") << form;
    Matrix d = all[2];
    d.type = types[0];
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < n; ++c) {
        const int at = columns_of_c ? c * row + r : r * row + c;
        uint32_t& code = d.codes[static_cast<size_t>(r * n + c)];
        code = 0;
        std::memcpy(&code, reinterpret_cast<const char*>(out.data()) + at * bytes,
                    static_cast<size_t>(bytes));
      }
    }
    expect(form, all[0], all[1], all[2], d);
  }
  // Returns PTX that copies `bytes` bytes from %y1 to shared memory and sets %s0 to the address of
  // the copy.
  static std::string to_shared(size_t bytes) {
    std::string text = "mov.u32 %s0, tile;\nbar.warp.sync 0xffffffff;\n";
    for (size_t at = 0; at < bytes; at += 4) {
      text += "ld.global.u32 %s1, [%y1+" + std::to_string(at) + "];\nst.shared.u32 [%s0+" +
              std::to_string(at) + "], %s1;\n";
    }
    return text;
  }
  int strides_[3] = {};
};

TEST_F(Wmma, LayoutsOfMemory) {
  for (int i = 0; i < 8; ++i) {
    const bool a = (i & 1) != 0, b = (i & 2) != 0, c = (i & 4) != 0;
    check("m16n16k16", {"f32", "f16", "f16", "f32"}, 8, 8, a, b, c);
    check("m16n16k16", {"f16", "f16", "f16", "f16"}, 8, 8, a, b, c, ".global");
    check("m16n16k16", {"s32", "s8", "s8", "s32"}, 2, 2, a, b, c);
  }
}
TEST_F(Wmma, Shapes) {
  check("m32n8k16", {"f32", "f16", "f16", "f32"}, 8, 8, false, true, false);
  check("m8n32k16", {"f32", "f16", "f16", "f32"}, 8, 8, true, false, true);
  check("m32n8k16", {"f16", "f16", "f16", "f16"}, 8, 8, true, false, false, ".shared");
  check("m8n32k16", {"f16", "f16", "f16", "f16"}, 8, 8, false, true, false);
  check("m16n16k16", {"f32", "bf16", "bf16", "f32"}, 4, 4, false, true, false, ".global");
  check("m32n8k16", {"f32", "bf16", "bf16", "f32"}, 8, 2, true, true, false);
  check("m8n32k16", {"f32", "bf16", "bf16", "f32"}, 2, 8, false, false, true);
  check("m16n16k8", {"f32", "tf32", "tf32", "f32"}, 4, 4, false, true, false);
  check("m16n16k8", {"f32", "tf32", "tf32", "f32"}, 4, 4, true, false, true);
  check("m32n8k16", {"s32", "u8", "u8", "s32"}, 4, 1, false, true, false);
  check("m8n32k16", {"s32", "u8", "u8", "s32"}, 1, 4, true, false, true);
  check("m16n16k16", {"s32", "u8", "u8", "s32"}, 2, 2, false, true, false, ".shared");
}

TEST_F(Wmma, SumsOfAnotherType) {
  for (const char* shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
    check(shape, {"f32", "f16", "f16", "f16"}, 8, 8, false, true, false);
    check(shape, {"f16", "f16", "f16", "f32"}, 8, 8, true, false, true, ".global");
  }
}

// Fragments of one register in each lane: doubles, numbers of 4 bits and single bits. The loads and
// stores specify no stride, so rows or columns are contiguous.
TEST_F(Wmma, OneRegister) {
  const struct {
    std::string shape, type, sum, form;
    int k, bits;
  } all[] = {
      {"m8n8k4", "f64", "f64", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", 4, 64},
      {"m8n8k4", "f64", "f64", "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64", 4, 64},
      {"m8n8k32", "s4", "s32", "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 32, 4},
      {"m8n8k32", "u4", "s32", "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32.satfinite", 32,
       4},
      {"m8n8k128", "b1", "s32", "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
       128, 1},
      {"m8n8k128", "b1", "s32", "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
       128, 1}};
  for (const auto& test_case : all) {
    const bool is_double = test_case.bits == 64;
    std::vector<uint32_t> in;  // A, B and C in row-major, column-major and row-major order
    std::vector<double> a, b, c;
    const auto append = [&](std::vector<double>* values, int count, int bits) {
      uint32_t packed = 0;
      for (int i = 0; i < count; ++i) {
        uint32_t code = static_cast<uint32_t>(random_()) & (bits < 32 ? (1u << bits) - 1 : 1023u);
        if (bits == 64) {
          const double x = code / 16.0 - 30;
          uint32_t halves[2];
          std::memcpy(halves, &x, sizeof(x));
          in.insert(in.end(), halves, halves + 2);
          values->push_back(x);
          continue;
        }
        values->push_back(bits == 32 ? code : value_of(test_case.type, code));
        packed |= bits == 32 ? code : code << i * bits % 32;
        if ((i + 1) * bits % 32 != 0) continue;
        in.push_back(packed);
        packed = 0;
      }
    };
    append(&a, 8 * test_case.k, test_case.bits);
    const size_t at_b = 4 * in.size();
    append(&b, 8 * test_case.k, test_case.bits);
    const size_t at_c = 4 * in.size();
    append(&c, 64, is_double ? 64 : 32);
    const auto load = [&](const std::string& operand, const std::string& type, size_t at,
                          const std::string& to) {
      return "add.u64 %y1, %first, " + std::to_string(at) + ";\nwmma.load." + operand + "." +
             test_case.shape + "." + type + " " + to + ", [%y1];\n";
    };
    const std::string w = is_double ? "%q" : "%r";
    const std::string text =
        ".reg .b64 %q<6>;\n.reg .b32 %r<6>;\n" +
        load("a.sync.aligned.row", test_case.type, 0, "{" + w + "0}") +
        load("b.sync.aligned.col", test_case.type, at_b, "{" + w + "1}") +
        load("c.sync.aligned.row", test_case.sum, at_c, "{" + w + "2, " + w + "3}") +
        test_case.form + " {" + w + "4, " + w + "5}, {" + w + "0}, {" + w + "1}, {" + w + "2, " +
        w + "3};\nld.param.u64 %y2, [out];\nwmma.store.d.sync.aligned.col." + test_case.shape +
        "." + test_case.sum + " [%y2], {" + w + "4, " + w + "5};\n";
    const std::vector<uint32_t> out = run(text, in, is_double ? 128 : 64);
    ASSERT_EQ(fault(), "none") << test_case.form;
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        double sum = c[static_cast<size_t>(8 * row + column)], got;
        for (int k = 0; k < test_case.k; ++k) {
          const double x = a[static_cast<size_t>(test_case.k * row + k)],
                       y = b[static_cast<size_t>(test_case.k * column + k)];
          sum +=
              test_case.form.find(".xor") != std::string::npos ? (x < y || x > y ? 1 : 0) : x * y;
        }
        const auto at = static_cast<size_t>(8 * column + row);
        if (is_double) {
          std::memcpy(&got, &out[2 * at], sizeof(got));
        } else {
          got = static_cast<int32_t>(out[at]);
        }
        ASSERT_EQ(got, sum) << test_case.form << " at " << row << ", "
                            << column;  // every sum is exact
      }
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator
