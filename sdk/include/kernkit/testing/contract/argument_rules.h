// SPDX-License-Identifier: Apache-2.0
// Rules on arguments of all types: their number, None, types, defaults.
#pragma once

#include "kernkit/call/op.h"
#include "kernkit/testing/contract/variation.h"

namespace kernkit::testing::contract {

/// Returns the variations of rule Count: one argument more than the schema line has parameters, one
/// argument less than it requires, and no arguments. The op must reject the call with TypeError.
/// For an op without required arguments, returns only the first variation. Throws only
/// std::bad_alloc.
inline Variations wrong_counts(const Contract& contract, const Target&) {
  Variations all;
  const auto with = [&](const char* what, int change) {
    all.push_back({what, May::kReject, kind::TypeError, {}, [=](Call& call) {
                     const auto passed = static_cast<int64_t>(call.passed) + change;
                     call.passed = static_cast<size_t>(passed);
                   }});
  };
  const auto count = static_cast<int>(contract.num_arguments());
  with("with one argument too many", static_cast<int>(contract.callee().num_params()) + 1 - count);
  if (contract.callee().schema().num_required == 0) return all;
  with("with an argument missing", contract.callee().schema().num_required - 1 - count);
  with("without arguments", -count);
  return all;
}

/// Returns a change of a call that replaces argument i, counted from 0, by `value`, which the
/// change owns. Requires, without a check, that `value` is not a tensor and that the call has
/// argument i. Throws only std::bad_alloc.
inline std::function<void(Call&)> becomes(size_t i, Any value) {
  return [i, value = std::move(value)](Call& call) {
    call.arguments[i] = Argument();
    call.arguments[i].value = value;
  };
}

/// Returns the indices of the arguments that the example passes and of the elements of its lists,
/// ascending. Throws only std::bad_alloc.
inline std::vector<size_t> arguments_and_elements(const Contract& contract) {
  std::vector<size_t> all;
  for (size_t i = 0; i < contract.examples().size(); ++i) {
    if (i < contract.num_arguments() || contract.is_element(i)) all.push_back(i);
  }
  return all;
}

/// Returns the variations of rule None. Each variation replaces one argument of the example, or one
/// element of its lists, by None; parameters of type Any are left out. The op must reject the call
/// with TypeError; for an optional argument, the op may return any result or reject the call with
/// ValueError. Throws only std::bad_alloc.
inline Variations none(const Contract& contract, const Target&) {
  Variations all;
  for (const size_t i : arguments_and_elements(contract)) {
    const schema::Param& param = contract.callee().param(contract.parameter_of(i));
    if (param.type == schema::Type::kAny) continue;
    const std::string what = "with " + contract.name_of(i) + " = None";
    if (param.is_optional && !contract.is_element(i)) {
      all.push_back({what, May::kGiveAnythingOrReject, kind::ValueError, {i}, becomes(i, Any())});
    } else {
      all.push_back({what, May::kReject, kind::TypeError, {i}, becomes(i, Any())});
    }
  }
  return all;
}

/// Returns a change of a call that replaces argument i, counted from 0, by a float32 tensor of
/// shape [2] with elements 1. Requires, without a check, that the call has argument i. Throws only
/// std::bad_alloc.
inline std::function<void(Call&)> becomes_tensor(size_t i) {
  return [i](Call& call) {
    Argument tensor;
    tensor.is_tensor = true;
    tensor.dtype = dl_float32;
    tensor.shape = {2};
    tensor.values = {1};
    call.arguments[i] = tensor;
  };
}

/// Returns the variations of rule Types. Each variation replaces one argument of the example, or
/// one element of its lists, by a tensor, 3, 1.5 or "no", unless the parameter accepts the value.
/// The op must reject the call with TypeError. Parameters of type Any are left out; bool, int and
/// float accept an int, and a list accepts none of the values. Throws only std::bad_alloc.
inline Variations wrong_types(const Contract& contract, const Target&) {
  using schema::Type;
  Variations all;
  for (const size_t i : arguments_and_elements(contract)) {
    const schema::Param& param = contract.callee().param(contract.parameter_of(i));
    if (param.type == Type::kAny) continue;
    const auto with = [&](const char* what, const std::function<void(Call&)>& change) {
      all.push_back({std::string("with ") + what + " as " + contract.name_of(i),
                     May::kReject,
                     kind::TypeError,
                     {i},
                     change});
    };
    const bool plain = !param.is_list || contract.is_element(i);
    const bool number = plain && (param.type == Type::kInt || param.type == Type::kFloat ||
                                  param.type == Type::kBool);
    // Parameters of type bool, int and float accept an int, and only a float accepts 1.5. "no" is
    // not the name of a dtype, so that a dtype parameter rejects it.
    if (!(plain && param.type == Type::kTensor)) with("a tensor", becomes_tensor(i));
    if (!number) with("an int", becomes(i, Any(3)));
    if (!(plain && param.type == Type::kFloat)) with("a float", becomes(i, Any(1.5)));
    if (!(plain && param.type == Type::kStr)) with("a str", becomes(i, Any("no")));
  }
  return all;
}

/// Checks rule Defaults on `target`. For each permitted number of arguments that leaves out at
/// least one argument and does not exceed the number in the example, runs the op twice: with that
/// number of arguments, and with the defaults of the omitted arguments appended. Returns a sentence
/// for each pair of calls with different results (difference()) or errors, and adds the number of
/// pairs to *tried. Throws the errors of Call::run().
inline std::vector<std::string> wrong_defaults(const Contract& contract, Target& target,
                                               size_t* tried) {
  std::vector<std::string> violations;
  const schema::Schema& line = contract.callee().schema();
  // Copy of the schema text in which names and texts are C strings.
  std::string text = contract.callee().schema_text();
  for (int i = 0; i < line.num_params; ++i) {
    const schema::Span span = line.params[i].default_text;
    if (span.size > 0)
      text[static_cast<size_t>(span.begin) + static_cast<size_t>(span.size)] = '\0';
  }
  for (int left_out = line.num_required; left_out < line.num_params; ++left_out) {
    if (static_cast<size_t>(left_out) > contract.num_arguments()) break;
    ++*tried;
    Call without(contract, target), with(contract, target);
    const auto passed = static_cast<size_t>(left_out);
    without.passed = passed;
    with.passed = contract.callee().num_params();
    for (size_t i = passed; i < with.passed; ++i) {
      const KernkitAny value = kernkit::detail::default_value(line.params[i], text.c_str());
      with.arguments[i] = without.arguments[i] = Argument();
      with.arguments[i].value = Any(AnyView(value));
    }
    const Outcome without_outcome = without.run(), with_outcome = with.run();
    std::string differs;
    if (without_outcome.accepted != with_outcome.accepted ||
        without_outcome.message != with_outcome.message) {
      differs = without_outcome.text() + ", and with the default itself " + with_outcome.text();
    } else if (without_outcome.accepted) {
      differs = first_difference(without, with);
    }
    if (!differs.empty()) {
      violations.push_back(contract.callee().name() + "() without " + contract.name_of(passed) +
                           target.suffix() + ": " + differs + "; expected what the default of " +
                           contract.callee().schema_text() + " gives");
    }
  }
  return violations;
}

}  // namespace kernkit::testing::contract
