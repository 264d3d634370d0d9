// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_RECORDING: a test that repeats a recorded call. Link the op, kernkit::host and
// GoogleTest.
//
// The code takes seconds to compile. kernkit_add_tests() and the like compile it once for all ops
// of a library, as they do for KERNKIT_TEST_CONTRACT.
#pragma once

#include <string>

#include "kernkit/testing/contract.h"

namespace kernkit::testing::contract {

/// Registers the test Recording.FOLDER, named like the folder with _ for characters that are
/// neither letters nor digits. Failures are reported at `source` and `line`; `source` must outlive
/// the tests. `folder` holds the recorded call; its path is relative to the folder of `source`, and
/// the test reads it when it runs. `tolerance` is the largest accepted difference of two numbers,
/// relative to the larger magnitude or to 1; with 0 all bits are compared. Returns true. Call the
/// function before the tests run. Throws only std::bad_alloc.
KERNKIT_CONTRACT_INLINE bool register_recording(const char* source, int line, std::string folder,
                                                double tolerance = 0);

}  // namespace kernkit::testing::contract

/// Defines a test that repeats a call from a folder of KERNKIT_RECORD, with the recorded values,
/// strides, alignment and overlap, and compares the results with the recorded results. Use the
/// macro outside of any namespace.
///
///     KERNKIT_TEST_RECORDING("recordings/scale-815-1")
///     KERNKIT_TEST_RECORDING("recordings/scale-815-2", 1e-6)
///
/// The first argument is the folder, relative to the folder of the source file. The second argument
/// is the tolerance, by default 0. The test fails if a result or the error differs, if the op has
/// another schema line, or if the recording is damaged. A recording without results passes if the
/// op returns without an error. Tensors on a CUDA device need the program of
/// kernkit_add_cuda_tests() or a GPU; other programs skip the test. Memory around the tensors is
/// poisoned during the call (poisoned_memory.h).
///
/// The op is found by its name among the symbols that the program exports, as programs of
/// kernkit_add_tests() do.
#if !defined(KERNKIT_CONTRACT_IN_CUDA_TEST)
#define KERNKIT_TEST_RECORDING(...)                                     \
  [[maybe_unused]] static const bool KERNKIT_RECORDING_NAME(__LINE__) = \
      ::kernkit::testing::contract::register_recording(__FILE__, __LINE__, __VA_ARGS__);
#else
#define KERNKIT_TEST_RECORDING(...) static_assert(true, "");
#endif
/// The name of the variable that registers the test of source line `line`. For
/// KERNKIT_TEST_RECORDING only.
#define KERNKIT_RECORDING_NAME(line) KERNKIT_RECORDING_NAME_OF(line)
/// Joins the expanded `line` to the name of KERNKIT_RECORDING_NAME.
#define KERNKIT_RECORDING_NAME_OF(line) kernkit_recording_##line

#if !defined(KERNKIT_CONTRACT_COMPILED)
#include "kernkit/testing/impl/recording.h"
#endif
