// SPDX-License-Identifier: Apache-2.0
// [contract]
#include "kernkit/testing/contract.h"

KERNKIT_TEST_CONTRACT(shift, example<float>(4, 64), example<float>(4, 64), cuda_only())
// [/contract]
