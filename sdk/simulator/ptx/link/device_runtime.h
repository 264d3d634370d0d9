// SPDX-License-Identifier: Apache-2.0
// NVIDIA's device runtime as an input of a linker. Compilers such as Numba link libcudadevrt.a, a
// library of machine code, for grids that synchronise.
#pragma once

#include <string>

namespace kernkit::simulator::ptx {

/// Returns PTX of cudaMemcpyAsync() and cudaMemsetAsync() as kernels call them. The functions
/// launch kernels of the text.
const std::string& device_copies();

/// Returns PTX text in place of an input of a linker: the functions of the device runtime that the
/// executor does not execute itself, for a file or an input called libcudadevrt.a; null for other
/// names.
const char* device_runtime_for(const std::string& name);

}  // namespace kernkit::simulator::ptx
