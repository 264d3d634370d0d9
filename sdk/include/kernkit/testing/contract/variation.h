// SPDX-License-Identifier: Apache-2.0
// Variation: the example with one change, and the permitted outcomes.
#pragma once

#include <functional>

#include "kernkit/testing/contract/call.h"

namespace kernkit::testing::contract {

/// Permitted outcomes of a changed call. A rejection is an error of the kind that the variation
/// names.
enum class May {
  kReject,            ///< a rejection only
  kGiveSame,          ///< the results for the same arguments in dense and aligned memory
  kGiveSameOrReject,  ///< the results of kGiveSame, or a rejection
  /// The example's numbers in another dtype, as far as the dtype can represent them, or a
  /// rejection.
  kGiveSameNumbersOrReject,
  /// Any result that neither depends on nor changes bytes around the tensors, or a rejection.
  kStayInsideOrReject,
  kGiveAnythingOrReject,  ///< any result or a rejection
};

/// The example with one change, and the permitted outcomes.
struct Variation {
  std::string what;                   ///< the change in messages, such as "with x on rocm:0"
  May may;                            ///< permitted outcomes
  const char* kind;                   ///< kind of the error of a rejection
  std::vector<size_t> about;          ///< the error names one of these arguments; empty: any text
  std::function<void(Call&)> change;  ///< changes the example, before the call
};
/// The variations of a rule.
using Variations = std::vector<Variation>;

/// Returns whether `text` contains `name` as a word: no ASCII letter, digit or '_' precedes or
/// follows the name, which must not be empty. Throws nothing.
inline bool mentions(const std::string& text, const std::string& name) {
  const auto in_word = [&](size_t i) {
    return i < text.size() && schema::detail::is_name_char(text[i]);
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) return true;
  }
  return false;
}

/// Returns the names of the arguments with these indices, in this order: "x", "x or y"; for an
/// element of a list, the name of the list. Each name appears once; "" for no arguments. Indices
/// are not checked. Throws only std::bad_alloc.
inline std::string names_of(const Contract& contract, const std::vector<size_t>& arguments) {
  std::string text;
  for (const size_t i : arguments) {
    const std::string name = contract.callee().argument_name(contract.parameter_of(i));
    if (!mentions(text, name)) text += (text.empty() ? "" : " or ") + name;
  }
  return text;
}

/// Returns whether the error of a rejected call has the kind that the variation expects, or is the
/// RuntimeError "... was built without CUDA ..." where a ValueError is expected. Also returns true
/// for a failed call without an error, which rule CBoundary reports. Throws only std::bad_alloc.
inline bool is_kind(const Outcome& outcome, const Variation& variation) {
  if (outcome.kind.empty() || outcome.kind == variation.kind) return true;
  return outcome.kind == kind::RuntimeError && variation.kind == std::string(kind::ValueError) &&
         outcome.message.find("was built without CUDA") != std::string::npos;
}

/// Returns the largest NumberFormat::epsilon of the tensors among the arguments: 2^-10 if the float
/// with the fewest digits is float16; 0 without floats. Throws nothing.
inline double coarsest(const Call& call) {
  double epsilon = 0;
  for (const Argument& argument : call.arguments) {
    if (argument.is_tensor) epsilon = std::max(epsilon, format_of(argument.dtype).epsilon);
  }
  return epsilon;
}

/// Compares the results of two calls, in order. Requires that both calls have run. Returns "" if
/// the results are equal; a text with the name of the first result that differs and the text that
/// `differ` returned, such as "y: element 3 is 7, not 14"; or a text which states that the numbers
/// of results differ. differ(actual, expected) returns "" or the difference of two Elements as a
/// text. Throws only std::bad_alloc and the exceptions of `differ`.
template <class Differ>
std::string first_difference(const Call& actual, const Call& expected, const Differ& differ) {
  if (actual.results().size() != expected.results().size())
    return "it gives another number of results";
  for (size_t k = 0; k < actual.results().size(); ++k) {
    std::string text = differ(actual.results()[k].elements, expected.results()[k].elements);
    if (text.empty()) continue;
    return actual.results()[k].name + ": " + text;
  }
  return "";
}
/// Calls first_difference(actual, expected, difference). Throws only std::bad_alloc.
inline std::string first_difference(const Call& actual, const Call& expected) {
  return first_difference(actual, expected, difference);
}

/// Changes `call`, the example of `contract` on `target`, by the variation and runs the call, and
/// other calls for comparison. Returns "" if the outcome is one that Variation::may permits,
/// otherwise a sentence with the outcome and the expected outcome. Does not check whether an error
/// names an argument. Throws the errors of Call::run().
inline std::string violation_of(const Contract& contract, Target& target,
                                const Variation& variation, Call& call) {
  variation.change(call);
  const Outcome outcome = call.run();
  const std::string rejection =
      std::string("a ") + variation.kind + " that names " +
      (variation.about.empty() ? "what is wrong" : names_of(contract, variation.about));
  const auto describe = [&](const std::string& did, const std::string& expected) {
    return contract.callee().name() + "() " + variation.what + target.suffix() + ": " + did +
           "; expected " + expected;
  };
  const std::string same = "what dense and aligned tensors give";
  if (!outcome.accepted) {
    if (variation.may == May::kGiveSame) return describe(outcome.text(), same);
    const bool other_result = variation.may != May::kReject;
    return is_kind(outcome, variation)
               ? ""
               : describe(outcome.text(),
                          (other_result ? "a correct result, or " : "") + rejection);
  }
  switch (variation.may) {
    case May::kReject: return describe(outcome.text(), rejection);
    case May::kGiveSame:
    case May::kGiveSameOrReject: {
      Call plain = Call::plain(call, target);
      const Outcome of_plain = plain.run();
      if (!of_plain.accepted) return "";  // other rules report this failure
      const std::string differs = first_difference(call, plain);
      const bool may_reject = variation.may == May::kGiveSameOrReject;
      return differs.empty() ? ""
                             : describe(differs, same + (may_reject ? ", or " + rejection : ""));
    }
    case May::kGiveSameNumbersOrReject: {
      Call example(contract, target);
      if (!example.run().accepted) return "";
      const std::string differs =
          first_difference(call, example, [&](const Elements& actual, const Elements& expected) {
            return difference_of_numbers(actual, expected,
                                         std::max(coarsest(call), coarsest(example)));
          });
      return differs.empty() ? ""
                             : describe(differs, "the numbers of the example, or " + rejection);
    }
    case May::kStayInsideOrReject: {
      const std::string stray = call.stray_write(/*inside=*/false);
      if (!stray.empty()) return describe(stray + " was written", rejection);
      Call other(contract, target, 0x5a);
      variation.change(other);
      if (!other.run().accepted) return "";
      const std::string differs = first_difference(call, other, [](const auto& a, const auto& b) {
        return a.bytes == b.bytes ? "" : "elements depend on bytes past the tensors";
      });
      return differs.empty() ? "" : describe(differs, rejection);
    }
    case May::kGiveAnythingOrReject: break;
  }
  return "";
}

/// Returns violation_of() for the variation of the example. In a build with AddressSanitizer, if
/// there is no violation and the call wrote nothing around the tensors, runs the call again with
/// poisoned memory around them: AddressSanitizer reports an access and ends the process, even if
/// the op ignores what it read. Throws the errors of Call::run().
inline std::string violation(const Contract& contract, Target& target, const Variation& variation) {
  Call call(contract, target);
  std::string text = violation_of(contract, target, variation, call);
  if (KERNKIT_POISONS_MEMORY != 0 && text.empty() && call.stray_write(/*inside=*/false).empty()) {
    (void)call.run(/*poisoned=*/true);
  }
  return text;
}

}  // namespace kernkit::testing::contract
