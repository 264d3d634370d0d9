// SPDX-License-Identifier: Apache-2.0
// The rules that hold on every device.
#pragma once

#include "kernkit/testing/contract/argument_rules.h"
#include "kernkit/testing/contract/memory_rules.h"
#include "kernkit/testing/contract/rule.h"
#include "kernkit/testing/contract/tensor_rules.h"

namespace kernkit::testing::contract {

/// Returns make(contract, target), for a rule that does not change the target. An instance of this
/// template has the type MakeVariations. Throws what `make` throws.
template <Variations (*make)(const Contract&, const Target&)>
Variations at_any_target(const Contract& contract, Target& target) {
  return make(contract, target);
}

/// Returns one variation, which changes nothing: the op must accept the example and give its
/// results for dense and aligned tensors. Throws only std::bad_alloc.
inline Variations example_itself(const Contract&, Target&) {
  return {{"with its example", May::kGiveSame, kind::ValueError, {}, [](Call&) {}}};
}

/// Returns the rules that try variations of the example, on the CPU and on a CUDA device, in the
/// order of their tests. The vector exists until the end of the process. Throws only
/// std::bad_alloc, in the first call.
inline const std::vector<Rule>& variation_rules() {
  static const std::vector<Rule> rules = {
      {"Count", "too many or too few arguments raise TypeError", at_any_target<wrong_counts>, {}},
      {"None", "None raises TypeError where the schema has no '?'", at_any_target<none>, {}},
      {"Types", "an argument of another type raises TypeError", at_any_target<wrong_types>, {}},
      {"MixedDtypes",
       "one tensor of another dtype gives a result for its numbers, or raises TypeError",
       at_any_target<mixed_dtypes>,
       {}},
      {"Dtypes", "every dtype gives a result or raises TypeError", at_any_target<dtypes>, {}},
      {"Shapes", "a shape that does not fit raises ValueError", at_any_target<shapes>, {}},
      {"ImpossibleShapes",
       "negative and overflowing sizes raise ValueError",
       at_any_target<impossible_shapes>,
       {}},
      {"Empty", "empty tensors are accepted or raise ValueError", at_any_target<empties>, {}},
      {"Layouts", "other strides give the same results or raise ValueError", layouts, {}},
      {"NullStrides", "a tensor without strides is read as row-major", null_strides, {}},
      {"ByteOffset", "byte_offset is added to the address", at_any_target<byte_offsets>, {}},
      {"Unaligned",
       "unaligned tensors give the same results or raise ValueError",
       at_any_target<unaligned>,
       {}},
      {"PartialOverlap",
       "an output that overlaps another tensor gives the same results or raises ValueError",
       at_any_target<partial_overlaps>,
       {}},
      {"InPlace",
       "an output that is also an input gives the same results or raises ValueError",
       at_any_target<in_place>,
       {}},
      {"SharedInputs",
       "inputs that share memory give the same results or raise ValueError",
       at_any_target<shared_inputs>,
       {}},
      {"MixedDevices",
       "tensors on several devices raise ValueError",
       at_any_target<mixed_devices>,
       {}},
      {"OtherDevices",
       "a device for which the op has no code raises ValueError",
       at_any_target<other_devices>,
       {}},
  };
  return rules;
}

}  // namespace kernkit::testing::contract
