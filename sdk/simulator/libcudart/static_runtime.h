// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime that nvcc links into programs and libraries statically, unless nvcc is called
// with -cudart shared.
#pragma once

namespace kernkit::simulator {

/// Redirects the functions of static runtimes, in the program and in all loaded libraries, to the
/// functions of this library.
void redirect_static_runtimes();

}  // namespace kernkit::simulator
