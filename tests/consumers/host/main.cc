// SPDX-License-Identifier: Apache-2.0
// A C++ program that loads a kernel library and calls it, with no framework in the process.
#include <cstdio>

#include "kernkit/host/module.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s LIBRARY\n", argv[0]), 1;
  // [host]
  const kernkit::Module module = kernkit::Module::load(argv[1]);
  for (const kernkit::ModuleFunction& function : module.functions()) {
    std::printf("%s%s\n", function.name().c_str(), function.schema().c_str());
  }

  float x[3] = {1, 2, 3}, y[3] = {};
  int64_t shape[] = {3};
  const DLDevice cpu = {kDLCPU, 0};
  const DLTensor tensors[] = {{y, cpu, 1, kernkit::dl_float32, shape, nullptr, 0},
                              {x, cpu, 1, kernkit::dl_float32, shape, nullptr, 0}};
  module["scale"](&tensors[0], &tensors[1], 2.0);
  std::printf("%g %g %g\n", static_cast<double>(y[0]), static_cast<double>(y[1]),
              static_cast<double>(y[2]));
  try {
    module["scale"](&tensors[0], &tensors[1], "two");
  } catch (const kernkit::Error& error) {
    std::printf("%s\n", error.what());
  }
  // [/host]
  return 0;
}
