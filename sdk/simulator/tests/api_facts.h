// SPDX-License-Identifier: Apache-2.0
// Numbers and layouts of the CUDA runtime's interface, as the header that is included says.
// Compiled twice: against NVIDIA's header and against kernkit's own.
#pragma once

#include <cstddef>
#include <map>
#include <string>

using CudaApiFacts = std::map<std::string, long>;
CudaApiFacts facts_of_nvidia();
CudaApiFacts facts_of_kernkit();
