// SPDX-License-Identifier: Apache-2.0
// The compiler of a benchmark, for names of rows and the context of the run.
#pragma once

#include <benchmark/benchmark.h>

namespace kernkit::testing {

#if defined(__clang__)
/// Name of the compiler: "clang++" or "g++".
inline constexpr char kCompiler[] = "clang++";
/// Name and version of the compiler.
inline constexpr char kCompilerVersion[] = __VERSION__;
#else
/// Name of the compiler: "clang++" or "g++".
inline constexpr char kCompiler[] = "g++";
/// Name and version of the compiler.
inline constexpr char kCompilerVersion[] = "g++ " __VERSION__;
#endif

/// True: the initialiser adds the compiler to the context of a benchmark run, as "compiler".
[[maybe_unused]] inline const bool compiler_is_noted = [] {
  benchmark::AddCustomContext("compiler", kCompilerVersion);
  return true;
}();

}  // namespace kernkit::testing
