// SPDX-License-Identifier: Apache-2.0
#include "kernkit/types/dtype.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernkit/float.h"

namespace kernkit {
namespace {

std::string name(DLDataType dtype) { return dtype_name(dtype).c_str(); }
DLDataType raw(int code, int bits, int lanes) {
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
}

TEST(DType, Names) {
  EXPECT_EQ(name(dl_bool), "bool");
  EXPECT_EQ(name(dl_int8), "int8");
  EXPECT_EQ(name(dl_int16), "int16");
  EXPECT_EQ(name(dl_int32), "int32");
  EXPECT_EQ(name(dl_int64), "int64");
  EXPECT_EQ(name(dl_uint8), "uint8");
  EXPECT_EQ(name(dl_uint16), "uint16");
  EXPECT_EQ(name(dl_uint32), "uint32");
  EXPECT_EQ(name(dl_uint64), "uint64");
  EXPECT_EQ(name(dl_float16), "float16");
  EXPECT_EQ(name(dl_bfloat16), "bfloat16");
  EXPECT_EQ(name(dl_float32), "float32");
  EXPECT_EQ(name(dl_float64), "float64");
  EXPECT_EQ(name(make_dtype(DTypeCode::kComplex, 64)), "complex64");
  EXPECT_EQ(name(make_dtype(DTypeCode::kOpaqueHandle, 64)), "handle64");
  EXPECT_EQ(name(make_dtype(DTypeCode::kInt, 4)), "int4");
  EXPECT_EQ(name(make_dtype(DTypeCode::kFloat, 16, 4)), "float16x4");
  EXPECT_EQ(name(make_dtype(DTypeCode::kFloat4E2M1FN, 4, 2)), "float4_e2m1fnx2");
}

// The numbers come from dlpack.h, where the names of ml_dtypes are in capitals.
TEST(DType, SmallFloatNames) {
  EXPECT_EQ(name(raw(7, 8, 1)), "float8_e3m4");
  EXPECT_EQ(name(raw(8, 8, 1)), "float8_e4m3");
  EXPECT_EQ(name(raw(9, 8, 1)), "float8_e4m3b11fnuz");
  EXPECT_EQ(name(raw(10, 8, 1)), "float8_e4m3fn");
  EXPECT_EQ(name(raw(11, 8, 1)), "float8_e4m3fnuz");
  EXPECT_EQ(name(raw(12, 8, 1)), "float8_e5m2");
  EXPECT_EQ(name(raw(13, 8, 1)), "float8_e5m2fnuz");
  EXPECT_EQ(name(raw(14, 8, 1)), "float8_e8m0fnu");
  EXPECT_EQ(name(raw(15, 6, 1)), "float6_e2m3fn");
  EXPECT_EQ(name(raw(16, 6, 1)), "float6_e3m2fn");
  EXPECT_EQ(name(raw(17, 4, 1)), "float4_e2m1fn");
}

TEST(DType, UnknownCodesAreNumbers) {
  EXPECT_EQ(name(raw(99, 7, 1)), "dtype(code=99, bits=7)");
  EXPECT_EQ(name(raw(18, 8, 1)), "dtype(code=18, bits=8)");
  EXPECT_EQ(name(raw(6, 1, 1)), "dtype(code=6, bits=1)");
  EXPECT_EQ(name(raw(255, 255, 65535)), "dtype(code=255, bits=255)x65535");
  EXPECT_EQ(name(raw(0, 0, 0)), "int0x0");
}

// For every code and width, a name is parsed to its dtype, and a dtype without a name is rejected.
TEST(DType, ParsesItsNames) {
  int named = 0;
  for (int code = 0; code < 256; ++code) {
    for (int bits = 1; bits < 256; ++bits) {
      for (const int lanes : {1, 2, 16, 65535}) {
        const DLDataType dtype = raw(code, bits, lanes);
        const std::string text = name(dtype);
        DLDataType parsed = raw(200, 200, 200);
        const bool has_name = text.compare(0, 6, "dtype(") != 0;
        named += has_name;
        ASSERT_EQ(parse_dtype(text.data(), text.size(), &parsed), has_name) << text;
        ASSERT_TRUE(parsed == (has_name ? dtype : raw(200, 200, 200))) << text;
      }
    }
  }
  EXPECT_EQ(named, 4 * (6 * 255 + 12));
}

TEST(DType, ParsesExactlyTheGivenCharacters) {
  DLDataType parsed{};
  ASSERT_TRUE(parse_dtype("int3264", 5, &parsed));
  EXPECT_TRUE(parsed == dl_int32);
  EXPECT_FALSE(parse_dtype("int32\0", 6, &parsed));
}

class BadDTypeName : public ::testing::TestWithParam<const char*> {};
TEST_P(BadDTypeName, IsRejected) {
  DLDataType parsed = raw(1, 2, 3);
  EXPECT_FALSE(parse_dtype(GetParam(), strlen(GetParam()), &parsed));
  EXPECT_TRUE(parsed == raw(1, 2, 3)) << "the output was changed";
}
INSTANTIATE_TEST_SUITE_P(DType, BadDTypeName,
                         ::testing::Values("", "f", "float", "floats", "float0", "float256",
                                           "float65568", "float4294967328", "float32x", "float32x0",
                                           "float32x65536", "float32x4294967297", "float32x4x2",
                                           "float32 ", " float32", "Float32", "float-32",
                                           "float+32", "bool8", "boolx", "float8_e4m3f",
                                           "float8_e4m3fn8", "float8_", "dtype(code=99, bits=7)",
                                           "x4", "32", "int32y",
                                           // Equivalent spellings that dtype_name() does not write.
                                           "float032", "float32x04", "float32x1"));

TEST(DType, OfCppType) {
  static_assert(dtype_of<bool> == dl_bool);
  static_assert(dtype_of<signed char> == dl_int8 && dtype_of<unsigned char> == dl_uint8);
  static_assert(dtype_of<short> == dl_int16 && dtype_of<uint16_t> == dl_uint16);
  static_assert(dtype_of<int> == dl_int32 && dtype_of<unsigned> == dl_uint32);
  static_assert(dtype_of<long> == dl_int64 && dtype_of<long long> == dl_int64);
  static_assert(dtype_of<uint64_t> == dl_uint64 && dtype_of<unsigned long long> == dl_uint64);
  static_assert(dtype_of<float> == dl_float32 && dtype_of<double> == dl_float64);
  static_assert(dtype_of<float16> == dl_float16 && dtype_of<bfloat16> == dl_bfloat16);
}

TEST(DType, Equality) {
  EXPECT_TRUE(raw(1, 2, 3) == raw(1, 2, 3));
  EXPECT_TRUE(raw(1, 2, 3) != raw(0, 2, 3));
  EXPECT_TRUE(raw(1, 2, 3) != raw(1, 0, 3));
  EXPECT_TRUE(raw(1, 2, 3) != raw(1, 2, 0));
  EXPECT_FALSE(raw(1, 2, 3) == raw(1, 2, 259));
}

TEST(DType, Bits) {
  EXPECT_EQ(dtype_bits(dl_float32), 32u);
  EXPECT_EQ(dtype_bits(make_dtype(DTypeCode::kFloat4E2M1FN, 4, 2)), 8u);
  EXPECT_EQ(dtype_bits(raw(2, 255, 65535)), 255u * 65535u);
}

TEST(DType, MatchesDlpack) {
  EXPECT_EQ(static_cast<int>(DTypeCode::kInt), kDLInt);
  EXPECT_EQ(static_cast<int>(DTypeCode::kUInt), kDLUInt);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat), kDLFloat);
  EXPECT_EQ(static_cast<int>(DTypeCode::kOpaqueHandle), kDLOpaqueHandle);
  EXPECT_EQ(static_cast<int>(DTypeCode::kBfloat), kDLBfloat);
  EXPECT_EQ(static_cast<int>(DTypeCode::kComplex), kDLComplex);
  EXPECT_EQ(static_cast<int>(DTypeCode::kBool), kDLBool);
#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 1
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E3M4), kDLFloat8_e3m4);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E4M3), kDLFloat8_e4m3);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E4M3B11FNUZ), kDLFloat8_e4m3b11fnuz);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E4M3FN), kDLFloat8_e4m3fn);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E4M3FNUZ), kDLFloat8_e4m3fnuz);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E5M2), kDLFloat8_e5m2);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E5M2FNUZ), kDLFloat8_e5m2fnuz);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat8E8M0FNU), kDLFloat8_e8m0fnu);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat6E2M3FN), kDLFloat6_e2m3fn);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat6E3M2FN), kDLFloat6_e3m2fn);
  EXPECT_EQ(static_cast<int>(DTypeCode::kFloat4E2M1FN), kDLFloat4_e2m1fn);
#endif
}

}  // namespace
}  // namespace kernkit
