// SPDX-License-Identifier: Apache-2.0
// Reading the host's error.
#pragma once

#include "kernkit/host_error.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_host_error(const Message& what) {
  auto* take = host_api::error_move_from_raised.get();
  auto* dec_ref = host_api::object_dec_ref.get();
  void* error = nullptr;
  if (take != nullptr && dec_ref != nullptr) take(&error);
  if (error == nullptr) KERNKIT_THROW(RuntimeError) << what.c_str() << ": the host did not say why";
  const auto* cell =
      reinterpret_cast<const KernkitErrorCell*>(static_cast<const KernkitObject*>(error) + 1);
  Message error_kind, text;
  error_kind.append(cell->kind.data, cell->kind.size);
  (text << what.c_str() << ": ").append(cell->message.data, cell->message.size);
  dec_ref(error);
  throw Error(error_kind.c_str(), text.c_str());
}

}  // namespace kernkit::detail
