// SPDX-License-Identifier: Apache-2.0
// The rules of KERNKIT_TEST_CONTRACT, and the calls of KERNKIT_TEST_RECORDING, compiled once for
// the tests of a library.
#if !defined(KERNKIT_CONTRACT_COMPILED)
#error "contract.cc belongs to tests that are compiled with KERNKIT_CONTRACT_COMPILED"
#endif

#include "kernkit/testing/impl/contract.h"
#include "kernkit/testing/impl/recording.h"
