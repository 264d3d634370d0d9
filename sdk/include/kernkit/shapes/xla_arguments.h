// SPDX-License-Identifier: Apache-2.0
// XlaArguments: an op's arguments, read from XLA's buffers and attributes.
#pragma once

#include <utility>

#include "kernkit/abi/xla.h"
#include "kernkit/error.h"
#include "kernkit/shapes/xla_dtype.h"
#include "kernkit/shapes/xla_line.h"
#include "kernkit/tensor.h"

namespace kernkit::shapes {

/// The mismatch between XLA's call and the op's schema line.
enum class XlaFault : uint8_t {
  kLine,
  kAttributes,
  kOperands,
  kResults,
  kBuffer,
  kDType,
  kAlias,
  kAttribute,
};

/// Throws TypeError with the text of `fault` for parameter `name`, which must not be null ("" if
/// the fault concerns no parameter). `got` is the number of attributes, operands or results that
/// XLA passed, or for kDType the number of the dtype in xla/ffi/api/c_api.h; other faults ignore
/// `got`.
[[noreturn, gnu::cold]] void throw_xla_error(XlaFault fault, const char* name, int64_t got = 0);

/// Returns the argument for an attribute of XLA. A str or ScalarType is copied with a terminating
/// NUL to `memory`, which must outlive the argument. A Device such as "cuda:1" (without an index:
/// device 0) uses no memory. Throws ValueError, which names parameter `name`, for a text that
/// contains a NUL, and for an invalid name of a device.
[[gnu::cold]] KernkitAny text_from_xla(const KernkitXlaText& text, schema::Type type,
                                       const char* name, Message* memory);

/// The arguments of one call. An op without text parameters uses no memory for texts. The code
/// names the members of XlaLine in full, because nvcc rejects a reference to them.
template <class Line>
class XlaArguments {
  using Op = kernkit::detail::Op<Line>;

 public:
  static constexpr int kCount = Op::kSchema.num_params;     ///< number of parameters
  static constexpr int kReturns = Op::kSchema.num_returns;  ///< number of results

  /// Reads the buffers and attributes of `frame` for an op on `device`. Copies no elements:
  /// `frame`, its buffers and its attributes must outlive this object. Throws the errors of
  /// throw_xla_error() and text_from_xla().
  KERNKIT_ACCESSOR XlaArguments(const KernkitXlaCallFrame& frame, DLDevice device) {
    if constexpr (!kXlaLine<Line>.is_possible) throw_xla_error(XlaFault::kLine, "", 0);
    if (!KERNKIT_USUALLY(frame.attributes.size == kXlaLine<Line>.num_attributes)) {
      throw_xla_error(XlaFault::kAttributes, "", frame.attributes.size);
    }
    if constexpr (kXlaLine<Line>.has_presence) {
      arguments[kCount] = scalar<schema::Type::kInt>(frame.attributes, 0, kPresenceForXla);
    }
    read_all(frame, device, std::make_index_sequence<kCount>());
    for (int i = 0; i < kReturns; ++i) {
      set_tensor(frame.rets, next_ret_++, device, "a result", &tensors_[kCount + i]);
    }
    if (!KERNKIT_USUALLY(frame.args.size == next_arg_)) {
      throw_xla_error(XlaFault::kOperands, "", frame.args.size);
    }
    if (!KERNKIT_USUALLY(frame.rets.size == next_ret_)) {
      throw_xla_error(XlaFault::kResults, "", frame.rets.size);
    }
  }

  /// Returns XLA's buffers for the kReturns results, borrowed: valid as long as this object. Throws
  /// nothing.
  const DLTensor* results() const { return tensors_ + kCount; }

  /// One value for each parameter. The additional last element receives the mask of the parameters
  /// that are not None.
  KernkitAny arguments[kCount + 1];

 private:
  struct NoTexts {};
  struct Texts {
    Message all[kXlaLine<Line>.num_texts + 1];
  };

  template <size_t... I>
  KERNKIT_ACCESSOR void read_all(const KernkitXlaCallFrame& frame, DLDevice device,
                                 std::index_sequence<I...>) {
    (read<I>(frame, device), ...);
  }

  template <size_t I>
  KERNKIT_ACCESSOR void read(const KernkitXlaCallFrame& frame, DLDevice device) {
    constexpr const schema::Param& kParam = Op::kSchema.params[I];
    const char* name = Op::name(I);
    arguments[I] = {};
    if constexpr (kParam.is_optional) {
      if ((static_cast<uint64_t>(arguments[kCount].v.i64) >> I & 1) == 0) return;
    }
    if constexpr (kParam.type != schema::Type::kTensor) {
      constexpr int kIndex = kXlaLine<Line>.indices[I];
      if constexpr (kXlaLine<Line>.is_text(kParam.type)) {
        if (frame.attributes.types[kIndex] != kKernkitXlaAttributeString) {
          throw_xla_error(XlaFault::kAttribute, name);
        }
        const auto& text = *static_cast<const KernkitXlaText*>(frame.attributes.values[kIndex]);
        arguments[I] = text_from_xla(text, kParam.type, name, &texts_.all[kXlaLine<Line>.texts[I]]);
      } else {
        arguments[I] = scalar<kParam.type>(frame.attributes, kIndex, name);
      }
    } else {
      DLTensor& tensor = tensors_[I];
      if constexpr (kParam.is_written) {
        set_tensor(frame.rets, next_ret_++, device, name, &tensor);
      }
      if constexpr (!kParam.is_only_written) {
        const void* written = kParam.is_written ? tensor.data : nullptr;
        set_tensor(frame.args, next_arg_++, device, name, &tensor);
        if (kParam.is_written && !KERNKIT_USUALLY(tensor.data == written)) {
          throw_xla_error(XlaFault::kAlias, name, 0);
        }
      }
      arguments[I].type_index = kKernkitDLTensorPtr;
      arguments[I].v.ptr = &tensor;
    }
  }

  KERNKIT_ACCESSOR static void set_tensor(const KernkitXlaBuffers& from, int index, DLDevice device,
                                          const char* name, DLTensor* to) {
    if (!KERNKIT_USUALLY(index < from.size && from.types[index] == kKernkitXlaBuffer)) {
      throw_xla_error(XlaFault::kBuffer, name);
    }
    const auto& array = *static_cast<const KernkitXlaArray*>(from.buffers[index]);
    const DLDataType dtype = dtype_of_xla(array.dtype);
    if (!KERNKIT_USUALLY(dtype.bits != 0)) throw_xla_error(XlaFault::kDType, name, array.dtype);
    *to = {array.data, device, static_cast<int32_t>(array.rank), dtype, array.dims, nullptr, 0};
  }

  template <schema::Type Type>
  KERNKIT_ACCESSOR static KernkitAny scalar(const KernkitXlaAttributes& from, int index,
                                            const char* name) {
    constexpr int kDType = Type == schema::Type::kInt     ? kKernkitXlaInt64
                           : Type == schema::Type::kFloat ? kKernkitXlaFloat64
                           : Type == schema::Type::kBool  ? kKernkitXlaBool
                                                          : -1;
    const auto* value = static_cast<const KernkitXlaScalar*>(from.values[index]);
    const bool is_scalar = from.types[index] == kKernkitXlaAttributeScalar;
    if (!KERNKIT_USUALLY(is_scalar && value->dtype == kDType)) {
      throw_xla_error(XlaFault::kAttribute, name);
    }
    KernkitAny any = {};
    if constexpr (Type == schema::Type::kFloat) {
      any.type_index = kKernkitFloat;
      any.v.f64 = *static_cast<const double*>(value->value);
    } else if constexpr (Type == schema::Type::kInt) {
      any.type_index = kKernkitInt;
      any.v.i64 = *static_cast<const int64_t*>(value->value);
    } else {
      any.type_index = kKernkitBool;
      any.v.i64 = *static_cast<const bool*>(value->value) ? 1 : 0;
    }
    return any;
  }

  int next_arg_ = 0;
  int next_ret_ = 0;
  DLTensor tensors_[kCount + kReturns + 1];
  std::conditional_t<(kXlaLine<Line>.num_texts > 0), Texts, NoTexts> texts_;
};

}  // namespace kernkit::shapes

// Included here because kernkit.cc does not contain this code: the code belongs to a component that
// a vendored copy of kernkit may lack.
#include "kernkit/shapes/impl/xla_arguments.h"
