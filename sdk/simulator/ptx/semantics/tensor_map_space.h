// SPDX-License-Identifier: Apache-2.0
// The memory that may contain the tensor map of a copy (PTX ISA, "cp.async.bulk.tensor").
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// Reports a fault if the generic address of a tensor map is in local or shared memory. A copy
/// requires a map in global or constant memory, or among the kernel's parameters.
void check_space_of_map(const Warp& warp, int lane, const Operation& operation, uint64_t address);
/// Like check_space_of_map(), for the address src0 of each lane that executes the operation.
void check_space_of_maps(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
