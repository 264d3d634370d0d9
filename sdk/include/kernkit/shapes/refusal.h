// SPDX-License-Identifier: Apache-2.0
// refuse(): the sentences about arguments that are not as their line says.
#pragma once

#include "kernkit/shapes/given.h"

namespace kernkit::shapes {

/// Throws the Error for the first argument that is not: of the tensors that are read, then of those
/// that are written only. ValueError for a shape or a device, TypeError for a dtype. The line is
/// read once more, so that a call that passes pays nothing for the words.
[[noreturn, gnu::cold]] void refuse(const char* line, const Given* given);

}  // namespace kernkit::shapes

// A part of the SDK that a library may lack: kernkit.cc does not compile it.
#include "kernkit/shapes/impl/refusal.h"
