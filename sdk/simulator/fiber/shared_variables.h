// SPDX-License-Identifier: Apache-2.0
// The __shared__ variables of the program, found in its symbol tables by the mark that
// cuda_runtime.h puts into their names. In a stripped program none is found, and they keep what was
// in them.
#pragma once

namespace kernkit::simulator {

/// Looks into modules that were loaded since the last time.
void find_shared_variables();
/// Fills those of this OS thread.
void fill_shared_variables(unsigned char value);

}  // namespace kernkit::simulator
