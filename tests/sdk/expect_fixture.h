// SPDX-License-Identifier: Apache-2.0
// Two tensors for the tests of KERNKIT_EXPECT.
#pragma once

#include <gtest/gtest.h>

#include "kernkit/expect.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {

class ExpectTest : public ::testing::Test {
 protected:
  testing::HostTensor<float> x_tensor{{4, 8}};
  testing::HostTensor<float> y_tensor{{4, 8}};
  TensorView x = x_tensor.view("x");
  TensorView y = y_tensor.view("y");
  DLTensor* dx = x_tensor.dl();
  DLTensor* dy = y_tensor.dl();
};

}  // namespace kernkit
