// SPDX-License-Identifier: Apache-2.0
#include "kernkit/testing/contract.h"
#include "kernkit/testing/line.h"
#include "kernkit/testing/recording.h"

// [contract]
KERNKIT_TEST_CONTRACT(scale, example<float>(4, 33), example<float>(4, 33), 2.0)
// [/contract]
KERNKIT_TEST_CONTRACT(add, example<float>(4, 33), example<float>(4, 33), example<float>(4, 33))
KERNKIT_TEST_LINE(scale, example<float>(4, 33), example<float>(4, 33), 2.0)
KERNKIT_TEST_LINE(add, example<float>(4, 33), example<float>(4, 33), example<float>(4, 33))
// Repeats a recorded call of PyTorch with CUDA tensors.
KERNKIT_TEST_RECORDING("recordings/scale-1")
