// SPDX-License-Identifier: Apache-2.0
// Tensor maps by the driver's API: the arguments of cuTensorMapEncodeTiled().
#include <cstring>
#include <functional>

#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

/// The arguments of cuTensorMapEncodeTiled() for a tensor of 64 x 32 x 4 16-bit numbers and boxes
/// of 32 x 8 x 1 numbers.
struct Arguments {
  CUtensorMap bytes[2];
  CUtensorMap* map = bytes;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint32_t dimensions = 3;
  uint64_t address = 1 << 20;
  cuuint64_t sizes[5] = {64, 32, 4, 1, 1}, strides[4] = {128, 4096, 16384, 16384};
  cuuint32_t box[5] = {32, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  const cuuint64_t *sizes_at = sizes, *strides_at = strides;
  const cuuint32_t *box_at = box, *steps_at = steps;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode() {
    return cuTensorMapEncodeTiled(map, type, dimensions, reinterpret_cast<void*>(address), sizes_at,
                                  strides_at, box_at, steps_at, interleave, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
};

class DriverTensorMaps : public Driver {
 protected:
  std::string last_failure() {
    const std::vector<std::string> all = runtime().faults();
    return all.empty() ? "none" : all.back();
  }
  // Returns the message of a call after `change` has changed an argument. Expects that the call
  // writes no map.
  std::string message(const std::function<void(Arguments&)>& change,
                      CUresult expected = CUDA_ERROR_INVALID_VALUE) {
    Arguments all;
    std::memset(all.bytes, 0x5a, sizeof(all.bytes));
    const Arguments before = all;
    change(all);
    EXPECT_EQ(all.encode(), expected);
    EXPECT_EQ(std::memcmp(all.bytes, before.bytes, sizeof(before.bytes)), 0);
    return last_failure();
  }
};

TEST_F(DriverTensorMaps, ValidArguments) {
  start();
  EXPECT_EQ(Arguments().encode(), CUDA_SUCCESS);
  Arguments of_five;
  of_five.dimensions = 5;
  EXPECT_EQ(of_five.encode(), CUDA_SUCCESS);
  Arguments of_one;
  of_one.dimensions = 1;
  of_one.strides_at = nullptr;
  EXPECT_EQ(of_one.encode(), CUDA_SUCCESS);
  Arguments largest;
  largest.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  largest.sizes[1] = uint64_t{1} << 32;
  largest.strides[1] = (uint64_t{1} << 40) - 16;
  largest.box[0] = 256;
  largest.steps[2] = 8;
  EXPECT_EQ(largest.encode(), CUDA_SUCCESS);
}

TEST_F(DriverTensorMaps, InvalidArguments) {
  start();
  const struct {
    std::function<void(Arguments&)> change;
    const char* message;
  } all[] = {
      {[](Arguments& a) { a.map = nullptr; }, "tensorMap: null"},
      {[](Arguments& a) { a.sizes_at = nullptr; }, "globalDim: null"},
      {[](Arguments& a) { a.strides_at = nullptr; }, "globalStrides: null"},
      {[](Arguments& a) { a.box_at = nullptr; }, "boxDim: null"},
      {[](Arguments& a) { a.steps_at = nullptr; }, "elementStrides: null"},
      {[](Arguments& a) {
         a.map = reinterpret_cast<CUtensorMap*>(reinterpret_cast<unsigned char*>(a.bytes) + 32);
       },
       "tensorMap: the address is not a multiple of 64 bytes"},
      {[](Arguments& a) { a.dimensions = 0; }, "tensorRank: found 0; expected 1 to 5"},
      {[](Arguments& a) { a.dimensions = 6; }, "tensorRank: found 6; expected 1 to 5"},
      {[](Arguments& a) { a.address += 8; },
       "globalAddress: the address is not a multiple of 16 bytes"},
      {[](Arguments& a) { a.sizes[2] = 0; }, "globalDim[2]: found 0; expected 1 to 2^32"},
      {[](Arguments& a) { a.sizes[1] = (uint64_t{1} << 32) + 1; },
       "globalDim[1]: found 4294967297; expected 1 to 2^32"},
      {[](Arguments& a) { a.strides[0] = 136; },
       "globalStrides[0]: found 136 bytes; expected a multiple of 16 bytes below 2^40"},
      {[](Arguments& a) { a.strides[1] = uint64_t{1} << 40; },
       "globalStrides[1]: found 1099511627776 bytes; expected a multiple of 16 bytes below 2^40"},
      {[](Arguments& a) { a.box[1] = 0; }, "boxDim[1]: found 0; expected 1 to 256"},
      {[](Arguments& a) { a.box[0] = 257; }, "boxDim[0]: found 257; expected 1 to 256"},
      {[](Arguments& a) { a.box[0] = 12; },
       "boxDim[0]: a row of the box has 24 bytes; expected a multiple of 16 bytes"},
      {[](Arguments& a) { a.box[0] = 64; },
       "boxDim[0]: a row of the box has 128 bytes; expected at most the 64 bytes of the swizzle"},
      {[](Arguments& a) { a.steps[1] = 0; }, "elementStrides[1]: found 0; expected 1 to 8"},
      {[](Arguments& a) { a.steps[2] = 9; }, "elementStrides[2]: found 9; expected 1 to 8"},
  };
  for (const auto& row : all) {
    EXPECT_EQ(message(row.change), std::string("cuTensorMapEncodeTiled(): ") + row.message);
  }
}

// cuda.h: maps without interleaving ignore the first element of elementStrides.
TEST_F(DriverTensorMaps, TheFirstElementStrideIsIgnored) {
  start();
  Arguments expected;
  ASSERT_EQ(expected.encode(), CUDA_SUCCESS);
  for (const cuuint32_t stride : {0, 2, 9}) {
    Arguments all;
    all.steps[0] = stride;
    EXPECT_EQ(all.encode(), CUDA_SUCCESS) << stride;
    EXPECT_EQ(std::memcmp(all.map, expected.map, sizeof(*all.map)), 0) << stride;
  }
}

TEST_F(DriverTensorMaps, NansOutOfBounds) {
  start();
  for (int type = CU_TENSOR_MAP_DATA_TYPE_UINT8; type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
       ++type) {
    const auto change = [&](Arguments& all) {
      all.type = static_cast<CUtensorMapDataType>(type);
      all.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
      all.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    };
    if (type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16) {
      Arguments all;
      change(all);
      EXPECT_EQ(all.encode(), CUDA_SUCCESS) << type;
    } else {
      EXPECT_EQ(message(change),
                "cuTensorMapEncodeTiled(): oobFill: "
                "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA requires a floating-point "
                "tensorDataType; found integers");
    }
  }
}

TEST_F(DriverTensorMaps, UnsupportedArguments) {
  start();
  const struct {
    std::function<void(Arguments&)> change;
    const char* message;
  } all[] = {
      {[](Arguments& a) { a.type = static_cast<CUtensorMapDataType>(13); },
       "tensorDataType: packed types of 4 and 6 bits are not supported"},
      {[](Arguments& a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; },
       "interleave: only CU_TENSOR_MAP_INTERLEAVE_NONE is supported"},
      {[](Arguments& a) { a.swizzle = static_cast<CUtensorMapSwizzle>(4); },
       "swizzle: only swizzles of 32, 64 and 128 bytes with units of 16 bytes are supported"},
  };
  for (const auto& row : all) {
    EXPECT_EQ(message(row.change, CUDA_ERROR_NOT_SUPPORTED),
              std::string("cuTensorMapEncodeTiled(): ") + row.message);
  }
}

TEST_F(DriverTensorMaps, AnotherAddress) {
  start();
  Arguments all;
  ASSERT_EQ(all.encode(), CUDA_SUCCESS);
  void* const address = reinterpret_cast<void*>(uint64_t{1} << 30);
  EXPECT_EQ(cuTensorMapReplaceAddress(all.map, address), CUDA_SUCCESS);
  EXPECT_EQ(cuTensorMapReplaceAddress(nullptr, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTensorMapReplaceAddress(all.map, static_cast<char*>(address) + 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      last_failure(),
      "cuTensorMapReplaceAddress(): globalAddress: the address is not a multiple of 16 bytes");
  std::memset(all.bytes, 0, sizeof(all.bytes));
  EXPECT_EQ(cuTensorMapReplaceAddress(all.map, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_failure(),
            "cuTensorMapReplaceAddress(): tensorMap: not encoded by cuTensorMapEncodeTiled()");
}

}  // namespace
}  // namespace kernkit::simulator
