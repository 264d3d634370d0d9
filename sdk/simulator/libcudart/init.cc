// SPDX-License-Identifier: Apache-2.0
// Initialisation for programs without kernkit: loading this library creates devices on which
// kernels run. Environment: KERNKIT_DEVICES, the number of devices; CUDA_VISIBLE_DEVICES, read at
// the first call that needs a device, see visible_devices.h; KERNKIT_CAPABILITY, the compute
// capability of the devices, such as 90; KERNKIT_SEED, KERNKIT_POISON and KERNKIT_DEVICE_SUMMATION,
// see runtime.h.
#include "libcudart/init.h"

#include <vector>

#include "kernkit/simulator/runtime.h"
#include "libcudart/static_runtime.h"
#include "platform/environment.h"
#include "runtime/device_attributes.h"
#include "runtime/state.h"

namespace kernkit::simulator {

void start_runtime() {
  static bool is_started = false;
  if (is_started) return;
  is_started = true;
  CudaDevice device;
  device.compute_capability = static_cast<int>(
      number_of("KERNKIT_CAPABILITY", static_cast<unsigned>(device.compute_capability)));
  device.shared_memory_per_block_opt_in =
      specification_of(device.compute_capability).shared_memory_per_block_opt_in();
  device.memory = size_t{1} << 36;
  // The runtime is never destroyed, since the program may call CUDA until the process ends.
  auto* runtime = new CudaRuntime(std::vector<CudaDevice>(number_of("KERNKIT_DEVICES", 1), device));
  runtime->run_kernels(true);
  runtime->set_seed(number_of("KERNKIT_SEED", 0));
  runtime->set_poison(static_cast<unsigned char>(number_of("KERNKIT_POISON", 0xcd)));
  runtime->set_device_summation(number_of("KERNKIT_DEVICE_SUMMATION", 0) != 0);
  state().keeps_records = false;
  state().reads_visible_devices = true;
}

namespace {

__attribute__((constructor)) void start() {
  start_runtime();
  redirect_static_runtimes();
}

}  // namespace
}  // namespace kernkit::simulator
