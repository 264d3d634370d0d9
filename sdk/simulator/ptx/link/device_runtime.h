// SPDX-License-Identifier: Apache-2.0
// NVIDIA's device runtime as an input of a linker. Compilers such as Numba link libcudadevrt.a, a
// library of machine code, for grids that synchronise.
#pragma once

#include <string>

namespace kernkit::simulator::ptx {

/// Returns PTX that defines the functions to which cudaMemcpyAsync() and cudaMemsetAsync() compile
/// in kernels, and the kernels that these functions launch.
const std::string& device_copies();

/// Returns the PTX that replaces libcudadevrt.a as an input of a linker: the functions of the
/// device runtime that the executor does not execute itself. `name` is the name or path of the
/// input. Returns null unless the input is libcudadevrt.a.
const char* device_runtime_for(const std::string& name);

}  // namespace kernkit::simulator::ptx
