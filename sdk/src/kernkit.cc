// SPDX-License-Identifier: Apache-2.0
// The cold part of the SDK, compiled once in each library (see kernkit/base/cold.h).
#if !defined(KERNKIT_COMPILED)
#error "kernkit.cc belongs to a library whose files are compiled with KERNKIT_COMPILED"
#endif

#include "kernkit/call/impl/argument.h"
#include "kernkit/call/impl/list_items.h"
#include "kernkit/call/impl/metadata.h"
#include "kernkit/call/impl/op.h"
#include "kernkit/call/impl/result.h"
#include "kernkit/call/impl/slow_arguments.h"
#include "kernkit/checks/impl/expect_failure.h"
#include "kernkit/cpu/impl/elementwise.h"
#include "kernkit/cpu/impl/machine.h"
#include "kernkit/cpu/impl/parallel.h"
#include "kernkit/errors/impl/message.h"
#include "kernkit/host_api/impl/any.h"
#include "kernkit/host_api/impl/host_api.h"
#include "kernkit/host_api/impl/host_error.h"
#include "kernkit/host_api/impl/raise.h"
#include "kernkit/impl/any_view.h"
#include "kernkit/impl/bytes.h"
#include "kernkit/impl/dispatch.h"
#include "kernkit/impl/dispatch_value.h"
#include "kernkit/impl/env.h"
#include "kernkit/impl/error.h"
#include "kernkit/impl/list.h"
#include "kernkit/impl/make_function.h"
#include "kernkit/impl/owning_any.h"
#include "kernkit/impl/owning_tensor.h"
#include "kernkit/impl/tensor.h"
#include "kernkit/logging/impl/hook.h"
#include "kernkit/memory/impl/dlpack.h"
#include "kernkit/memory/impl/nd_alloc.h"
#include "kernkit/memory/impl/overlap.h"

// Code of optional components of the SDK, which a vendored copy of kernkit may lack.
#if __has_include("kernkit/cpu/impl/rows.h")
#include "kernkit/cpu/impl/rows.h"
#endif
#if __has_include("kernkit/shapes/impl/shape_error.h")
#include "kernkit/shapes/impl/shape_error.h"
#endif
#if __has_include("kernkit/shapes/impl/results.h")
#include "kernkit/shapes/impl/results.h"
#endif

#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/cuda/impl/check.h"
#include "kernkit/cuda/impl/device_properties.h"
#include "kernkit/cuda/impl/launch.h"
#if __has_include("kernkit/cuda/impl/xla_results.h")
#include "kernkit/cuda/impl/xla_results.h"
#endif
#endif
