// SPDX-License-Identifier: Apache-2.0
// Checks under names common in kernel libraries. Each macro is one call of KERNKIT_EXPECT. For
// kernels of other libraries; new kernels use KERNKIT_EXPECT.
#pragma once

#include "kernkit/expect.h"

/// Throws ValueError unless tensor x is on a CUDA device (kDLCUDA; pinned and managed memory are
/// rejected), and RuntimeError for a CUDA tensor in a library that was built without CUDA. Throws
/// the errors of KERNKIT_EXPECT as well: ValueError for a read-only Tensor, InternalError for an
/// undefined Tensor. Returns the kernkit::Expect, so that more checks may follow.
#define KERNKIT_CHECK_CUDA(x) KERNKIT_EXPECT(x).cuda()
/// Throws ValueError unless tensor x is in CPU memory (kDLCPU; pinned memory is rejected). Throws
/// the errors of KERNKIT_EXPECT as well: ValueError for a read-only Tensor, InternalError for an
/// undefined Tensor. Returns the kernkit::Expect, so that more checks may follow.
#define KERNKIT_CHECK_CPU(x) KERNKIT_EXPECT(x).cpu()
/// Throws ValueError unless the elements of tensor x are dense in row-major order; an empty tensor
/// passes. Throws the errors of KERNKIT_EXPECT as well: ValueError for a read-only Tensor,
/// InternalError for an undefined Tensor. Returns the kernkit::Expect, so that more checks may
/// follow.
#define KERNKIT_CHECK_CONTIGUOUS(x) KERNKIT_EXPECT(x).contiguous()
/// Throws ValueError unless the elements of each row (the last dimension) of tensor x are adjacent.
/// Rows of at most one element, rank 0 and an empty tensor pass. Throws the errors of
/// KERNKIT_EXPECT as well: ValueError for a read-only Tensor, InternalError for an undefined
/// Tensor. Returns the kernkit::Expect, so that more checks may follow.
#define KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x) KERNKIT_EXPECT(x).last_dim_contiguous()
/// Throws ValueError unless tensor x is on a CUDA device and contiguous (an empty tensor counts as
/// contiguous), and RuntimeError for a CUDA tensor in a library that was built without CUDA. Throws
/// the errors of KERNKIT_EXPECT as well: ValueError for a read-only Tensor, InternalError for an
/// undefined Tensor. Returns the kernkit::Expect, so that more checks may follow.
#define KERNKIT_CHECK_INPUT(x) KERNKIT_EXPECT(x).cuda().contiguous()
/// Throws ValueError unless tensor x has d dimensions. Throws the errors of KERNKIT_EXPECT as well:
/// ValueError for a read-only Tensor, InternalError for an undefined Tensor. Returns the
/// kernkit::Expect, so that more checks may follow.
#define KERNKIT_CHECK_DIM(d, x) KERNKIT_EXPECT(x).rank(d)
/// Throws ValueError unless tensors a and b have the same rank and sizes. Also throws ValueError if
/// a or b is a read-only Tensor, and InternalError if a or b is an undefined Tensor. Returns the
/// kernkit::Expect, so that more checks of a may follow.
#define KERNKIT_CHECK_SHAPE(a, b) KERNKIT_EXPECT(a).same_shape(b)
/// Throws TypeError unless the dtype of tensor x is dt, a DLDataType, or is in dt, a list such as
/// floating{}. Throws the errors of KERNKIT_EXPECT as well: ValueError for a read-only Tensor,
/// InternalError for an undefined Tensor. Returns the kernkit::Expect, so that more checks may
/// follow.
#define KERNKIT_CHECK_DTYPE(x, dt) KERNKIT_EXPECT(x).dtype(dt)
/// Throws TypeError unless tensors a and b have the same dtype. Also throws ValueError if a or b is
/// a read-only Tensor, and InternalError if a or b is an undefined Tensor. Returns the
/// kernkit::Expect, so that more checks of a may follow.
#define KERNKIT_CHECK_SAME_DTYPE(a, b) KERNKIT_EXPECT(a).same_dtype(b)
/// Throws ValueError unless tensors a and b are on the same device (kind and index). Also throws
/// ValueError if a or b is a read-only Tensor, and InternalError if a or b is an undefined Tensor.
/// Returns the kernkit::Expect, so that more checks of a may follow.
#define KERNKIT_CHECK_DEVICE(a, b) KERNKIT_EXPECT(a).same_device(b)
