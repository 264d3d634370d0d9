// SPDX-License-Identifier: Apache-2.0
// The compiler of a benchmark, for names of rows and the context of the run.
#pragma once

#include <benchmark/benchmark.h>

namespace kernkit::testing {

#if defined(__clang__)
inline constexpr char kCompiler[] = "clang++";
inline constexpr char kCompilerVersion[] = __VERSION__;
#else
inline constexpr char kCompiler[] = "g++";
inline constexpr char kCompilerVersion[] = "g++ " __VERSION__;
#endif

[[maybe_unused]] inline const bool compiler_is_noted = [] {
  benchmark::AddCustomContext("compiler", kCompilerVersion);
  return true;
}();

}  // namespace kernkit::testing
