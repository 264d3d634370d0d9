// SPDX-License-Identifier: Apache-2.0
// Rules that hold for the calls of all other rules.
#pragma once

#include <utility>

#include "kernkit/call/read_call.h"
#include "kernkit/testing/contract/row_rules.h"
#include "kernkit/testing/contract/rules.h"

namespace kernkit::testing::contract {

/// Calls visit(call, outcome, variation) after each run of the example, and then of each variation
/// of variation_rules(), on each target of targets_of(); leaves out rules from which the op is
/// exempt. The arguments are valid during the visit. Call the function while no CudaTarget exists.
/// Throws the errors of for_each_variation() and Call::run(), and the exceptions of `visit`.
inline void for_each_call(const Contract& contract,
                          const std::function<void(const Call& call, const Outcome& outcome,
                                                   const Variation& variation)>& visit) {
  const auto visit_all = [&](MakeVariations make) {
    for_each_variation(contract, make, [&](Target& target, const Variation& variation) {
      Call call(contract, target);
      variation.change(call);
      const Outcome outcome = call.run();
      visit(call, outcome, variation);
    });
  };
  visit_all(example_itself);
  for (const Rule& rule : variation_rules()) {
    if (contract.excuse(rule.name) == nullptr) visit_all(rule.variations);
  }
}

/// Returns the op, the variation and the target, followed by `did`, a clause on what the op did:
/// "scale() with x on rocm:0: it returned without an error". Throws only std::bad_alloc.
inline std::string describe(const Call& call, const Variation& variation, const std::string& did) {
  return call.contract().callee().name() + "() " + variation.what + call.target().suffix() + ": " +
         did;
}

/// Rule Example: checks on the CPU that the op accepts its example and changes a byte of each
/// output (Call::unwritten()). Adds the call, and its violation if there is one, to *verdict; adds
/// nothing for an op with cuda_only(). Throws the errors of Call::run().
inline void example_is_accepted(const Contract& contract, Verdict* verdict) {
  if (!contract.runs_on_cpu()) return;
  Target target;
  Call call(contract, target);
  const Outcome outcome = call.run();
  const std::string begin = contract.callee().name() + "() with its example: ";
  if (!outcome.accepted) {
    verdict->add(begin + outcome.text() +
                 "; expected an example that it accepts. An op without CPU implementation "
                 "declares kernkit::testing::cuda_only()");
    return;
  }
  const std::string unwritten = call.unwritten();
  verdict->add(unwritten.empty() ? ""
                                 : begin + "it left " + unwritten +
                                       " unchanged; expected a write to each tensor with (a!)");
}

/// Rule Defaults: checks on each target that arguments left out take the schema's defaults. Adds
/// the pairs of calls of wrong_defaults(), and their violations, to *verdict. Throws the errors of
/// targets_of() and Call::run().
inline void defaults_are_the_schemas(const Contract& contract, Verdict* verdict) {
  for (const MakeTarget make : targets_of(contract)) {
    const std::unique_ptr<Target> target = make();
    size_t tried = 0;
    for (std::string& text : wrong_defaults(contract, *target, &tried)) {
      verdict->violations.push_back(std::move(text));
    }
    verdict->tried += tried;
  }
}

/// Rule Sentences: checks that the message of an error begins with the op ("scale(): ") and, if
/// Variation::about is not empty, contains the name or the number of one of these arguments. Also
/// checks that the error is not an InternalError. Adds the call, and its violation if there is one,
/// to *verdict; adds nothing for an accepted call, a C++ exception, or a failure without an error.
/// Throws only std::bad_alloc.
inline void errors_name_op_and_argument(const Call& call, const Outcome& outcome,
                                        const Variation& variation, Verdict* verdict) {
  if (outcome.accepted || outcome.thrown || outcome.kind.empty()) return;
  const Contract& contract = call.contract();
  const std::string begin = contract.callee().name() + "(): ";
  const auto names = [&](size_t i) {
    const size_t parameter = contract.parameter_of(i);
    return mentions(outcome.message, contract.callee().argument_name(parameter)) ||
           mentions(outcome.message, kernkit::detail::argument_name(parameter).text);
  };
  const bool named =
      variation.about.empty() || std::any_of(variation.about.begin(), variation.about.end(), names);
  const bool is_internal = outcome.kind == kind::InternalError;
  const bool good = outcome.message.rfind(begin, 0) == 0 && named && !is_internal;
  verdict->add(
      good ? ""
           : describe(call, variation, outcome.text()) + "; expected a message \"" + begin +
                 "...\"" +
                 (variation.about.empty() ? ""
                                          : " that names " + names_of(contract, variation.about)) +
                 (is_internal ? ", and no InternalError for a mistake of the caller" : ""));
}

/// Rule CBoundary: checks that a call returned 0, or another number with an error set in the host,
/// and that no C++ exception left the op. Adds the call, and its violation if there is one, to
/// *verdict. Throws only std::bad_alloc.
inline void nothing_crosses_the_boundary(const Call& call, const Outcome& outcome,
                                         const Variation& variation, Verdict* verdict) {
  const bool good = outcome.accepted || (!outcome.thrown && !outcome.kind.empty());
  verdict->add(good ? ""
                    : describe(call, variation, outcome.text()) +
                          "; expected an error set in the host, and -1");
}

/// Rule RejectedCallsWriteNothing: checks that a call that the op did not accept changed no byte in
/// or around its tensors. Adds the call, and its violation if there is one, to *verdict; adds
/// nothing for an accepted call. Throws only std::bad_alloc.
inline void rejected_calls_write_nothing(const Call& call, const Outcome& outcome,
                                         const Variation& variation, Verdict* verdict) {
  if (outcome.accepted) return;
  const std::string written = call.any_write();
  verdict->add(written.empty() ? ""
                               : describe(call, variation,
                                          outcome.text() + ", and " + written +
                                              " was written before; expected "
                                              "that a rejected call writes nothing"));
}

/// Rule InputsAreNotWritten: checks that an accepted call changed no element of a tensor that the
/// schema does not mark as written. Adds the call, and its violation if there is one, to *verdict;
/// adds nothing for a call that was not accepted. Throws only std::bad_alloc.
inline void inputs_are_not_written(const Call& call, const Outcome& outcome,
                                   const Variation& variation, Verdict* verdict) {
  if (!outcome.accepted) return;
  const std::string written = call.stray_write(/*inside=*/true);
  verdict->add(written.empty() ? ""
                               : describe(call, variation, written) +
                                     " was written; expected writes only to tensors with (a!)");
}

/// Rule StaysInside: checks that an accepted call changed no byte that belongs to no element. Adds
/// the call, and its violation if there is one, to *verdict; adds nothing for a call that was not
/// accepted or whose rule checks this itself (May::kStayInsideOrReject). Throws only
/// std::bad_alloc.
inline void nothing_outside_is_written(const Call& call, const Outcome& outcome,
                                       const Variation& variation, Verdict* verdict) {
  if (!outcome.accepted || variation.may == May::kStayInsideOrReject) return;
  const std::string written = call.stray_write(/*inside=*/false);
  verdict->add(written.empty() ? ""
                               : describe(call, variation, written) +
                                     " was written, which belongs to no tensor; expected that "
                                     "only elements are written");
}

/// Returns the rules that hold on every device: the rules of this file and RowAlone, then the rules
/// of variation_rules(). Throws only std::bad_alloc.
inline std::vector<Rule> cpu_rules() {
  std::vector<Rule> rules = variation_rules();
  const std::vector<Rule> more_rules = {
      {"Example", "the op accepts its example and writes its outputs", nullptr,
       example_is_accepted},
      {"Defaults", "arguments left out take the schema's defaults", nullptr,
       defaults_are_the_schemas},
      {"Sentences", "every error names the op and the argument", nullptr, nullptr,
       errors_name_op_and_argument},
      {"CBoundary", "an error is set in the host; nothing is thrown through C", nullptr, nullptr,
       nothing_crosses_the_boundary},
      {"RejectedCallsWriteNothing", "checks come before the first write", nullptr, nullptr,
       rejected_calls_write_nothing},
      {"InputsAreNotWritten", "only tensors with (a!) are written", nullptr, nullptr,
       inputs_are_not_written},
      {"StaysInside", "nothing around the tensors is written", nullptr, nullptr,
       nothing_outside_is_written},
      {"RowAlone", "by_row(): a row has the same bits in every run, alone and among other rows",
       nullptr, depends_on_the_row_alone},
  };
  rules.insert(rules.begin(), more_rules.begin(), more_rules.end());
  return rules;
}

/// Tries rules with an op, also those from which the op is exempt, and returns a verdict for each,
/// in the order of `rules`. Rules with Rule::of_call share the calls of for_each_call(); other
/// rules make calls of their own. Requires that contract.problem() is "" and that no CudaTarget
/// exists. Throws the errors of for_each_call() and Call::run().
inline std::vector<Verdict> try_rules(const std::vector<Rule>& rules, const Contract& contract) {
  std::vector<Verdict> verdicts(rules.size());
  std::vector<size_t> of_calls;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    if (rule.of_call != nullptr) of_calls.push_back(i);
    if (rule.check != nullptr) rule.check(contract, &verdicts[i]);
    if (rule.variations == nullptr) continue;
    for_each_variation(contract, rule.variations, [&](Target& target, const Variation& variation) {
      verdicts[i].add(violation(contract, target, variation));
    });
  }
  if (of_calls.empty()) return verdicts;
  for_each_call(contract,
                [&](const Call& call, const Outcome& outcome, const Variation& variation) {
                  for (const size_t i : of_calls) {
                    rules[i].of_call(call, outcome, variation, &verdicts[i]);
                  }
                });
  return verdicts;
}
/// Tries one rule with an op and returns the verdict, as try_rules() does, with its errors.
inline Verdict try_rule(const Rule& rule, const Contract& contract) {
  return try_rules({rule}, contract)[0];
}

}  // namespace kernkit::testing::contract
