// SPDX-License-Identifier: Apache-2.0
// Checks of a call's arguments against the shapes of the op's schema line, unrolled at compile
// time.
#pragma once

#include <utility>

#include "kernkit/call/op.h"
#include "kernkit/memory/overlap.h"
#include "kernkit/shapes/arithmetic.h"
#include "kernkit/shapes/call_values.h"
#include "kernkit/shapes/line_dtype.h"

namespace kernkit::shapes {

using schema::Name;
using schema::next_word;
using schema::Node;
using schema::NodeKind;
using schema::param_at;
using schema::ShapeLine;
using schema::Size;
using schema::SizeKind;
using schema::Value;
using schema::word_size;

/// Checks the arguments of a call against the op's schema line. The checks are generated from the
/// schema line at compile time.
template <class Line>
class Checks : private kernkit::detail::Op<Line> {
 public:
  using kernkit::detail::Op<Line>::kSchema;  ///< the parsed schema line; nvcc rejects references
  /// The shapes and dtypes of the schema line.
  static constexpr ShapeLine kLine = kernkit::detail::Op<Line>::kParsed.shapes;

  /// Returns whether the arguments match the schema line in rank, sizes, dtype and device; None
  /// always matches. Strides and elements are not read. `values` has one value for each parameter
  /// V, so that a size bound by one tensor can be read from that tensor. Throws nothing for
  /// arguments that the exported function has read.
  template <size_t... V>
  KERNKIT_ACCESSOR static bool fit(const CallValue* values, std::index_sequence<V...>) {
    return (has_rank<V>(values) && ...) && (has_sizes<V>(values) && ...) &&
           (has_dtype<V>(values) && ...);
  }

 private:
  template <size_t V>
  static constexpr Value kValue = kLine.values[V];
  template <size_t V>
  static constexpr int32_t kRank = kLine.values[V].rank();
  template <size_t V>
  static constexpr bool kHasRun = kLine.values[V].run >= 0;

  /// Calls test(tensor) for a tensor, or for the tensors of a list until a call returns false;
  /// makes no call for None. Returns whether all calls returned true.
  template <size_t V, class Test>
  KERNKIT_ACCESSOR static bool each(const CallValue* values, const Test& test) {
    constexpr schema::Param kParam = kSchema.params[V];
    if constexpr (kParam.is_list) {
      if (values[V].list == nullptr) return true;
      for (const TensorView x : *values[V].list) {
        if (!test(x.get())) return false;
      }
      return true;
    } else if constexpr (kParam.is_optional) {
      return values[V].tensor == nullptr || test(values[V].tensor);
    } else {
      return test(values[V].tensor);
    }
  }

  /// Returns whether output v and the first input both have the shape "..." and the output has the
  /// dtype of the first input; one comparison then covers sizes, dtype and device. has_rank() has
  /// already rejected an empty list.
  static constexpr bool is_like_first(size_t v) {
    return kSchema.params[v].is_only_written && kLine.values[v].is_all_run() &&
           kLine.values[v].dtype.size == 0 && kLine.like >= 0 &&
           kLine.values[kLine.like].is_all_run();
  }
  template <size_t V>
  KERNKIT_ACCESSOR static bool has_rank(const CallValue* values) {
    if constexpr (!kValue<V>.has_shape) return true;
    if constexpr (kSchema.params[V].is_list && !kSchema.params[V].is_optional && kLine.binds(V)) {
      if (values[V].tensor == nullptr) return false;
    }
    if constexpr (kValue<V>.is_all_run()) return true;
    return each<V>(values, [](const DLTensor* x) {
      return kHasRun<V> ? x->ndim >= kRank<V> : x->ndim == kRank<V>;
    });
  }

  KERNKIT_ACCESSOR static int64_t at(const DLTensor* x, int axis) {
    return x->shape[axis >= 0 ? axis : x->ndim + axis];
  }
  /// Returns whether name N is bound in this call: the argument that binds the name is neither None
  /// nor an empty list.
  template <int N>
  KERNKIT_ACCESSOR static bool is_bound(const CallValue* values) {
    constexpr Name kName = kLine.names[N];
    constexpr schema::Param kBinder = kSchema.params[kName.value];
    if constexpr (kName.is_parameter || (!kBinder.is_optional && !kBinder.is_list)) return true;
    return values[kName.value].tensor != nullptr;
  }
  /// Returns whether all names of an expression are bound.
  template <int N>
  KERNKIT_ACCESSOR static bool is_known(const CallValue* values) {
    constexpr Node kNode = kLine.nodes[N];
    if constexpr (kNode.kind == NodeKind::kName) return is_bound<kNode.left>(values);
    if constexpr (kNode.kind >= NodeKind::kAdd) {
      return is_known<kNode.left>(values) && is_known<kNode.right>(values);
    }
    return true;
  }

  template <int N>
  KERNKIT_ACCESSOR static bool evaluate(const CallValue* values, int64_t* out) {
    constexpr Node kNode = kLine.nodes[N];
    if constexpr (kNode.kind == NodeKind::kNumber) {
      *out = kNode.number;
    } else if constexpr (kNode.kind == NodeKind::kName) {
      constexpr Name kName = kLine.names[kNode.left];
      if constexpr (kName.is_parameter) {
        *out = values[kName.value].number;
      } else {
        // Sizes are not negative, so the faster unsigned division gives the same result. At the
        // size that binds the name, has_size() checks that the factor divides the size.
        const auto size = static_cast<uint64_t>(at(values[kName.value].tensor, kName.axis));
        *out = static_cast<int64_t>(size / static_cast<uint64_t>(kName.factor));
      }
    } else if constexpr (kNode.kind == NodeKind::kNumel) {
      return checked_product(run_of(values[kLine.run_of].tensor, kLine.values[kLine.run_of]), out);
    } else {
      int64_t left = 0;
      int64_t right = 0;
      const bool is_evaluated =
          evaluate<kNode.left>(values, &left) && evaluate<kNode.right>(values, &right);
      return is_evaluated && apply(kNode.kind, left, right, out);
    }
    return true;
  }

  template <size_t V, int I>
  KERNKIT_ACCESSOR static bool has_size(const CallValue* values, const DLTensor* x) {
    constexpr Size kSize = kLine.sizes[kValue<V>.first + I];
    constexpr bool kIsList = kSchema.params[V].is_list;
    if constexpr (kSize.kind == SizeKind::kAny) return true;
    if constexpr (kSize.kind == SizeKind::kRun) {
      if constexpr (kLine.run_of < 0 || (kLine.run_of == static_cast<int>(V) && !kIsList))
        return true;
      if constexpr (kLine.run_of >= 0) {
        return run_of(x, kValue<V>) ==
               run_of(values[kLine.run_of].tensor, kLine.values[kLine.run_of]);
      }
    }
    if constexpr (kSize.kind == SizeKind::kScaled) {
      constexpr Name kName = kLine.names[kSize.name];
      constexpr bool kBinds = !kName.is_parameter && kName.value == static_cast<int>(V) &&
                              kName.axis == kValue<V>.axis(I);
      if constexpr (kBinds && !kIsList) return at(x, kName.axis) % kSize.factor == 0;
    }
    if constexpr (kSize.kind == SizeKind::kScaled || kSize.kind == SizeKind::kSum) {
      if (!is_known<kSize.node>(values)) return true;
      int64_t expected = 0;
      return evaluate<kSize.node>(values, &expected) && at(x, kValue<V>.axis(I)) == expected;
    }
  }
  template <size_t V, int... I>
  KERNKIT_ACCESSOR static bool each_size(const CallValue* values,
                                         std::integer_sequence<int, I...>) {
    return each<V>(values, [values](const DLTensor* x) {
      (void)values;
      (void)x;
      return (has_size<V, I>(values, x) && ...);
    });
  }
  template <size_t V>
  KERNKIT_ACCESSOR static bool has_sizes(const CallValue* values) {
    if constexpr (is_like_first(V)) {
      return each<V>(values, [values](const DLTensor* x) {
        return kernkit::detail::is_like(x, values[kLine.like].tensor);
      });
    }
    return each_size<V>(values, std::make_integer_sequence<int, kLine.values[V].count>());
  }

  /// Compares the dtype of each tensor of argument V with the schema line. An output with a shape
  /// must be on the first input's device and, if the schema line has no dtype for the output, have
  /// the first input's dtype.
  template <size_t V>
  KERNKIT_ACCESSOR static bool has_dtype(const CallValue* values) {
    constexpr bool kIsOutput = kSchema.params[V].is_only_written;
    if constexpr (kValue<V>.dtype.size > 0) {
      if constexpr (Line::kSchema[kValue<V>.dtype.begin] != '?') {
        const DLDataType expected = line_dtype<kValue<V>.dtype.begin>(values);
        if (!each<V>(values, [expected](const DLTensor* x) { return x->dtype == expected; }))
          return false;
      }
    }
    if constexpr (kValue<V>.has_shape && kIsOutput && kLine.like >= 0 && !is_like_first(V)) {
      const DLTensor* like = values[kLine.like].tensor;
      return each<V>(values, [like](const DLTensor* x) {
        if constexpr (kSchema.params[kLine.like].is_list) {
          if (like == nullptr) return true;  // an empty list determines no dtype and no device
        }
        const bool is_alike = kValue<V>.dtype.size > 0 || x->dtype == like->dtype;
        return is_alike && x->device == like->device;
      });
    }
    return true;
  }
  /// Returns the dtype that "x or y" specifies in this call, where the word x begins at Begin.
  template <int Begin>
  KERNKIT_ACCESSOR static DLDataType line_dtype(const CallValue* values) {
    constexpr int kSize = word_size(Line::kSchema, Begin);
    constexpr DLDataType kDtype = dtype_at(Line::kSchema, Begin, kSize);
    if constexpr (kDtype.bits != 0) {
      return kDtype;
    } else {
      constexpr int kParam = param_at(Line::kSchema, kSchema, Begin, kSize);
      const CallValue& source = values[kParam];
      if constexpr (kSchema.params[kParam].is_optional) {
        if (source.tensor == nullptr && source.dtype.bits == 0) {
          return line_dtype<next_word(Line::kSchema, Begin, kSize)>(values);
        }
      }
      return source.tensor != nullptr ? source.tensor->dtype : source.dtype;
    }
  }
};

}  // namespace kernkit::shapes
