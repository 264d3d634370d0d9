// SPDX-License-Identifier: Apache-2.0
// Callee: an exported op, called as a framework calls it, and the outcome of the call.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "kernkit/host/module.h"
#include "kernkit/schema/parser.h"

namespace kernkit::testing::contract {

/// The outcome of a call.
struct Outcome {
  bool accepted = false;  ///< whether the op returned without an error
  bool thrown = false;    ///< a C++ exception crossed the C boundary
  std::string kind;       ///< "ValueError"; "" if the call failed and set no error
  std::string message;    ///< "scale(): x: ..."
  Any result;             ///< the returned value; None without a result

  /// Returns the outcome as a clause: "it raised ValueError: scale(): x: ...". Throws only
  /// std::bad_alloc.
  std::string text() const {
    if (accepted) return "it returned without an error";
    if (thrown) return "a C++ exception left it: " + message;
    if (kind.empty()) return "it failed and set no error";
    return "it raised " + kind + ": " + message;
  }
};

/// An exported op, called as a framework calls it, by its symbol. Functions throw only
/// std::bad_alloc unless stated.
class Callee {
 public:
  /// Reads the schema from the metadata. `function` and `metadata` are the symbols
  /// `__tvm_ffi_<name>` and `__tvm_ffi__metadata_<name>`, whose library stays loaded. schema_text()
  /// is "" if the metadata fail or have no line. Throws TypeError for metadata that are no text.
  Callee(std::string name, KernkitFunction function, KernkitFunction metadata)
      : name_(std::move(name)), function_(function) {
    KernkitAny json{};
    if (metadata(nullptr, nullptr, 0, &json) != 0) return;
    text_ = kernkit::detail::json_string(Any::adopt(json).cast<std::string>(), "schema");
    schema_ = schema::parse(text_.c_str());
  }

  /// Sets the schema of an op that was exported without a line. schema_fits() is false afterwards
  /// if the op has a line of its own, if the types are not those of the C++ parameters, or if the
  /// line has defaults.
  void take_schema(std::string line) {
    const schema::Schema own_schema = schema_;
    const bool is_unnamed = num_params() == 0 || argument_name(0) == "argument_1";
    text_ = std::move(line);
    schema_ = schema::parse(text_.c_str());
    fits_ = is_unnamed && schema_.num_params == own_schema.num_params;
    for (size_t i = 0; fits_ && i < num_params(); ++i) {
      const schema::Param &declared = param(i), &has = own_schema.params[i];
      fits_ = declared.type == has.type && declared.is_list == has.is_list &&
              declared.is_optional == has.is_optional && declared.default_text.size == 0;
    }
  }
  /// Returns whether the line of take_schema() fits the function; true without such a line. Throws
  /// nothing.
  bool schema_fits() const { return fits_; }

  /// Returns the name of the op, valid as long as this object. Throws nothing.
  const std::string& name() const { return name_; }
  /// Returns the schema line, valid until take_schema() and as long as this object; "" unless the
  /// op reports its schema, as ops of KERNKIT_EXPORT do. Throws nothing.
  const std::string& schema_text() const { return text_; }
  /// Returns the parsed schema line, whose positions count characters of schema_text(), valid as
  /// long as this object. Throws nothing.
  const schema::Schema& schema() const { return schema_; }
  /// Returns parameter i, counted from 0, valid as long as this object. The index is not checked.
  /// Throws nothing.
  const schema::Param& param(size_t i) const { return schema_.params[i]; }
  /// Returns the number of parameters in the schema line. Throws nothing.
  size_t num_params() const { return static_cast<size_t>(schema_.num_params); }
  /// Returns the name of parameter i, counted from 0, in the schema line. The index is not checked.
  std::string argument_name(size_t i) const {
    const schema::Span span = param(i).name;
    return text_.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.size));
  }

  /// Calls the op through its C symbol with borrowed arguments and returns the outcome, which takes
  /// the error from the host; without a host the outcome has no kind. Does not wait for work of a
  /// device. Catches an Error or another std::exception that crosses the boundary; other exceptions
  /// reach the caller.
  Outcome call(const std::vector<KernkitAny>& args) const {
    Outcome outcome;
    KernkitAny result{};
    int code = -1;
    try {
      code = function_(nullptr, args.data(), static_cast<int32_t>(args.size()), &result);
    } catch (const Error& error) {
      outcome.thrown = true;
      outcome.kind = error.kind();
      outcome.message = error.message();
      return outcome;
    } catch (const std::exception& error) {
      outcome.thrown = true;
      outcome.message = error.what();
      return outcome;
    }
    outcome.accepted = code == 0;
    if (outcome.accepted) {
      outcome.result = Any::adopt(result);
      return outcome;
    }
    void* raised = nullptr;
    if (auto* take = host_api::error_move_from_raised.get()) take(&raised);
    if (raised == nullptr) return outcome;
    const HostError error(kernkit::detail::ObjectRef::adopt(static_cast<KernkitObject*>(raised)));
    outcome.kind = error.kind();
    outcome.message = error.message();
    return outcome;
  }

 private:
  std::string name_;
  KernkitFunction function_;
  std::string text_;
  schema::Schema schema_;
  bool fits_ = true;
};

}  // namespace kernkit::testing::contract
