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
  /// Calls it: tensors (as TensorView, DLTensor* or Tensor), numbers, bools, text, nullptr for
  /// None, whatever an AnyView or an Any can be made of; what is left out at the end takes its
  /// default. Throws an Error of the kind and with the message of what the function refused.
  template <class... Args>
  Any operator()(const Args&... args) const {
    return call({AnyView(detail::pass(args))...});
  }
  Any call(std::initializer_list<AnyView> args) const;

  const std::string& name() const { return name_; }
  /// "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"; "" when the library
  /// has none.
  std::string schema() const;
  /// One or more sentences, or "".
  std::string doc() const;
  /// What the library says of the function, as JSON, or "".
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

/// A loaded kernel library, built with kernkit or with tvm-ffi's own headers. It is served by
/// tvm_ffi when that is in the process, and by the kernkit runtime otherwise. It stays mapped until
/// the process ends, so that what it returned may outlive the Module, and every copy of it.
///
///     const kernkit::Module module = kernkit::Module::load("libmylib.so");
///     module["scale"](y, x, 2.0);
class Module {
 public:
  /// Loads the library with its names to itself (RTLD_LOCAL). Throws RuntimeError when there is no
  /// such file, when it cannot be loaded (with what the loader says), or when it exports no
  /// function.
  static Module load(const std::string& path);

  /// Throws ValueError, which names the functions there are.
  ModuleFunction operator[](const std::string& name) const;
  /// All, by name.
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
