// SPDX-License-Identifier: Apache-2.0
// Checks under names common in kernel libraries. Each macro is one call of KERNKIT_EXPECT. For
// kernels of other libraries; new kernels use KERNKIT_EXPECT.
#pragma once

#include "kernkit/expect.h"

#define KERNKIT_CHECK_CUDA(x) KERNKIT_EXPECT(x).cuda()
#define KERNKIT_CHECK_CPU(x) KERNKIT_EXPECT(x).cpu()
#define KERNKIT_CHECK_CONTIGUOUS(x) KERNKIT_EXPECT(x).contiguous()
#define KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x) KERNKIT_EXPECT(x).last_dim_contiguous()
/// On a CUDA device and contiguous.
#define KERNKIT_CHECK_INPUT(x) KERNKIT_EXPECT(x).cuda().contiguous()
/// x has d dimensions.
#define KERNKIT_CHECK_DIM(d, x) KERNKIT_EXPECT(x).rank(d)
#define KERNKIT_CHECK_SHAPE(a, b) KERNKIT_EXPECT(a).same_shape(b)
#define KERNKIT_CHECK_DTYPE(x, dt) KERNKIT_EXPECT(x).dtype(dt)
#define KERNKIT_CHECK_SAME_DTYPE(a, b) KERNKIT_EXPECT(a).same_dtype(b)
/// a and b are on one device.
#define KERNKIT_CHECK_DEVICE(a, b) KERNKIT_EXPECT(a).same_device(b)
