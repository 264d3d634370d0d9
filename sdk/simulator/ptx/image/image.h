// SPDX-License-Identifier: Apache-2.0
// Image: a module on a device: its variables in memory, and the kernels that were decoded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device_memory.h"
#include "ptx/decode/decoder.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

class Image : public Addresses {
 public:
  /// `managed`: memory of managed variables, by their names.
  Image(std::string ptx, const std::map<std::string, void*>& managed);

  const Module& module() const { return *module_; }
  /// Decoded at its first use. Throws a UnsupportedPtx when it cannot run.
  const Kernel& kernel(const std::string& name);
  /// Bytes of all its constants.
  size_t constant_bytes() const { return constant_bytes_; }
  /// Sets the variables to their initial values; managed ones, which devices share, on request.
  void reset(bool managed_too);
  /// Null when there is none of this name.
  void* variable(const std::string& name, size_t* size) const;
  bool find(const std::string& name, uint64_t* address) const override;
  /// Whether an address is in the variables of this device.
  bool holds(const void* address) const { return address >= at_ && address < at_ + bytes_; }
  /// The variable around an address; an empty range when there is none.
  Range range_of(uint64_t address) const;
  /// Where an address outside of all variables is, by the one before it: "0 bytes past the end of
  /// variable table (400 bytes)"; "" far from all.
  std::string place_of(uint64_t address) const;
  /// What grid.sync() counts in.
  unsigned char* grid_barrier() const { return at_ + barrier_; }

 private:
  struct Place {
    unsigned char* at;
    const Variable* variable;
    bool is_managed;
  };

  std::unique_ptr<Module> module_;
  std::map<std::string, Place> places_;  // of variables
  size_t barrier_ = 0;                   // where memory for grid.sync() is, after the variables
  size_t bytes_ = 0;
  size_t constant_bytes_ = 0;
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char* at_ = nullptr;
  StringMap<Kernel> kernels_;
  StringMap<std::string> refused_;  // and why
};

}  // namespace kernkit::simulator::ptx
