// SPDX-License-Identifier: Apache-2.0
// The former names of the simulator's headers and namespace, for one release.
#pragma once

#pragma message(                                                                                            \
    "kernkit/cuda_on_cpu/ is deprecated: include kernkit/simulator/ and use namespace kernkit::simulator; " \
    "`kernkit update` rewrites both")

namespace kernkit {
namespace simulator {}
/// Deprecated name of kernkit::simulator, kept for one release.
namespace cuda_on_cpu = simulator;
}  // namespace kernkit
