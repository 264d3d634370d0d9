// SPDX-License-Identifier: Apache-2.0
// Arguments that are numbers, texts, dtypes and devices.
#include <cmath>
#include <string_view>

#include "export_fixture.h"
#include "kernkit/any_view.h"
#include "kernkit/bytes.h"

namespace ops {

template <class T>
void number(T value) {
  record(value);
}

void words(std::string_view view, const std::string& copy) { record(view, copy); }
void octets(kernkit::BytesView bytes) { record(bytes.size()); }
void things(DLDataType dtype, DLDevice device) { record(dtype, device); }

}  // namespace ops

KERNKIT_EXPORT(int8, "(int n) -> ()", "", ops::number<int8_t>)
KERNKIT_EXPORT(uint8, "(int n) -> ()", "", ops::number<uint8_t>)
KERNKIT_EXPORT(int32, "(int n) -> ()", "", ops::number<int32_t>)
KERNKIT_EXPORT(uint32, "(int n) -> ()", "", ops::number<uint32_t>)
KERNKIT_EXPORT(int64, "(int n) -> ()", "", ops::number<int64_t>)
KERNKIT_EXPORT(uint64, "(int n) -> ()", "", ops::number<uint64_t>)
KERNKIT_EXPORT(float32, "(float f) -> ()", "", ops::number<float>)
KERNKIT_EXPORT(float64, "(float f) -> ()", "", ops::number<double>)
KERNKIT_EXPORT(boolean, "(bool b) -> ()", "", ops::number<bool>)
KERNKIT_EXPORT(words, "(str a, str b) -> ()", "", ops::words)
KERNKIT_EXPORT(octets, "(bytes b) -> ()", "", ops::octets)
KERNKIT_EXPORT(things, "(ScalarType t, Device d) -> ()", "", ops::things)

namespace kernkit {
namespace {

TEST_F(Export, IntegersInRange) {
  EXPECT_EQ(received(__tvm_ffi_int8, {integer(-128)}), "-128;");
  EXPECT_EQ(received(__tvm_ffi_int8, {integer(127)}), "127;");
  EXPECT_EQ(received(__tvm_ffi_uint8, {integer(255)}), "255;");
  EXPECT_EQ(received(__tvm_ffi_int32, {integer(INT32_MIN)}), "-2147483648;");
  EXPECT_EQ(received(__tvm_ffi_uint32, {integer(UINT32_MAX)}), "4294967295;");
  EXPECT_EQ(received(__tvm_ffi_int64, {integer(INT64_MIN)}), "-9223372036854775808;");
  EXPECT_EQ(received(__tvm_ffi_uint64, {integer(INT64_MAX)}), "9223372036854775807;");
  EXPECT_EQ(received(__tvm_ffi_int64, {boolean(true)}), "1;");
}

TEST_F(Export, IntegersOutOfRange) {
  EXPECT_EQ(error(__tvm_ffi_int8, {integer(128)}),
            "ValueError: int8(): n: int 128 is out of range [-128, 127]");
  EXPECT_EQ(error(__tvm_ffi_int8, {integer(-129)}),
            "ValueError: int8(): n: int -129 is out of range [-128, 127]");
  EXPECT_EQ(error(__tvm_ffi_uint8, {integer(-1)}),
            "ValueError: uint8(): n: int -1 is out of range [0, 255]");
  EXPECT_EQ(error(__tvm_ffi_int32, {integer(int64_t{1} << 31)}),
            "ValueError: int32(): n: int 2147483648 is out of range [-2147483648, 2147483647]");
  EXPECT_EQ(error(__tvm_ffi_int32, {integer(int64_t{1} << 32)}),
            "ValueError: int32(): n: int 4294967296 is out of range [-2147483648, 2147483647]");
  EXPECT_EQ(error(__tvm_ffi_uint32, {integer(-1)}),
            "ValueError: uint32(): n: int -1 is out of range [0, 4294967295]");
  EXPECT_EQ(error(__tvm_ffi_uint64, {integer(-1)}),
            "ValueError: uint64(): n: int -1 is out of range [0, 18446744073709551615]");
  EXPECT_EQ(error(__tvm_ffi_int64, {pointer(kKernkitBigInt, this)}),
            "ValueError: int64(): n: an int beyond 64 bits is out of range [-9223372036854775808, "
            "9223372036854775807]");
}

TEST_F(Export, IntegersFromOtherTypes) {
  EXPECT_EQ(error(__tvm_ffi_int32, {real(3.0)}),
            "TypeError: int32(): n: expected int, got float 3");
  EXPECT_EQ(error(__tvm_ffi_int32, {none()}), "TypeError: int32(): n: expected int, got None");
  EXPECT_EQ(error(__tvm_ffi_int32, {x}), "TypeError: int32(): n: expected int, got DLTensor*");
}

TEST_F(Export, Floats) {
  EXPECT_EQ(received(__tvm_ffi_float64, {real(0.1)}), "0.1;");
  EXPECT_EQ(received(__tvm_ffi_float64, {integer(-3)}), "-3;");
  EXPECT_EQ(received(__tvm_ffi_float64, {boolean(true)}), "1;");
  EXPECT_EQ(received(__tvm_ffi_float32, {real(0.1)}), "0.10000000149011612;");
  EXPECT_EQ(received(__tvm_ffi_float64, {real(std::nan(""))}), "nan;");
  EXPECT_EQ(received(__tvm_ffi_float64, {real(-HUGE_VAL)}), "-inf;");
  EXPECT_EQ(error(__tvm_ffi_float64, {none()}),
            "TypeError: float64(): f: expected float, got None");
  EXPECT_EQ(error(__tvm_ffi_float64, {raw_str("1.0")}),
            "TypeError: float64(): f: expected float, got str \"1.0\"");
}

// A Python int of more than 64 bits, stored as words in two's complement, the least significant
// word first.
struct BigInt {
  std::vector<uint64_t> words;
  std::vector<uint64_t> object = std::vector<uint64_t>(3);

  explicit BigInt(std::vector<uint64_t> content) : words(std::move(content)) {
    object.push_back(words.size());
    object.insert(object.end(), words.begin(), words.end());
  }
  KernkitAny any() const { return pointer(kKernkitBigInt, object.data()); }
};

TEST_F(Export, FloatsFromIntsBeyond64Bits) {
  constexpr uint64_t kTop = uint64_t{1} << 63;
  const auto read = [](std::vector<uint64_t> words) {
    const BigInt value(std::move(words));
    const std::string text = received(__tvm_ffi_float64, {value.any()});
    // try_cast(), which also reads elements of lists, must give the same value.
    Message expected;
    expected << AnyView(value.any()).try_cast<double>().value_or(-1) << ";";
    EXPECT_TRUE(text[0] == 'V' || text == expected.c_str()) << expected.c_str();
    return text;
  };
  EXPECT_EQ(read({kTop, 0}), "9.2233720368547758e+18;");
  EXPECT_EQ(read({~uint64_t{0}, 0}), "1.8446744073709552e+19;");
  EXPECT_EQ(read({kTop - 1, ~uint64_t{0}}), "-9.2233720368547758e+18;");
  EXPECT_EQ(read({0, ~uint64_t{0}}), "-1.8446744073709552e+19;");
  // 2^64 + 2^11 is halfway between two doubles. The number is rounded to the even double unless a
  // lower bit is set.
  EXPECT_EQ(read({1 << 11, 1}), "1.8446744073709552e+19;");
  EXPECT_EQ(read({(1 << 11) + 1, 1}), "1.8446744073709556e+19;");
  EXPECT_EQ(read({1, 1 << 11, 1}), "3.4028236692093854e+38;");
  EXPECT_EQ(read({0, 0, 1}), "3.4028236692093846e+38;");
  std::vector<uint64_t> largest(17);
  largest[15] = ~uint64_t{0} << 11;
  EXPECT_EQ(read(largest), "1.7976931348623157e+308;");
  const std::string too_large =
      "ValueError: float64(): f: expected float, got an int beyond 64 bits, which is too large for "
      "one";
  largest[15] |= 1 << 10;
  EXPECT_EQ(read(largest), too_large);
  EXPECT_EQ(read(std::vector<uint64_t>(18, 1)), too_large);
  EXPECT_EQ(received(__tvm_ffi_float32, {BigInt({0, 1}).any()}), "1.8446744073709552e+19;");
}

TEST_F(Export, Bools) {
  EXPECT_EQ(received(__tvm_ffi_boolean, {boolean(true)}), "true;");
  EXPECT_EQ(received(__tvm_ffi_boolean, {integer(0)}), "false;");
  EXPECT_EQ(received(__tvm_ffi_boolean, {integer(int64_t{1} << 40)}), "true;");
  EXPECT_EQ(error(__tvm_ffi_boolean, {real(1)}),
            "TypeError: boolean(): b: expected bool, got float 1");
  EXPECT_EQ(error(__tvm_ffi_boolean, {none()}), "TypeError: boolean(): b: expected bool, got None");
}

TEST_F(Export, AcceptsText) {
  KernkitAny small{};
  small.type_index = kKernkitSmallStr;
  small.small_size = 7;
  memcpy(small.v.small, "seventh", 7);
  const std::string text = "text with a \0 inside";
  const Object<KernkitByteArray> str(kKernkitStr, {text.data(), text.size()});
  EXPECT_EQ(received(__tvm_ffi_words, {small, raw_str("raw")}), "seventh;raw;");
  EXPECT_EQ(received(__tvm_ffi_words, {str.any(), small}), text + ";seventh;");
  EXPECT_EQ(error(__tvm_ffi_words, {raw_str("a"), pointer(kKernkitBytes, this)}),
            "TypeError: words(): b: expected str, got bytes");
  EXPECT_EQ(error(__tvm_ffi_words, {none(), none()}),
            "TypeError: words(): a: expected str, got None");
}

// Tests null pointers in arguments whose type index requires a value, and malformed texts.
TEST_F(Export, NullsAndMalformedTexts) {
  const KernkitAny good = raw_str("a");
  const std::string text = "TypeError: words(): b: expected str, got ";
  EXPECT_EQ(error(__tvm_ffi_words, {good, raw_str(nullptr)}), text + "a null str");
  EXPECT_EQ(error(__tvm_ffi_words, {good, pointer(kKernkitStr, nullptr)}), text + "a null str");
  KernkitAny small{};
  small.type_index = kKernkitSmallStr;
  for (const uint32_t size : {8u, 9u, UINT32_MAX}) {
    small.small_size = size;
    EXPECT_EQ(error(__tvm_ffi_words, {good, small}), text + "a malformed str");
  }
  const Object<KernkitByteArray> str(kKernkitStr, {nullptr, 3});
  EXPECT_EQ(error(__tvm_ffi_words, {good, str.any()}), text + "a malformed str");
  EXPECT_EQ(error(__tvm_ffi_things, {raw_str(nullptr), none()}),
            "TypeError: things(): t: expected a dtype, got a null str");

  const std::string bytes = "TypeError: octets(): b: expected bytes, got ";
  EXPECT_EQ(error(__tvm_ffi_octets, {pointer(kKernkitBytes, nullptr)}), bytes + "a null bytes");
  EXPECT_EQ(error(__tvm_ffi_octets, {pointer(kKernkitByteArrayPtr, nullptr)}),
            bytes + "a null bytes");
  EXPECT_EQ(error(__tvm_ffi_octets, {pointer(kKernkitByteArrayPtr, &str.cell)}),
            bytes + "a malformed bytes");
  small.type_index = kKernkitSmallBytes;
  EXPECT_EQ(error(__tvm_ffi_octets, {small}), bytes + "a malformed bytes");
  const KernkitByteArray empty{nullptr, 0};
  EXPECT_EQ(received(__tvm_ffi_octets, {pointer(kKernkitByteArrayPtr, &empty)}), "0;");
}

// The error message names the kind of a null object, as in "a null Tensor".
TEST_F(Export, NullObjects) {
  const auto with = [](int32_t type_index) {
    const std::string text = error(__tvm_ffi_int32, {pointer(type_index, nullptr)});
    return text.substr(text.find("got ") + 4);
  };
  EXPECT_EQ(with(kKernkitBigInt), "a null int");
  EXPECT_EQ(error(__tvm_ffi_uint64, {pointer(kKernkitBigInt, nullptr)}),
            "TypeError: uint64(): n: expected int, got a null int");
  EXPECT_EQ(with(kKernkitTensor), "a null Tensor");
  EXPECT_EQ(with(kKernkitArray), "a null list");
  EXPECT_EQ(with(kKernkitList), "a null list");
  EXPECT_EQ(with(kKernkitShape), "a null Shape");
  EXPECT_EQ(with(kKernkitFunction), "a null function");
  EXPECT_EQ(with(kKernkitMap), "a null dict");
  EXPECT_EQ(with(kKernkitModule), "a null object");
  EXPECT_EQ(with(130), "a null object");
  EXPECT_EQ(with(kKernkitDLTensorPtr), "a null DLTensor*");
  EXPECT_EQ(with(kKernkitOpaquePtr), "a raw pointer");
}

TEST_F(Export, LongTextIsCut) {
  const std::string text(100, 'a');
  EXPECT_EQ(error(__tvm_ffi_int32, {raw_str(text.c_str())}),
            "TypeError: int32(): n: expected int, got str \"" + text.substr(0, 40) + "...\"");
}

TEST_F(Export, DtypesAndDevices) {
  KernkitAny dtype{}, device{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_int8;
  device.type_index = kKernkitDevice;
  device.v.device = {kDLCUDA, 1};
  EXPECT_EQ(received(__tvm_ffi_things, {dtype, device}), "int8;cuda:1;");
  EXPECT_EQ(received(__tvm_ffi_things, {raw_str("bfloat16"), device}), "bfloat16;cuda:1;");
  EXPECT_EQ(error(__tvm_ffi_things, {raw_str("floaty"), device}),
            "TypeError: things(): t: expected a dtype, got str \"floaty\"");
  EXPECT_EQ(error(__tvm_ffi_things, {dtype, raw_str("cuda")}),
            "TypeError: things(): d: expected a device, got str \"cuda\"");
}

}  // namespace
}  // namespace kernkit
