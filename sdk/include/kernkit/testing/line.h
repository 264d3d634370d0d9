// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_LINE: tests that an op does what its schema line declares about results and (out!)
// tensors. Link GTest and kernkit::host.
#pragma once

#include "kernkit/schema/parser.h"
#include "kernkit/shapes/shape_error.h"
#include "kernkit/testing/contract.h"

#if defined(KERNKIT_CONTRACT_COMPILED)
namespace kernkit::testing::contract {
// Weak, so that the definition in the compiled rules takes precedence over the definition in the
// header below.
[[gnu::weak]] bool register_tests(const char* op, KernkitFunction function,
                                  KernkitFunction metadata, std::vector<Item> (*items)(),
                                  const char* file, int line);
}  // namespace kernkit::testing::contract
#endif
#include "kernkit/testing/impl/contract.h"

namespace kernkit::testing::contract {

/// The tensor results that have a name in an op's schema line, and a schema line in which these
/// results are the first parameters.
struct NamedResults {
  std::vector<size_t> which;  ///< indices of the named results among the results
  /// "(Tensor(out!) y[n], Tensor x[n]) -> ()" for "(Tensor x[n]) -> Tensor y[n]".
  std::string line = "(";

  /// Reads the results of the op's schema line. Requires that the schema line has no error.
  /// `callee` is not used afterwards. Throws only std::bad_alloc.
  explicit NamedResults(const Callee& callee) {
    const std::string& text = callee.schema_text();
    for (int i = 0; i < callee.schema().num_returns; ++i) {
      const schema::Param& result = callee.schema().returns[i];
      if (result.type != schema::Type::kTensor || result.name.size == 0) continue;
      auto end = static_cast<size_t>(result.name.begin);
      for (int depth = 0; end < text.size(); ++end) {
        const char c = text[end];
        if (depth == 0 && (c == ',' || c == ')')) break;
        depth += (c == '[' || c == '(') - (c == ']' || c == ')');
      }
      const auto begin = static_cast<size_t>(result.name.begin);
      line += "Tensor(out!) " + text.substr(begin, end - begin) + ", ";
      which.push_back(static_cast<size_t>(i));
    }
    const size_t close = text.rfind(')', text.rfind("->"));
    line += text.substr(1, close - 1);
    if (close == 1) line.resize(line.size() - std::min<size_t>(2, line.size() - 1));
    line += ") -> ()";
  }
};

/// Returns result i, counted from 0, of a call, borrowed from the outcome; null if the call has no
/// result i or the result is not a tensor. A single result, which is not in an array or list, is
/// returned for every i. Throws nothing.
inline const DLTensor* result_of(const Outcome& outcome, size_t i) {
  KernkitAny any = outcome.result.get();
  if (any.type_index == kKernkitArray || any.type_index == kKernkitList) {
    const auto* cell = kernkit::detail::cell_of<KernkitSeqCell>(any);
    if (i >= static_cast<size_t>(cell->size)) return nullptr;
    any = static_cast<const KernkitAny*>(cell->data)[i];
  }
  return any.type_index == kKernkitTensor ? AnyView(any).cast<TensorView>().get() : nullptr;
}

/// Throws the error for the first argument that does not match the schema line `text`, a line
/// without errors that is parsed at run time: ValueError for a shape or a device, TypeError for a
/// dtype. `values` has one entry for each parameter of the line, in order. If all arguments match,
/// throws an Error with the message "the arguments do not match the schema line". See
/// shapes::throw_shape_error().
[[noreturn]] inline void throw_shape_error(const char* text, const shapes::CallValue* values) {
  const schema::ParsedLine parsed = schema::parse_line(text);
  const schema::Schema& line = parsed.schema;
  const schema::ShapeLine& read = parsed.shapes;
  const schema::Signature schema = {line.num_params, line.num_required, line.num_returns,
                                    line.params, line.returns};
  shapes::throw_shape_error({text, schema, read.names, read.sizes, read.nodes, read.values,
                             read.num_names, read.run_of, read.like},
                            values);
}

/// Compares the op's results with its schema line. Returns "", or a clause on the first named
/// result that is not a tensor or has another shape, dtype or device: "y: shape [3, 4] does not
/// match ...". Requires that contract.problem() is "" and that `outcome` is the outcome of a
/// call.run() that the op accepted. Throws only std::bad_alloc.
inline std::string other_results(const Contract& contract, Call& call, const Outcome& outcome) {
  const NamedResults results(contract.callee());
  if (results.which.empty()) return "";
  std::vector<shapes::CallValue> values(results.which.size() + contract.callee().num_params() + 1);
  for (size_t k = 0; k < results.which.size(); ++k) {
    values[k].tensor = result_of(outcome, results.which[k]);
    if (values[k].tensor == nullptr)
      return "a result is not a tensor, but the schema line declares a tensor";
  }
  std::vector<DLTensor> tensors(call.arguments.size());
  for (size_t i = 0; i < contract.callee().num_params(); ++i) {
    shapes::CallValue& call_value = values[results.which.size() + i];
    const schema::Param& param = contract.callee().param(i);
    const KernkitAny& value = call.arguments[i].value.get();
    const bool is_left_out = i >= contract.num_arguments();
    if (param.type == schema::Type::kInt && !param.is_list && !param.is_optional) {
      call_value.number = is_left_out ? param.default_int : AnyView(value).cast<int64_t>();
    } else if (param.type == schema::Type::kScalarType && !param.is_list) {
      if (is_left_out) {
        const schema::Span text = param.default_text;
        (void)parse_dtype(contract.callee().schema_text().c_str() + text.begin,
                          static_cast<size_t>(text.size), &call_value.dtype);
      } else if (value.type_index != kKernkitNone) {
        call_value.dtype = AnyView(value).cast<DLDataType>();
      }
    }
  }
  // Collects the tensors, and the first tensor of each list, for the comparison with the schema
  // line.
  for (const size_t i : contract.tensors()) {
    const Argument& argument = call.arguments[i];
    shapes::CallValue& call_value = values[results.which.size() + contract.parameter_of(i)];
    if (call_value.tensor != nullptr) continue;
    DLTensor& tensor = tensors[i];
    tensor.shape = const_cast<int64_t*>(argument.shape.data());
    tensor.ndim = static_cast<int32_t>(argument.shape.size());
    tensor.dtype = argument.dtype;
    tensor.device = argument.stays_on_cpu ? cpu_target().device() : call.target().device();
    call_value.tensor = &tensor;
  }
  try {
    throw_shape_error(results.line.c_str(), values.data());
  } catch (const Error& error) {
    const std::string text = error.message();
    return text == "the arguments do not match the schema line" ? "" : text;  // all arguments match
  }
}

/// Rule Results: checks on each target that the results of the example have the shape, dtype and
/// device of the schema line. Adds each call, and its violation if there is one, to *verdict.
/// Throws the errors of Call::run().
inline void results_match_the_line(const Contract& contract, Verdict* verdict) {
  for (const MakeTarget make_target : targets_of(contract)) {
    const std::unique_ptr<Target> target = make_target();
    Call call(contract, *target);
    const std::string text = other_results(contract, call, call.run());
    verdict->add(text.empty()
                     ? ""
                     : contract.callee().name() + "()" + target->suffix() + ": result " + text);
  }
}

/// Rule OutputsAreNotRead: for each (out!) tensor on each target, runs the example with two
/// different contents of the tensor and compares the bytes of all results. Adds each pair of calls,
/// and its violation if there is one, to *verdict. Throws the errors of Call::run().
inline void outputs_are_not_read(const Contract& contract, Verdict* verdict) {
  for (const MakeTarget make_target : targets_of(contract)) {
    const std::unique_ptr<Target> target = make_target();
    for (const size_t i : contract.tensors()) {
      if (!contract.callee().param(contract.parameter_of(i)).is_only_written) continue;
      Call usual(contract, *target);
      Call other(contract, *target);
      other.arguments[i].values = {3, 1, 7};
      (void)usual.run();
      (void)other.run();
      const std::string differs =
          first_difference(other, usual, [](const Elements& a, const Elements& b) {
            return std::string(a.bytes == b.bytes ? "" : "the bytes differ");
          });
      verdict->add(differs.empty()
                       ? ""
                       : contract.callee().name() + "()" + target->suffix() +
                             " with other old contents of " + contract.name_of(i) + ": " + differs +
                             "; expected that an (out!) tensor is never read");
    }
  }
}

/// Returns the contents of tensor i of the example, whose argument is `argument`, for both items of
/// a batch; each has the tensor's size. The first item has the values of `argument`. If the example
/// states no values and the dtype is a float of NumberFormat, the second item has half of each
/// value, so that no sum, mean or maximum of both items equals the sum, mean or maximum of one
/// item; otherwise the second item repeats the values in reverse order. `i` is not checked. Throws
/// only std::bad_alloc.
inline std::vector<Elements> two_items(const Contract& contract, const Argument& argument,
                                       size_t i) {
  std::vector<double> values = argument.values;
  if (contract.examples()[i].values().empty() && format_of(argument.dtype).epsilon != 0) {
    for (double& value : values) value /= 2;
  } else {
    std::reverse(values.begin(), values.end());
  }
  return {make_elements(argument.dtype, argument.numel(), argument.values),
          make_elements(argument.dtype, argument.numel(), values)};
}

/// Runs the op with a batch of two, in which each tensor has an additional first dimension of 2,
/// and with each item alone. Returns "", or a clause on the first call that the op rejects or the
/// first result that differs (see difference()). Returns "" without these calls if elements of a
/// tensor do not take whole bytes. Throws the errors of Call::run().
inline std::string batch_differs(const Contract& contract, Target& target) {
  Call batch(contract, target);
  std::vector<std::vector<Elements>> items(batch.arguments.size());
  for (const size_t i : contract.tensors()) {
    Argument& argument = batch.arguments[i];
    if (!is_multiple_of_byte(argument.dtype)) return "";
    items[i] = two_items(contract, argument, i);
    argument.contents = items[i][0];
    argument.contents->bytes.insert(argument.contents->bytes.end(), items[i][1].bytes.begin(),
                                    items[i][1].bytes.end());
    argument.shape.insert(argument.shape.begin(), 2);
  }
  const Outcome outcome = batch.run();
  if (!outcome.accepted) return "a call with a batch of two: " + outcome.text();
  for (size_t item = 0; item < 2; ++item) {
    Call single(contract, target);
    for (const size_t i : contract.tensors()) single.arguments[i].contents = items[i][item];
    const Outcome alone = single.run();
    if (!alone.accepted) return "a call with one item of the batch: " + alone.text();
    const std::string differs =
        first_difference(batch, single, [item](const Elements& all, const Elements& expected) {
          const size_t size = expected.bytes.size();
          if (all.bytes.size() != 2 * size)
            return std::string("the result of a batch of two does not have twice the size");
          const auto begin = all.bytes.begin() + static_cast<std::ptrdiff_t>(item * size);
          const Elements actual = {all.dtype, {begin, begin + static_cast<std::ptrdiff_t>(size)}};
          return difference(actual, expected);
        });
    if (!differs.empty())
      return differs + " in item " + std::to_string(item) + " of a batch of two";
  }
  return "";
}

/// Rule ItemsAreComputedAlone: checks on each target what `each...` in the schema line declares:
/// one call with a batch gives the results of a call for each item (see batch_differs()). Checks
/// nothing if the schema line has an error or no `each...`, or if the shape of a tensor in the
/// schema line does not begin with `...`. Adds one observation for each target, and its violation
/// if there is one, to *verdict. Throws the errors of Call::run().
inline void items_are_computed_alone(const Contract& contract, Verdict* verdict) {
  const schema::Schema& schema = contract.callee().schema();
  const schema::ShapeLine line = schema::parse_line(contract.callee().schema_text().c_str()).shapes;
  if (line.error != schema::ShapeError::kNone || !line.is_each()) return;
  for (int v = 0; v < schema.num_params + schema.num_returns; ++v) {
    const bool is_param = v < schema.num_params;
    const schema::Param& value =
        is_param ? schema.params[v] : schema.returns[v - schema.num_params];
    // A framework makes one call for a batch only if "..." comes first among the sizes of every
    // tensor.
    if (value.type == schema::Type::kTensor && line.values[v].run != 0) return;
  }
  for (const MakeTarget make_target : targets_of(contract)) {
    const std::unique_ptr<Target> target = make_target();
    const std::string differs = batch_differs(contract, *target);
    verdict->add(differs.empty() ? ""
                                 : contract.callee().name() + "()" + target->suffix() + ": " +
                                       differs + "; expected the results of a call for each item");
  }
}

/// Returns the rules of KERNKIT_TEST_LINE in the order of their checks. Throws only std::bad_alloc.
inline std::vector<Rule> line_rules() {
  return {
      {"Results", "results have the shape, dtype and device of the schema line", nullptr,
       results_match_the_line},
      {"OutputsAreNotRead", "the old contents of an (out!) tensor do not change a result", nullptr,
       outputs_are_not_read},
      {"ItemsAreComputedAlone", "one call for a batch gives the results of a call for each item",
       nullptr, items_are_computed_alone}};
}

/// Returns "", or contract.problem(), or the first violation of the first rule of line_rules() that
/// the op breaks. If this test crashed in an earlier process, returns the text of that crash and
/// calls nothing. Call the function in a GoogleTest test, in the thread that runs the test. Throws
/// the errors of Call::run().
inline std::string line_failure(const Contract& contract) {
  const std::string test = name_of(*::testing::UnitTest::GetInstance()->current_test_info());
  const std::vector<Crash> crashes = earlier_crashes();
  if (const Crash* crash = crash_of(crashes, test)) return crash->text;
  const CrashGuard guard;
  for (const Rule& rule : line_rules()) {
    Verdict verdict;
    if (contract.problem().empty()) rule.check(contract, &verdict);
    if (!contract.problem().empty()) return contract.problem();
    if (!verdict.violations.empty()) return verdict.violations[0];
  }
  return "";
}

}  // namespace kernkit::testing::contract

/// Defines the test `<op>` in the suite Line, with the arguments and exemptions of
/// KERNKIT_TEST_CONTRACT. An op that reads an output marked (out!), or whose results do not match
/// its schema line, gives a framework's compiler wrong values; no other test detects this.
/// cpu_only() and cuda_only() may be written without a namespace. The program links the op's
/// symbols.
#define KERNKIT_TEST_LINE(op, ...)                                                         \
  extern "C" int __tvm_ffi_##op(void*, const KernkitAny*, int32_t, KernkitAny*);           \
  extern "C" int __tvm_ffi__metadata_##op(void*, const KernkitAny*, int32_t, KernkitAny*); \
  TEST(Line, op) {                                                                         \
    using ::kernkit::testing::cpu_only;                                                    \
    using ::kernkit::testing::cuda_only;                                                   \
    using ::kernkit::testing::example;                                                     \
    using ::kernkit::testing::list;                                                        \
    namespace contract = ::kernkit::testing::contract;                                     \
    EXPECT_EQ(contract::line_failure(contract::make_contract(                              \
                  #op, __tvm_ffi_##op, __tvm_ffi__metadata_##op, {__VA_ARGS__})),          \
              "");                                                                         \
  }
