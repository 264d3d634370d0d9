// SPDX-License-Identifier: Apache-2.0
// Contract: an op, a call that it accepts, and its exemptions.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/callee.h"
#include "kernkit/testing/contract/example.h"

namespace kernkit::testing::contract {

/// An op, a call that it accepts, and its exemptions. Arguments are numbered in the schema's order,
/// from 0, followed by the elements of lists, in order. Functions require, without a check, that an
/// index is less than examples().size(). Functions that return a number, a bool, a reference or a
/// pointer throw nothing; other functions throw only std::bad_alloc. is_written(), is_result() and
/// name_of() require that problem() is "".
class Contract {
 public:
  /// Takes an op and the arguments of the example, in the schema's order; arguments with defaults
  /// may be missing at the end. problem() reports an example that does not match the schema.
  Contract(Callee callee, const std::vector<Example>& examples,
           std::vector<Exemption> exemptions = {})
      : callee_(std::move(callee)),
        num_arguments_(examples.size()),
        examples_(examples),
        exemptions_(std::move(exemptions)) {
    examples_.resize(std::max(num_arguments_, callee_.num_params()), Example(nullptr));
    for (size_t i = 0; i < examples_.size(); ++i) parameters_.push_back(i);
    for (size_t i = 0; i < num_arguments_; ++i) {
      for (const Example& element : examples[i].elements()) {
        examples_.push_back(element);
        parameters_.push_back(i);
      }
    }
    for (size_t i = 0; i < examples_.size(); ++i) {
      if (examples_[i].is_tensor()) tensors_.push_back(i);
    }
  }

  /// Returns the op, valid as long as this object.
  const Callee& callee() const { return callee_; }
  /// Returns the number of arguments that the example has, without elements of lists and without
  /// missing arguments.
  size_t num_arguments() const { return num_arguments_; }
  /// Returns the examples of all arguments, None for a missing argument, followed by the elements
  /// of lists; valid as long as this object.
  const std::vector<Example>& examples() const { return examples_; }
  /// Returns the indices of the arguments and the list elements that are tensors in the example,
  /// ascending; valid as long as this object.
  const std::vector<size_t>& tensors() const { return tensors_; }
  /// Returns the index of the parameter of argument i; for an element of a list, the index of the
  /// list's parameter.
  size_t parameter_of(size_t i) const { return parameters_[i]; }
  /// Returns whether argument i is an element of a list.
  bool is_element(size_t i) const { return parameters_[i] != i; }
  /// Returns the indices of the elements of the list with index `list`, ascending; empty for other
  /// arguments.
  std::vector<size_t> elements_of(size_t list) const {
    std::vector<size_t> elements;
    for (size_t i = list + 1; i < parameters_.size(); ++i) {
      if (parameters_[i] == list) elements.push_back(i);
    }
    return elements;
  }
  /// Returns whether the schema marks argument i as written, (a!) or (out!); for an element,
  /// whether the schema marks the list.
  bool is_written(size_t i) const { return callee_.param(parameters_[i]).is_written; }
  /// Returns whether the op writes argument i and its contents are compared after a call; false for
  /// scratch.
  bool is_result(size_t i) const { return is_written(i) && !examples_[i].is_scratch(); }
  /// Returns the name of argument i as in a message: "x", or "xs[1]" for an element.
  std::string name_of(size_t i) const {
    std::string name = callee_.argument_name(parameters_[i]);
    if (!is_element(i)) return name;
    return name + "[" + std::to_string(i - elements_of(parameters_[i])[0]) + "]";
  }

  /// Returns "", or the reason why the rules cannot be tried: the op has no schema line, the line
  /// of with_schema() does not match the op, or the example has a wrong number of arguments, or a
  /// tensor or a list for a parameter of another type.
  std::string problem() const {
    Message text;
    const std::string& op = callee_.name();
    if (callee_.schema_text().empty()) {
      text << op << ": its metadata have no schema line; export it with KERNKIT_EXPORT";
    } else if (!callee_.schema_fits()) {
      text << op << ": with_schema(\"" << callee_.schema_text()
           << "\"): expected an op without a schema line, and a line without defaults that "
              "matches the C++ parameters";
    } else if (num_arguments_ < static_cast<size_t>(callee_.schema().num_required) ||
               num_arguments_ > callee_.num_params()) {
      text << op << callee_.schema_text() << ": the example has " << num_arguments_
           << (num_arguments_ == 1 ? " argument" : " arguments");
    }
    for (size_t i = 0; text.empty() && i < examples_.size(); ++i) {
      const schema::Param& param = callee_.param(parameters_[i]);
      const bool wants_list = param.is_list && !is_element(i);
      const char* is = nullptr;
      if (examples_[i].is_tensor() && (param.type != schema::Type::kTensor || wants_list)) {
        is = "a tensor";
      } else if (examples_[i].is_list() && !wants_list) {
        is = "a list";
      }
      if (is == nullptr) continue;
      text << op << callee_.schema_text() << ": the example of " << name_of(i) << " is " << is;
    }
    return text.c_str();
  }

  /// Returns the first exemption by without() from the rule of this name, such as "Layouts", or
  /// null; valid as long as this object.
  const Exemption* excuse(const std::string& rule) const {
    for (const Exemption& exemption : exemptions_) {
      if (exemption.kind == Exemption::kWithout && exemption.rule == rule) return &exemption;
    }
    return nullptr;
  }
  /// Returns whether rules run the op on the CPU: false with cuda_only().
  bool runs_on_cpu() const { return !has(Exemption::kCudaOnly); }
  /// Returns whether rules may run the op on a CUDA device: false with cpu_only().
  bool runs_on_cuda() const { return !has(Exemption::kCpuOnly); }
  /// Returns whether the op works row by row: whether an exemption is by_row().
  bool works_by_row() const { return has(Exemption::kByRow); }
  /// Returns all exemptions and properties of the op, in the order of the constructor's argument;
  /// valid as long as this object.
  const std::vector<Exemption>& exemptions() const { return exemptions_; }

 private:
  bool has(Exemption::Kind kind) const {
    for (const Exemption& exemption : exemptions_) {
      if (exemption.kind == kind) return true;
    }
    return false;
  }

  Callee callee_;
  size_t num_arguments_;
  std::vector<Example> examples_;
  std::vector<size_t> parameters_;
  std::vector<Exemption> exemptions_;
  std::vector<size_t> tensors_;
};

}  // namespace kernkit::testing::contract
