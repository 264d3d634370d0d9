// SPDX-License-Identifier: Apache-2.0
// The __shared__ variables of the program, found in the program's symbol tables by the ABI tag that
// cuda_runtime.h adds to the names. A stripped program has no symbols, so the variables of such a
// program keep their old values.
#pragma once

namespace kernkit::simulator {

/// Finds the __shared__ variables of all loaded modules. Does nothing if no module was loaded since
/// the last call.
void find_shared_variables();
/// Fills this OS thread's copies of the __shared__ variables with the byte `value`.
void fill_shared_variables(unsigned char value);

}  // namespace kernkit::simulator
