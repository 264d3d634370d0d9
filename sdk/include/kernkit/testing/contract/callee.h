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
  bool thrown = false;    ///< whether a C++ exception crossed the C boundary
  std::string kind;       ///< "ValueError"; "" if the call failed and set no error
  std::string message;    ///< "scale(): x: ..."
  Any result;             ///< the returned value; None without a result

  /// Returns the outcome as a clause whose subject "it" is the op: "it raised ValueError: scale():
  /// x: ...", "it returned without an error". Throws only std::bad_alloc.
  std::string text() const {
    if (accepted) return "it returned without an error";
    if (thrown) return "a C++ exception left it: " + message;
    if (kind.empty()) return "it failed and set no error";
    return "it raised " + kind + ": " + message;
  }
};

/// An exported op, called as a framework calls it, by its symbol. Functions throw only
/// std::bad_alloc unless stated. Several threads may call const functions at the same time.
class Callee {
 public:
  /// Calls `metadata` and reads the schema line from the result. `function` and `metadata` are the
  /// symbols `__tvm_ffi_<name>` and `__tvm_ffi__metadata_<name>`, whose library must stay loaded.
  /// schema_text() is "" if `metadata` fails, whose error then stays set in the host, or if the
  /// result has no line. Throws TypeError if the result is not a text, and the exceptions of
  /// `metadata`.
  Callee(std::string name, KernkitFunction function, KernkitFunction metadata)
      : name_(std::move(name)), function_(function) {
    KernkitAny json{};
    if (metadata(nullptr, nullptr, 0, &json) != 0) return;
    text_ = kernkit::detail::json_string(Any::adopt(json).cast<std::string>(), "schema");
    schema_ = schema::parse(text_.c_str());
  }

  /// Replaces the schema by `line`, for an op that was exported without a schema line.
  /// schema_fits() is false afterwards if the op was exported with a schema line that has
  /// parameters, if the parameters of `line` do not match the C++ parameters in number and types,
  /// or if `line` has defaults. Call the function at most once.
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
  /// Returns whether the line of take_schema() matches the C++ function; true before take_schema().
  /// Throws nothing.
  bool schema_fits() const { return fits_; }

  /// Returns the name of the op, valid as long as this object. Throws nothing.
  const std::string& name() const { return name_; }
  /// Returns the line passed to take_schema(), otherwise the schema line in the metadata of an op
  /// exported by KERNKIT_EXPORT; "" if the op has no schema line. The reference is valid as long as
  /// this object; a call of take_schema() changes the text. Throws nothing.
  const std::string& schema_text() const { return text_; }
  /// Returns the parsed form of schema_text(), whose positions count characters of that text from
  /// 0, valid as long as this object; without parameters if the text is "". Throws nothing.
  const schema::Schema& schema() const { return schema_; }
  /// Returns parameter i of the schema line, counted from 0, valid as long as this object.
  /// Requires, without a check, that i is less than num_params(). Throws nothing.
  const schema::Param& param(size_t i) const { return schema_.params[i]; }
  /// Returns the number of parameters in the schema line. Throws nothing.
  size_t num_params() const { return static_cast<size_t>(schema_.num_params); }
  /// Returns the name of parameter i of the schema line, counted from 0. Requires, without a check,
  /// that i is less than num_params().
  std::string argument_name(size_t i) const {
    const schema::Span span = param(i).name;
    return text_.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.size));
  }

  /// Calls the op through its C symbol with borrowed arguments, in this thread, and returns the
  /// outcome. If the op fails, moves the error from the host's slot of this thread to the outcome;
  /// if the slot is empty or the process has no host, Outcome::kind is "". Does not wait for work
  /// of a device. An Error or another std::exception that crosses the C boundary becomes part of
  /// the outcome; other exceptions reach the caller.
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
