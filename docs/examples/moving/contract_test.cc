// SPDX-License-Identifier: Apache-2.0
// Tests the contract of the op in tvm_ffi_before.cc, which has no schema line; the test gives it.
// [test]
#include "kernkit/testing/contract.h"

KERNKIT_TEST_CONTRACT(rms_norm, example<float>(4, 33), example<float>(4, 33), example<float>(33),
                      1e-6, cpu_only(),
                      with_schema("(Tensor(a!) out, Tensor x, Tensor? weight, float eps) -> ()"))
// [/test]
