// SPDX-License-Identifier: Apache-2.0
// Loading of a library, and errors of its calls.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "kernkit/host/module.h"
#include "kernkit/host/symbols.h"

namespace kernkit {

namespace detail {

inline constexpr char kOpPrefix[] = "__tvm_ffi_";

inline FindHost hand_over_host(void* library) {
  auto* use = reinterpret_cast<FindHost (*)(FindHost)>(dlsym(library, "kernkit_use_host"));
  return use == nullptr ? kernkit_host_find : use(kernkit_host_find);
}

/// Throws the error that function `name` of the library raised. Reads the error from tvm_ffi, from
/// the runtime that the library uses (possibly the runtime of another program), or from the library
/// itself if the library uses neither tvm_ffi nor a runtime.
[[noreturn]] inline void throw_error_of(void* library, const std::string& name) {
  using Take = void(void** error);
  for (void* find : {reinterpret_cast<void*>(find_host_function),
                     reinterpret_cast<void*>(hand_over_host(library))}) {
    auto* take =
        reinterpret_cast<Take*>(reinterpret_cast<FindHost>(find)("TVMFFIErrorMoveFromRaised"));
    void* error = nullptr;
    if (take != nullptr) take(&error);
    if (error != nullptr) throw HostError(ObjectRef::adopt(static_cast<KernkitObject*>(error)));
  }
  if (auto* last = reinterpret_cast<const char* (*)()>(dlsym(library, "kernkit_last_error"))) {
    const std::string text = last();  // "ValueError: scale(): ..."
    const size_t colon = text.find(": ");
    if (colon != std::string::npos) {
      throw Error(text.substr(0, colon).c_str(), text.substr(colon + 2).c_str());
    }
  }
  KERNKIT_THROW(RuntimeError) << name << "() failed without an error message";
}

/// The arguments in a form that the library accepts: if the library uses tvm_ffi, objects that the
/// runtime made before tvm_ffi was loaded are recreated in tvm_ffi.
class AdaptedArguments {
 public:
  explicit AdaptedArguments(std::initializer_list<AnyView> args) {
    const bool has_object = std::any_of(args.begin(), args.end(), [](const AnyView& arg) {
      return arg.type_index() >= kKernkitObject;
    });
    if (!has_object) return;
    using Adapt = int(const KernkitAny*, KernkitAny*);
    static auto* const adapt = reinterpret_cast<Adapt*>(kernkit_host_find("kernkit_host_adapt"));
    for (size_t i = 0; i < args.size(); ++i) {
      KernkitAny adapted{};
      const int code = adapt(&args.begin()[i].get(), &adapted);
      if (code < 0) throw_raised("an argument");
      if (code == 0) continue;
      owned_.push_back(Any::adopt(adapted));
      if (views_.empty()) views_.assign(args.begin(), args.end());
      views_[i] = AnyView(adapted);
    }
  }
  const AnyView* or_else(const AnyView* views) const {
    return views_.empty() ? views : views_.data();
  }

 private:
  std::vector<AnyView> views_;
  std::vector<Any> owned_;
};

/// Returns the string value of `key` in a JSON object, or "" if the object has no such key.
inline std::string json_string(const std::string& json, const std::string& key) {
  std::string value;
  size_t i = json.find("\"" + key + "\":\"");
  if (i == std::string::npos) return value;
  for (i += key.size() + 4; i < json.size() && json[i] != '"'; ++i) {
    value += json[i] == '\\' ? json[++i] : json[i];
  }
  return value;
}

}  // namespace detail

inline Any ModuleFunction::call(std::initializer_list<AnyView> args) const {
  const detail::AdaptedArguments adapted(args);
  const AnyView* views = adapted.or_else(args.begin());
  KernkitAny result{};
  if (function_(nullptr, reinterpret_cast<const KernkitAny*>(views),
                static_cast<int32_t>(args.size()), &result) != 0) {
    detail::throw_error_of(library_, name_);
  }
  return Any::adopt(result);
}

inline std::string ModuleFunction::text_of(const char* prefix) const {
  const std::string symbol = prefix + name_;
  auto* function = reinterpret_cast<KernkitFunction>(dlsym(library_, symbol.c_str()));
  if (function == nullptr) return "";
  return ModuleFunction(library_, name_, function).call({}).cast<std::string>();
}
inline std::string ModuleFunction::doc() const { return text_of("__tvm_ffi__doc_"); }
inline std::string ModuleFunction::metadata() const { return text_of("__tvm_ffi__metadata_"); }
inline std::string ModuleFunction::schema() const {
  return detail::json_string(metadata(), "schema");
}

inline Module Module::load(const std::string& path) {
  // Checks only a path with '/': dlopen() searches the loader's directories for a name without '/'.
  KERNKIT_CHECK(path.find('/') == std::string::npos || access(path.c_str(), F_OK) == 0,
                RuntimeError)
      << "Module::load(): the file " << path << " does not exist";
  // RTLD_NODELETE: the library is never unmapped, because the destructors of its results are code
  // of the library.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  KERNKIT_CHECK(library != nullptr, RuntimeError) << "Module::load(): " << dlerror();
  Module module(library, path);
  KERNKIT_CHECK(!module.names().empty(), RuntimeError)
      << "Module::load(): " << path << " exports no function named " << detail::kOpPrefix
      << "*, so it is not a kernel library";
  detail::hand_over_host(library);
  return module;
}

inline std::vector<std::string> Module::names() const {
  std::vector<std::string> names;
  const size_t prefix = sizeof(detail::kOpPrefix) - 1;
  for (const std::string& symbol : detail::exported_functions(library_, detail::kOpPrefix)) {
    const std::string name = symbol.substr(prefix);
    const auto begins_it = [&](const char* what) { return name.rfind(what, 0) == 0; };
    const auto about_one = {"_metadata_", "_doc_", "_backward_"};
    if (std::none_of(about_one.begin(), about_one.end(), begins_it)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline ModuleFunction Module::operator[](const std::string& name) const {
  const std::string symbol = detail::kOpPrefix + name;
  const std::vector<std::string> all = names();
  if (std::binary_search(all.begin(), all.end(), name)) {
    return ModuleFunction(library_, name,
                          reinterpret_cast<KernkitFunction>(dlsym(library_, symbol.c_str())));
  }
  Message listed;
  for (const std::string& other : all) listed << (listed.empty() ? "" : ", ") << other;
  KERNKIT_THROW(ValueError) << path_ << " has no function " << name << "; it has "
                            << listed.c_str();
}

inline std::vector<ModuleFunction> Module::functions() const {
  std::vector<ModuleFunction> all;
  for (const std::string& name : names()) all.push_back((*this)[name]);
  return all;
}

}  // namespace kernkit
