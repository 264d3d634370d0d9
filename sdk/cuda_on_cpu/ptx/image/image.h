// SPDX-License-Identifier: Apache-2.0
// Image: a module on a device: its variables in memory, and the kernels that were decoded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/decode/kernel.h"
#include "ptx/machine/memory.h"
#include "ptx/text/module.h"

namespace kernkit::cuda_on_cpu::ptx {

class Image {
 public:
  explicit Image(std::string ptx);

  const Module& module() const { return *module_; }
  /// Decoded at its first use. Throws a Refusal when it cannot run.
  const Kernel& kernel(const std::string& name);
  /// Gives the variables their first values.
  void reset();
  /// Null when there is none of this name.
  void* variable(const std::string& name, size_t* size) const;
  /// The variable around an address; an empty range when there is none.
  Range range_of(uint64_t address) const;
  /// What grid.sync() counts in.
  unsigned char* grid_barrier() const { return at_ + barrier_; }

 private:
  const Variable* find(const std::string& name) const;

  std::unique_ptr<Module> module_;
  std::map<std::string, size_t> places_;  // of variables
  size_t barrier_ = 0;
  size_t bytes_ = 0;
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char* at_ = nullptr;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, std::string> refused_;  // and why
};

}  // namespace kernkit::cuda_on_cpu::ptx
