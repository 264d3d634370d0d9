// SPDX-License-Identifier: Apache-2.0
// [test]
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernkit/testing/cuda_tensor.h"
#include "shift/shift.h"

TEST(Shift, EachBlock) {
  kernkit::testing::CudaTensor<float> y({256}), x({256});
  std::vector<float> values(256), result(256);
  for (size_t i = 0; i < 256; ++i) values[i] = static_cast<float>(i);
  x.upload(values.data());
  shift(y.view("y"), x.view("x"));
  y.download(result.data());
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(result[i], values[i / 64 * 64 + (i + 63) % 64]) << i;
  }
}
// [/test]
