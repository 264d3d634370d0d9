// SPDX-License-Identifier: Apache-2.0
// Reads the error of a failed call, and leaves the error for the caller.
#pragma once

#include "kernkit/host_api/any.h"
#include "kernkit/host_api/host_error.h"
#include "kernkit/host_api/raise.h"

namespace kernkit::logging {

/// Appends the error of a failed call to `out`. The error also stays in the host's error slot, from
/// which the op's caller reads the error.
inline void append_error(Message& out) {
  auto* take = host_api::error_move_from_raised.get();
  auto* set = host_api::error_set_raised.get();
  auto* release = host_api::object_dec_ref.get();
  if (take != nullptr && set != nullptr && release != nullptr) {
    void* raised = nullptr;
    take(&raised);
    if (raised == nullptr) {
      out << "failed without an error";
      return;
    }
    const auto* cell =
        reinterpret_cast<const KernkitErrorCell*>(static_cast<const KernkitObject*>(raised) + 1);
    out.append(cell->kind.data, cell->kind.size) << ": ";
    out.append(cell->message.data, cell->message.size);
    set(raised);
    release(raised);
  } else {
    out << detail::last_error().what();
  }
}

}  // namespace kernkit::logging
