// SPDX-License-Identifier: Apache-2.0
// Image: a module on a device: its variables in memory, and its decoded kernels.
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
  /// Parses the module and places its variables. `managed` maps the name of each managed variable
  /// to the memory of the variable.
  Image(std::string ptx, const std::map<std::string, void*>& managed);

  const Module& module() const { return *module_; }
  /// Returns a kernel, decoded at its first use. Throws UnsupportedPtx for a kernel that cannot
  /// run.
  const Kernel& kernel(const std::string& name);
  /// Returns the size of all variables in constant memory [bytes].
  size_t constant_bytes() const { return constant_bytes_; }
  /// Sets the variables to their initial values. Excludes managed variables, which all devices
  /// share, unless `managed_too` is true.
  void reset(bool managed_too);
  /// Returns a variable's memory, and stores its size [bytes]. Returns null for an unknown name.
  void* variable(const std::string& name, size_t* size) const;
  bool find(const std::string& name, uint64_t* address) const override;
  /// Returns whether an address is in the memory of this device's variables.
  bool holds(const void* address) const { return address >= at_ && address < at_ + bytes_; }
  /// Returns the range of the variable that contains an address; an empty range if no variable
  /// contains the address.
  Range range_of(uint64_t address) const;
  /// Describes an address outside of all variables by the preceding variable: "0 bytes past the end
  /// of variable table (400 bytes)". Returns "" far from all variables.
  std::string location_of(uint64_t address) const;
  /// Returns the name of the variable that contains an address; "" if no variable contains the
  /// address.
  std::string variable_at(uint64_t address) const;
  /// Returns the address of the counter that grid.sync() uses.
  unsigned char* grid_barrier() const { return at_ + barrier_; }

 private:
  struct Placement {
    unsigned char* at;
    const Variable* variable;
    bool is_managed;
  };

  std::unique_ptr<Module> module_;
  std::map<std::string, Placement> placements_;  // memory of variables by name
  size_t barrier_ = 0;  // offset of the counter of grid.sync(), after the variables [bytes]
  size_t bytes_ = 0;
  size_t constant_bytes_ = 0;
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char* at_ = nullptr;
  StringMap<Kernel> kernels_;
  StringMap<std::string> rejected_;  // reasons why kernels cannot run, by name
};

}  // namespace kernkit::simulator::ptx
