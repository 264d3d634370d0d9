// SPDX-License-Identifier: Apache-2.0
// The core's libraries: PTX text or fat binaries that a program loads itself. Values of
// cudaLibrary_t, CUlibrary and CUmodule point to a CUlib_st.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

struct CUlib_st;

namespace kernkit::simulator::core {

/// Loads zero-terminated PTX text or a fat binary. Returns cudaErrorNotSupported for machine code.
cudaError_t load_library(CUlib_st** library, const void* code);
cudaError_t load_library_from_file(CUlib_st** library, const char* path);
cudaError_t unload_library(CUlib_st* library);
/// Reads a whole file into *text.
cudaError_t read_file(std::string* text, const char* path);
bool library_exists(const CUlib_st* library);
/// Finds the library of a kernel handle that find_library_kernel() stored.
cudaError_t find_library_of_kernel(CUlib_st** library, const void* kernel);
/// Returns the reason why no kernel of the library can run on the current device, or "".
std::string problem_of_library(CUlib_st* library);
/// If `name` is the name of NVIDIA's device runtime, adds the PTX text that replaces the device
/// runtime, see ptx/link/device_runtime.h. `name` is the name of a linker input, or null. Returns
/// whether a text was added.
bool add_device_runtime(std::vector<std::string>* texts, const char* name);
/// Joins PTX texts as a device linker does, see ptx/link/link_ptx.h. Returns cudaErrorInvalidPtx if
/// the texts cannot be joined.
cudaError_t link_texts(const std::vector<std::string>& texts, std::string* linked);
/// Finds a kernel by its name in PTX.
cudaError_t find_library_kernel(cudaKernel_t* kernel, CUlib_st* library, const char* name);
/// Finds a variable by its name in PTX, and stores its address and size [bytes].
cudaError_t find_library_variable(void** address, size_t* size, CUlib_st* library,
                                  const char* name);

}  // namespace kernkit::simulator::core
