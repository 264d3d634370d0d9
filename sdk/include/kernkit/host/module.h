// SPDX-License-Identifier: Apache-2.0
// Module: a kernel library that is loaded and called from C++. Link kernkit::host.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "kernkit/function.h"
#include "kernkit/host/runtime.h"

namespace kernkit {

/// A function of a Module.
class ModuleFunction {
 public:
  /// Calls the function with tensors (as TensorView, DLTensor* or Tensor), numbers, bools, text,
  /// nullptr for None, and all values that convert to AnyView or Any; omitted trailing arguments
  /// take their defaults. Throws an Error with the kind and the message of the function's error.
  template <class... Args>
  Any operator()(const Args&... args) const {
    return call({AnyView(detail::pass(args))...});
  }
  Any call(std::initializer_list<AnyView> args) const;

  const std::string& name() const { return name_; }
  /// "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"; "" if the library has no
  /// schema.
  std::string schema() const;
  /// One or more sentences, or "".
  std::string doc() const;
  /// The library's metadata of the function as JSON, or "".
  std::string metadata() const;

 private:
  friend class Module;
  ModuleFunction(void* library, std::string name, KernkitFunction function)
      : library_(library), name_(std::move(name)), function_(function) {}
  std::string text_of(const char* prefix) const;

  void* library_;
  std::string name_;
  KernkitFunction function_;
};

/// A loaded kernel library, built with kernkit or with tvm-ffi's own headers. Its host is tvm_ffi
/// if tvm_ffi is in the process, otherwise the kernkit runtime. The library stays mapped until the
/// process ends, so that its results may outlive the Module and its copies.
///
///     const kernkit::Module module = kernkit::Module::load("libmylib.so");
///     module["scale"](y, x, 2.0);
class Module {
 public:
  /// Loads the library without publishing its symbols (RTLD_LOCAL). Throws RuntimeError if the file
  /// does not exist, if loading fails (with the loader's message), or if the library exports no
  /// function.
  static Module load(const std::string& path);

  /// Throws ValueError with the exported names if no function has this name.
  ModuleFunction operator[](const std::string& name) const;
  /// All functions, by name.
  std::vector<ModuleFunction> functions() const;
  const std::string& path() const { return path_; }

 private:
  Module(void* library, std::string path) : library_(library), path_(std::move(path)) {}
  std::vector<std::string> names() const;

  void* library_;
  std::string path_;
};

}  // namespace kernkit

#include "kernkit/host/impl/module.h"
