// SPDX-License-Identifier: Apache-2.0
// The core's log: the sentences that the simulator reports about errors, for functions of the
// program.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

/// A function of the program that receives reports. `level` is 0 for an error, and `length` is the
/// length of `message`.
using LogFunction = void (*)(void* data, int level, char* message, size_t length);
/// A registered function.
struct LogReceiver;

/// Registers a function for all later reports, and stores the registration in *receiver unless
/// `receiver` is null. The function is called during the API call that fails, and must not call
/// CUDA.
cudaError_t add_log_receiver(LogFunction function, void* data, LogReceiver** receiver);
cudaError_t remove_log_receiver(LogReceiver* receiver);

}  // namespace kernkit::simulator::core
