// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime that nvcc links into programs and libraries statically, unless it is given
// -cudart shared.
#pragma once

namespace kernkit::simulator {

/// Redirects the functions of the static runtime, in the program and in each library that has such
/// a runtime and is loaded, to the functions of this library.
void redirect_static_runtimes();

}  // namespace kernkit::simulator
