// SPDX-License-Identifier: Apache-2.0
// refuse(): the sentences about arguments that are not as their line says.
#pragma once

#include "kernkit/shapes/given.h"
#include "kernkit/shapes/said_line.h"

namespace kernkit::shapes {

/// Throws the Error for the first argument that is not: of the tensors that are read, then of those
/// that are written only. ValueError for a shape or a device, TypeError for a dtype. Compares
/// once more, so that a call that passes pays nothing for the words.
[[noreturn, gnu::cold]] void refuse(const SaidLine& line, const Given* given);

}  // namespace kernkit::shapes

#if !defined(KERNKIT_COMPILED)
#include "kernkit/shapes/impl/refusal.h"
#endif
