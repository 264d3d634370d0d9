// SPDX-License-Identifier: Apache-2.0
// Module: a kernel library that is loaded and called from C++. Link kernkit::host.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "kernkit/function.h"
#include "kernkit/host/runtime.h"

namespace kernkit {

/// An op of a loaded library, valid until the process ends, because the library stays mapped.
class ModuleFunction {
 public:
  /// Calls the function with tensors (as TensorView, DLTensor* or Tensor), numbers, bools, text,
  /// nullptr for None, and all values that convert to AnyView or Any; omitted trailing arguments
  /// take their defaults. The arguments are borrowed during the call. Returns the function's
  /// result, which the caller owns, or None for an op without results. Throws an Error with the
  /// kind and the message of the function's error (a HostError if a host holds that error;
  /// RuntimeError without a message), and the errors of the conversions. May be called from any
  /// thread if the op may.
  template <class... Args>
  Any operator()(const Args&... args) const {
    return call({AnyView(detail::pass(args))...});
  }
  /// Calls the function with these arguments, borrowed during the call, and returns the function's
  /// result, which the caller owns. Throws the function's error as operator() does. The call itself
  /// copies no elements and does not wait for a stream.
  Any call(std::initializer_list<AnyView> args) const;

  /// The op's name, without the symbol's prefix, valid as long as this object. Throws nothing.
  const std::string& name() const { return name_; }
  /// The schema line, such as "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()";
  /// "" if the library exports no schema line for the op. Throws the library's error.
  std::string schema() const;
  /// The documentation of the op: one or more sentences, or "" if the library exports no
  /// documentation for the op. Throws the library's error.
  std::string doc() const;
  /// The metadata that the library exports for the function, as JSON, or "" if the library exports
  /// no metadata for the function. Throws the library's error.
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

/// A loaded kernel library, built with kernkit or with tvm-ffi's own headers. The library's host is
/// tvm_ffi if tvm_ffi is in the process, otherwise the kernkit runtime. The library stays mapped
/// until the process ends, so results of its functions may outlive every Module.
///
///     const kernkit::Module module = kernkit::Module::load("libmylib.so");
///     module["scale"](y, x, 2.0);
class Module {
 public:
  /// Loads the library at `path` without publishing its symbols (RTLD_LOCAL); the loader searches
  /// its directories for a name without '/'. Passes the kernkit runtime to the library. Loading a
  /// library again returns the same functions. Throws RuntimeError if the file does not exist, if
  /// loading fails (with the loader's message), or if the library exports no function.
  static Module load(const std::string& path);

  /// Returns the function with this name, such as "scale", valid until the process ends, even if
  /// the Module is destroyed earlier. Throws ValueError, which lists the exported names, if the
  /// library exports no such function.
  ModuleFunction operator[](const std::string& name) const;
  /// Returns all functions that the library exports, sorted by name in byte order; functions that
  /// only describe an op (metadata, documentation, backward) are left out.
  std::vector<ModuleFunction> functions() const;
  /// The path that load() was called with, valid as long as this object. Throws nothing.
  const std::string& path() const { return path_; }

 private:
  Module(void* library, std::string path) : library_(library), path_(std::move(path)) {}
  std::vector<std::string> names() const;

  void* library_;
  std::string path_;
};

}  // namespace kernkit

#include "kernkit/host/impl/module.h"
