// SPDX-License-Identifier: Apache-2.0
// Constants and layouts of the CUDA runtime's interface, from the included header. api_facts.cc is
// compiled twice: with NVIDIA's header and with kernkit's header.
#pragma once

#include <cstddef>
#include <map>
#include <string>

using CudaApiFacts = std::map<std::string, long>;
CudaApiFacts facts_of_nvidia();
CudaApiFacts facts_of_kernkit();
