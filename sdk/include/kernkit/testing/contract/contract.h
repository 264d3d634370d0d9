// SPDX-License-Identifier: Apache-2.0
// Contract: an op, a call of it that it accepts, and what is said of it besides.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/callee.h"
#include "kernkit/testing/contract/example.h"

namespace kernkit::testing::contract {

class Contract {
 public:
  Contract(Callee callee, std::vector<Example> examples, std::vector<Exemption> exemptions = {})
      : callee_(std::move(callee)),
        examples_(std::move(examples)),
        exemptions_(std::move(exemptions)) {
    for (size_t i = 0; i < examples_.size(); ++i) {
      if (examples_[i].is_tensor()) tensors_.push_back(i);
    }
  }

  const Callee& callee() const { return callee_; }
  const std::vector<Example>& examples() const { return examples_; }
  /// The arguments that are tensors in the example.
  const std::vector<size_t>& tensors() const { return tensors_; }
  bool is_written(size_t i) const { return callee_.param(i).is_written; }
  std::string name_of(size_t i) const { return callee_.argument_name(i); }

  /// Why the rules cannot be tried, or "".
  std::string problem() const {
    Message text;
    const std::string& op = callee_.name();
    if (callee_.schema_text().empty()) {
      text << op << ": its metadata have no schema line; export it with KERNKIT_EXPORT";
    } else if (examples_.size() < static_cast<size_t>(callee_.schema().num_required) ||
               examples_.size() > callee_.num_params()) {
      text << op << callee_.schema_text() << ": the example has " << examples_.size()
           << (examples_.size() == 1 ? " argument" : " arguments");
    }
    for (size_t i = 0; text.empty() && i < examples_.size(); ++i) {
      const bool wants_tensor = callee_.param(i).type == schema::Type::kTensor;
      if (examples_[i].is_tensor() && (!wants_tensor || callee_.param(i).is_list)) {
        text << op << callee_.schema_text() << ": the example of " << name_of(i) << " is a tensor";
      }
    }
    return text.c_str();
  }

  /// What excuses the op from a rule, or null.
  const Exemption* excuse(const std::string& rule) const {
    for (const Exemption& exemption : exemptions_) {
      if (exemption.kind == Exemption::kWithout && exemption.rule == rule) return &exemption;
    }
    return nullptr;
  }
  bool runs_on_cpu() const { return !says(Exemption::kCudaOnly); }
  bool runs_on_cuda() const { return !says(Exemption::kCpuOnly); }
  const std::vector<Exemption>& exemptions() const { return exemptions_; }

 private:
  bool says(Exemption::Kind kind) const {
    for (const Exemption& exemption : exemptions_) {
      if (exemption.kind == kind) return true;
    }
    return false;
  }

  Callee callee_;
  std::vector<Example> examples_;
  std::vector<Exemption> exemptions_;
  std::vector<size_t> tensors_;
};

}  // namespace kernkit::testing::contract
