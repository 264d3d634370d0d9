// SPDX-License-Identifier: Apache-2.0
// Rules that hold for the calls of all other rules.
#pragma once

#include "kernkit/call/read_call.h"
#include "kernkit/testing/contract/row_rules.h"
#include "kernkit/testing/contract/rules.h"

namespace kernkit::testing::contract {

/// Visits every call of the variation rules from which the op is not exempt, and the example, at
/// each target. Throws the errors of Call::run(), and the exceptions of `visit`.
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

/// Returns "scale() with x on rocm:0: " followed by `did`, a clause on what the op did. Throws only
/// std::bad_alloc.
inline std::string describe(const Call& call, const Variation& variation, const std::string& did) {
  return call.contract().callee().name() + "() " + variation.what + call.target().suffix() + ": " +
         did;
}

/// Rule Example: checks on the CPU that the op accepts its example and writes every output. Adds
/// each call, and its violation if there is one, to *verdict. Throws the errors of Call::run().
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
                                       " as it was; expected that what (a!) marks is written");
}

/// Rule Defaults: checks on each target that arguments left out take the schema's defaults. Adds
/// each call, and its violation if there is one, to *verdict. Throws the errors of Call::run().
inline void defaults_are_the_schemas(const Contract& contract, Verdict* verdict) {
  for (const MakeTarget make : targets_of(contract)) {
    const std::unique_ptr<Target> target = make();
    size_t tried = 0;
    for (const std::string& text : wrong_defaults(contract, *target, &tried)) verdict->add(text);
    verdict->tried += tried;
  }
}

/// Rule Sentences: checks that an error begins with the op, names one of the changed arguments, and
/// is no InternalError. Adds the call, and a violation if there is one, to *verdict. Throws only
/// std::bad_alloc.
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

/// Rule CBoundary: checks that a failed call returns -1 with an error set in the host, and throws
/// nothing. Adds the call, and a violation if there is one, to *verdict.
inline void nothing_crosses_the_boundary(const Call& call, const Outcome& outcome,
                                         const Variation& variation, Verdict* verdict) {
  const bool good = outcome.accepted || (!outcome.thrown && !outcome.kind.empty());
  verdict->add(good ? ""
                    : describe(call, variation, outcome.text()) +
                          "; expected an error set in the host, and -1");
}

/// Checks that a rejected call wrote no byte of its arguments. Adds the call, and a violation if
/// there is one, to *verdict. Throws only std::bad_alloc.
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

/// Rule InputsAreNotWritten: checks that an accepted call wrote only what (a!) marks. Adds the
/// call, and a violation if there is one, to *verdict. Throws only std::bad_alloc.
inline void inputs_are_not_written(const Call& call, const Outcome& outcome,
                                   const Variation& variation, Verdict* verdict) {
  if (!outcome.accepted) return;
  const std::string written = call.stray_write(/*inside=*/true);
  verdict->add(written.empty() ? ""
                               : describe(call, variation, written) +
                                     " was written; expected that only what (a!) marks is written");
}

/// Rule StaysInside: checks that an accepted call wrote no byte around the tensors. Adds the call,
/// and a violation if there is one, to *verdict. Throws only std::bad_alloc.
inline void nothing_outside_is_written(const Call& call, const Outcome& outcome,
                                       const Variation& variation, Verdict* verdict) {
  if (!outcome.accepted || variation.may == May::kStayInsideOrReject) return;
  const std::string written = call.stray_write(/*inside=*/false);
  verdict->add(written.empty() ? ""
                               : describe(call, variation, written) +
                                     " was written, which belongs to no tensor; expected that "
                                     "only elements are written");
}

/// Returns the rules that hold on every device: those of variation_rules(), and the rules of this
/// file. Throws only std::bad_alloc.
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
      {"InputsAreNotWritten", "only what (a!) marks is written", nullptr, nullptr,
       inputs_are_not_written},
      {"StaysInside", "nothing around the tensors is written", nullptr, nullptr,
       nothing_outside_is_written},
      {"RowAlone", "by_row(): a row has the same bits in every run, alone and among other rows",
       nullptr, depends_on_the_row_alone},
  };
  rules.insert(rules.begin(), more_rules.begin(), more_rules.end());
  return rules;
}

/// Tries rules with an op and returns a verdict for each. Each rule makes calls of its own, except
/// that the rules on every call share them. Throws the errors of Call::run().
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
/// Tries one rule with an op and returns its verdict. Throws the errors of Call::run().
inline Verdict try_rule(const Rule& rule, const Contract& contract) {
  return try_rules({rule}, contract)[0];
}

}  // namespace kernkit::testing::contract
