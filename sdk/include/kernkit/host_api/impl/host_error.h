// SPDX-License-Identifier: Apache-2.0
// Moves the error out of the host's error slot.
#pragma once

#include <utility>

#include "kernkit/host_api/any.h"
#include "kernkit/host_api/host_api.h"
#include "kernkit/host_api/host_error.h"

namespace kernkit {

namespace detail {

// Returns an Error with the kind and the message of the host's error object.
KERNKIT_COLD Error error_of_object(const KernkitObject* object) {
  const auto* cell = reinterpret_cast<const KernkitErrorCell*>(object + 1);
  Message error_kind, message;
  error_kind.append(cell->kind.data, cell->kind.size);
  message.append(cell->message.data, cell->message.size);
  return Error(error_kind.c_str(), message.c_str());
}

KERNKIT_COLD ObjectRef take_raised(const char* what) {
  void* raised = nullptr;
  if (auto* take = host_api::error_move_from_raised.get()) take(&raised);
  KERNKIT_CHECK(raised != nullptr, RuntimeError) << what << " failed without an error message";
  return ObjectRef::adopt(static_cast<KernkitObject*>(raised));
}

KERNKIT_COLD void throw_raised(const char* what) { throw HostError(take_raised(what)); }

KERNKIT_COLD void throw_raised_as(const Message& what) {
  const ObjectRef object = take_raised(what.c_str());
  const Error raised = error_of_object(object.get());
  Message text;
  text << what.c_str() << ": " << raised.message();
  throw Error(raised.kind(), text.c_str());
}

}  // namespace detail

KERNKIT_COLD HostError::HostError(detail::ObjectRef object)
    : Error(detail::error_of_object(object.get())), object_(std::move(object)) {}

}  // namespace kernkit
