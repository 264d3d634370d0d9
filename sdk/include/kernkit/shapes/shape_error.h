// SPDX-License-Identifier: Apache-2.0
// throw_shape_error(): the messages for arguments that do not match their schema line.
#pragma once

#include "kernkit/shapes/call_values.h"
#include "kernkit/shapes/line_view.h"

namespace kernkit::shapes {

/// Throws an Error that names the first argument that does not match the schema line: ValueError
/// for a shape or a device, TypeError for a dtype. Inputs are compared before tensors that are only
/// written. `values` has one value for each parameter. Requires that at least one argument does not
/// match. The function repeats the comparison, so that a call that passes its checks spends no time
/// on messages.
[[noreturn, gnu::cold]] void throw_shape_error(const LineView& line, const CallValue* values);

}  // namespace kernkit::shapes

#if !defined(KERNKIT_COMPILED)
#include "kernkit/shapes/impl/shape_error.h"
#endif
