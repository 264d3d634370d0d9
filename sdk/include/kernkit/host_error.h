// SPDX-License-Identifier: Apache-2.0
// From the error that a host function left behind to a C++ exception.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api.h"

namespace kernkit::detail {

/// Takes the error from the host's slot and throws it: of the host's kind, with "what: " in front
/// of the host's text. To be called when a function of the host returned nonzero.
[[noreturn, gnu::cold]] void throw_host_error(const Message& what);

}  // namespace kernkit::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/host_error.h"
#endif
