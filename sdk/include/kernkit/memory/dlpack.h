// SPDX-License-Identifier: Apache-2.0
// Checks of an imported DLPack tensor before its conversion to an object of the host: a host
// accepts any version, drops the flags, and does not check the other members.
#pragma once

#include "kernkit/memory/data_size.h"

namespace kernkit::detail {

/// Flags of DLPack as numbers, because dlpack.h defines the third flag only from version 1.1 on.
inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kIsCopied = 2;
inline constexpr uint64_t kSubbytePadded = 4;

/// Throws ValueError unless this library supports the major version and every flag that is set.
/// Reads no other member, because another major version has another layout.
void check_version(const DLManagedTensorVersioned& tensor);

/// Throws TypeError for a dtype without bits or lanes, and ValueError for a negative rank or size,
/// a missing shape or data, elements that cannot be counted or addressed, or a first element that
/// is not aligned to its dtype. Strides may be missing. An empty tensor needs no data.
void check_tensor(const DLTensor& tensor);

/// Throws ValueError unless the first element has the required alignment [bytes; 0 requires
/// nothing] and, if required, the tensor is contiguous. Requires that check_tensor() has accepted
/// the tensor.
void check_wishes(const DLTensor& tensor, size_t require_alignment, bool require_contiguous);

/// Throws ValueError unless each size has a stride and all elements are in the memory of a
/// contiguous tensor with this shape. Requires sizes that are not negative and whose product fits
/// int64_t.
void check_strides(ShapeView shape, ShapeView strides);

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/memory/impl/dlpack.h"
#endif
