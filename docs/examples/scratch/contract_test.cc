// SPDX-License-Identifier: Apache-2.0
// [contract]
#include "kernkit/testing/contract.h"

KERNKIT_TEST_CONTRACT(total, example<float>(1), example<float>(5, 300))
KERNKIT_TEST_CONTRACT(total, example<float>(1), example<float>(5, 300), example<uint8_t>(24))
// [/contract]
