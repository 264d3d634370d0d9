// SPDX-License-Identifier: Apache-2.0
// CUDA_VISIBLE_DEVICES: the devices that a process uses, and their order.
#pragma once

#include <string>
#include <vector>

namespace kernkit::simulator {

/// Returns a device's UUID as text, such as "GPU-6b65726e-6b69-7400-0000-000000000001". `number` is
/// the device's position among all devices, which CUDA_VISIBLE_DEVICES does not change.
std::string uuid_text(int number);

/// Returns the numbers of the devices that a value of CUDA_VISIBLE_DEVICES selects from `count`
/// devices, in the order of the list. An entry is a number, or the beginning of exactly one
/// device's UUID. The first other entry ends the list. A device that occurs twice makes the list
/// empty.
std::vector<int> select_devices(const std::string& list, int count);

/// Removes the devices that CUDA_VISIBLE_DEVICES does not select, if the process has not removed
/// them before. Only devices that start_runtime() created are removed, before their first use.
void hide_devices();

}  // namespace kernkit::simulator
