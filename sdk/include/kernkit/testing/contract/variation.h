// SPDX-License-Identifier: Apache-2.0
// Variation: the example with something changed, and what may come of it.
#pragma once

#include <functional>

#include "kernkit/testing/contract/call.h"

namespace kernkit::testing::contract {

/// What an op may do with a changed call. Whatever is refused is refused by an error of the kind
/// that the variation names.
enum class May {
  kRefuse,    // nothing else
  kGiveSame,  // only what the same arguments give when they lie dense and aligned
  kGiveSameOrRefuse,
  kGiveSameNumbersOrRefuse,  // other dtypes: the example's numbers, as far as they hold them
  kStayInsideOrRefuse,       // anything that depends on and writes nothing around the tensors
  kGiveAnythingOrRefuse,
};

struct Variation {
  std::string what;  // "with x on rocm:0"
  May may;
  const char* kind;  // of the refusal
  std::vector<size_t>
      about;  // the refusal mentions at least one of these arguments; none: any text
  std::function<void(Call&)> change;
};
using Variations = std::vector<Variation>;

/// Whether the text has the name as a word.
inline bool mentions(const std::string& text, const std::string& name) {
  const auto in_word = [&](size_t i) {
    return i < text.size() && schema::detail::is_name_char(text[i]);
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) return true;
  }
  return false;
}

/// "x", "x or y": of elements, the lists that they are in.
inline std::string names_of(const Contract& contract, const std::vector<size_t>& arguments) {
  std::string text;
  for (const size_t i : arguments) {
    const std::string name = contract.callee().argument_name(contract.parameter_of(i));
    if (!mentions(text, name)) text += (text.empty() ? "" : " or ") + name;
  }
  return text;
}

/// Whether an error is of the kind that was expected; none at all is rule CBoundary's. A library
/// that has no CUDA half says so by a RuntimeError, where a device is what is wrong.
inline bool is_kind(const Outcome& outcome, const Variation& variation) {
  if (outcome.kind.empty() || outcome.kind == variation.kind) return true;
  return outcome.kind == kind::RuntimeError && variation.kind == std::string(kind::ValueError) &&
         outcome.message.find("was built without CUDA") != std::string::npos;
}

/// The float of the call that has the fewest digits.
inline double coarsest(const Call& call) {
  double epsilon = 0;
  for (const Argument& argument : call.arguments) {
    if (argument.is_tensor) epsilon = std::max(epsilon, format_of(argument.dtype).epsilon);
  }
  return epsilon;
}

/// "" or where two calls gave something else: "element 3 of y is 7, not 14".
template <class Differ>
std::string first_difference(const Call& got, const Call& wanted, const Differ& differ) {
  if (got.given().size() != wanted.given().size()) return "it gives another number of results";
  for (size_t k = 0; k < got.given().size(); ++k) {
    std::string text = differ(got.given()[k].elements, wanted.given()[k].elements);
    if (text.empty()) continue;
    return "of " + got.given()[k].name + ", " + text;
  }
  return "";
}
inline std::string first_difference(const Call& got, const Call& wanted) {
  return first_difference(got, wanted, difference);
}

/// "" when the op did with the variation what it may. Otherwise what it did and what is expected.
inline std::string violation_of(const Contract& contract, Place& place, const Variation& variation,
                                Call& call) {
  variation.change(call);
  const Outcome outcome = call.run();
  const std::string refusal =
      std::string("a ") + variation.kind + " that names " +
      (variation.about.empty() ? "what is wrong" : names_of(contract, variation.about));
  const auto told = [&](const std::string& did, const std::string& expected) {
    return contract.callee().name() + "() " + variation.what + place.suffix() + ": " + did +
           "; expected " + expected;
  };
  const std::string same = "what dense and aligned tensors give";
  if (!outcome.accepted) {
    if (variation.may == May::kGiveSame) return told(outcome.text(), same);
    const bool other_result = variation.may != May::kRefuse;
    return is_kind(outcome, variation)
               ? ""
               : told(outcome.text(), (other_result ? "a right result, or " : "") + refusal);
  }
  switch (variation.may) {
    case May::kRefuse: return told(outcome.text(), refusal);
    case May::kGiveSame:
    case May::kGiveSameOrRefuse: {
      Call plain = Call::plain(call, place);
      const Outcome of_plain = plain.run();
      if (!of_plain.accepted) return "";  // other rules say so
      const std::string differs = first_difference(call, plain);
      const bool may_refuse = variation.may == May::kGiveSameOrRefuse;
      return differs.empty() ? "" : told(differs, same + (may_refuse ? ", or " + refusal : ""));
    }
    case May::kGiveSameNumbersOrRefuse: {
      Call example(contract, place);
      if (!example.run().accepted) return "";
      const std::string differs =
          first_difference(call, example, [&](const Elements& got, const Elements& wanted) {
            return difference_of_numbers(got, wanted, std::max(coarsest(call), coarsest(example)));
          });
      return differs.empty() ? "" : told(differs, "the numbers of the example, or " + refusal);
    }
    case May::kStayInsideOrRefuse: {
      const std::string stray = call.stray_write(/*inside=*/false);
      if (!stray.empty()) return told(stray + " was written", refusal);
      Call other(contract, place, 0x5a);
      variation.change(other);
      if (!other.run().accepted) return "";
      const std::string differs = first_difference(call, other, [](const auto& a, const auto& b) {
        return a.bytes == b.bytes ? "" : "elements depend on bytes behind the tensors";
      });
      return differs.empty() ? "" : told(differs, refusal);
    }
    case May::kGiveAnythingOrRefuse: break;
  }
  return "";
}

/// The same. What is right is called once more with all memory closed that belongs to no tensor:
/// AddressSanitizer reports what the op reads there, and that it never uses does not hide it.
inline std::string violation(const Contract& contract, Place& place, const Variation& variation) {
  Call call(contract, place);
  std::string text = violation_of(contract, place, variation, call);
  if (KERNKIT_CLOSES_MEMORY != 0 && text.empty() && call.stray_write(/*inside=*/false).empty()) {
    (void)call.run(/*closed=*/true);
  }
  return text;
}

}  // namespace kernkit::testing::contract
