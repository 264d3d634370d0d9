// SPDX-License-Identifier: Apache-2.0
// The core's log: the sentences that the simulator reports about errors, for functions of the
// program.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

/// A function of the program that receives sentences. The level of an error is 0.
using LogFunction = void (*)(void* data, int level, char* message, size_t length);
/// A registered function.
struct LogReceiver;

/// Calls a function for each sentence from now on, and stores the registration unless `receiver` is
/// null. The function is called during the call that fails, and may not call CUDA.
cudaError_t add_log_receiver(LogFunction function, void* data, LogReceiver** receiver);
cudaError_t remove_log_receiver(LogReceiver* receiver);

}  // namespace kernkit::simulator::core
