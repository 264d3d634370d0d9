// SPDX-License-Identifier: Apache-2.0
// XlaLine: the operands, results and attributes that XLA passes for the parameters of a schema
// line, computed at compile time.
#pragma once

#include "kernkit/call/op.h"

namespace kernkit::shapes {

/// Name of an additional int attribute of each op that has optional parameters; bit i is set if
/// parameter i is not None. Attributes are sorted by name, and '?' precedes every character of a
/// parameter name.
inline constexpr char kPresenceForXla[] = "?given";

/// The operands, results and attributes that XLA passes to an op. Operands are the tensors that the
/// op reads; results are the tensors that the op writes, followed by the tensors that it returns;
/// attributes are the other parameters, sorted by name. Operands and results are in the order of
/// the schema line, without tensors that are None. A tensor that is read and written is an operand
/// and a result, which share a buffer.
template <class Line>
struct XlaLine {
  /// The parsed schema line of the op.
  using Op = kernkit::detail::Op<Line>;
  static constexpr int kCount = Op::kSchema.num_params;  ///< number of parameters

  const char* names[kCount + 1] = {};  ///< names of attributes, in XLA's order
  uint8_t indices[kCount + 1] = {};    ///< index of each non-tensor parameter among the attributes
  uint8_t texts[kCount + 1] = {};      ///< index of each text parameter among all text parameters
  int num_attributes = 0;              ///< number of attributes, kPresenceForXla included
  int num_texts = 0;                   ///< number of str, ScalarType and Device parameters
  bool has_presence = false;  ///< whether the op has optional parameters and kPresenceForXla
  bool is_possible = true;    ///< false if a parameter is a list or a result is not a tensor

  /// Computes the members from the op's schema line, at compile time. Throws nothing.
  constexpr XlaLine() {
    for (int i = 0; i < kCount; ++i) {
      has_presence = has_presence || Op::kSchema.params[i].is_optional;
      is_possible = is_possible && !Op::kSchema.params[i].is_list;
    }
    for (int i = 0; i < Op::kSchema.num_returns; ++i) {
      const schema::Param& result = Op::kSchema.returns[i];
      is_possible = is_possible && result.type == schema::Type::kTensor && !result.is_list &&
                    !result.is_optional;
    }
    if (has_presence) names[num_attributes++] = kPresenceForXla;
    for (int i = 0; i < kCount; ++i) {
      if (is_tensor(i)) continue;
      int index = has_presence ? 1 : 0;
      for (int k = 0; k < kCount; ++k) index += !is_tensor(k) && is_before(k, i) ? 1 : 0;
      indices[i] = static_cast<uint8_t>(index);
      names[index] = Op::name(static_cast<size_t>(i));
      ++num_attributes;
      texts[i] = static_cast<uint8_t>(num_texts);
      if (is_text(Op::kSchema.params[i].type)) ++num_texts;
    }
  }

  /// Returns whether XLA passes a parameter of this type as a text, as it does for str, ScalarType
  /// and Device. Throws nothing.
  static constexpr bool is_text(schema::Type type) {
    return type == schema::Type::kStr || type == schema::Type::kScalarType ||
           type == schema::Type::kDevice;
  }

 private:
  static constexpr bool is_tensor(int i) {
    return Op::kSchema.params[i].type == schema::Type::kTensor;
  }
  static constexpr bool is_before(int a, int b) {
    const char* left = Op::name(static_cast<size_t>(a));
    const char* right = Op::name(static_cast<size_t>(b));
    while (*left == *right && *left != '\0') ++left, ++right;
    return *left < *right;
  }
};

/// The XlaLine of an op.
template <class Line>
KERNKIT_LOCAL inline constexpr XlaLine<Line> kXlaLine{};

}  // namespace kernkit::shapes
