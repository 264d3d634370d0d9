// SPDX-License-Identifier: Apache-2.0
// What a tensor that comes through DLPack must be, checked before the host sees it: a host takes
// any version, drops the flags, and believes the rest.
#pragma once

#include "kernkit/memory/data_size.h"

namespace kernkit::detail {

/// Flags by number, since dlpack.h has the third from 1.1 on.
inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kIsCopied = 2;
inline constexpr uint64_t kSubbytePadded = 4;

/// ValueError unless the major version is ours and every flag is one that kernkit keeps. Reads no
/// other member: another major version has another layout.
void check_version(const DLManagedTensorVersioned& tensor);

/// TypeError for a dtype of no bits or lanes. ValueError for a negative rank or size, a missing
/// shape or data, elements that cannot be counted or addressed, a first element that is not aligned
/// to its dtype. Strides may be missing. An empty tensor needs no data.
void check_tensor(const DLTensor& tensor);

/// ValueError unless the tensor, checked before, has this alignment (0: any) and is contiguous if
/// required.
void check_wishes(const DLTensor& tensor, size_t require_alignment, bool require_contiguous);

/// ValueError when elements have negative offsets or are past the end of memory for this shape.
/// Strides may be missing. The sizes must have been checked.
void check_strides(ShapeView shape, ShapeView strides);

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/memory/impl/dlpack.h"
#endif
