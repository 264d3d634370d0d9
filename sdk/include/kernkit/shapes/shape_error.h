// SPDX-License-Identifier: Apache-2.0
// throw_shape_error(): the messages for arguments that do not match their schema line.
#pragma once

#include "kernkit/shapes/call_values.h"
#include "kernkit/shapes/line_view.h"

namespace kernkit::shapes {

/// Throws the Error, which names the argument, for the first argument that does not match the line:
/// inputs come first, then tensors that are only written. ValueError for a shape or a device,
/// TypeError for a dtype. `values` has one value for each parameter, and at least one must not
/// match. Repeats the comparison, so that a call that passes takes no time for messages.
[[noreturn, gnu::cold]] void throw_shape_error(const LineView& line, const CallValue* values);

}  // namespace kernkit::shapes

#if !defined(KERNKIT_COMPILED)
#include "kernkit/shapes/impl/shape_error.h"
#endif
