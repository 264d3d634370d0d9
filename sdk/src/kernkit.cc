// SPDX-License-Identifier: Apache-2.0
// The cold half of the SDK, compiled once in each library (see kernkit/cold.h).
#if !defined(KERNKIT_COMPILED)
#error "kernkit.cc belongs to a library whose files are compiled with KERNKIT_COMPILED"
#endif

#include "kernkit/cpu/impl/elementwise.h"
#include "kernkit/cpu/impl/machine.h"
#include "kernkit/cpu/impl/parallel.h"
#include "kernkit/impl/any.h"
#include "kernkit/impl/any_view.h"
#include "kernkit/impl/argument.h"
#include "kernkit/impl/bytes.h"
#include "kernkit/impl/call_again.h"
#include "kernkit/impl/dispatch.h"
#include "kernkit/impl/dispatch_value.h"
#include "kernkit/impl/dlpack.h"
#include "kernkit/impl/env.h"
#include "kernkit/impl/error.h"
#include "kernkit/impl/host_api.h"
#include "kernkit/impl/host_error.h"
#include "kernkit/impl/list.h"
#include "kernkit/impl/list_items.h"
#include "kernkit/impl/make_function.h"
#include "kernkit/impl/message.h"
#include "kernkit/impl/metadata.h"
#include "kernkit/impl/nd_alloc.h"
#include "kernkit/impl/op.h"
#include "kernkit/impl/overlap.h"
#include "kernkit/impl/owning_any.h"
#include "kernkit/impl/owning_tensor.h"
#include "kernkit/impl/raise.h"
#include "kernkit/impl/refusal.h"
#include "kernkit/impl/result.h"
#include "kernkit/impl/tensor.h"

#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/cuda/impl/check.h"
#include "kernkit/cuda/impl/device_properties.h"
#include "kernkit/cuda/impl/launch.h"
#endif
