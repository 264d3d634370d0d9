// SPDX-License-Identifier: Apache-2.0
// Answers to XLA's queries, checks of attributes, and translation of an op's errors for XLA.
#pragma once

#include <string.h>

#include "kernkit/env.h"
#include "kernkit/host_api/host_error.h"
#include "kernkit/shapes/xla.h"

namespace kernkit::shapes {

namespace detail {

[[gnu::cold]] KERNKIT_LOCAL inline KernkitXlaError* xla_error(const KernkitXlaApi* api, int code,
                                                              const char* text) {
  KernkitXlaErrorArgs args = {sizeof args, nullptr, text, code};
  return api->error_create(&args);
}

/// Reports to XLA the version of the FFI API that the handler uses, and whether a graph may capture
/// calls of the handler. XLA rejects a version that it does not support. Versions 0.1 to 0.3 have
/// the same layout of the structs that this function reads.
[[gnu::cold]] KERNKIT_LOCAL inline KernkitXlaError* describe(const KernkitXlaCallFrame& frame,
                                                             bool has_graphs,
                                                             KernkitXlaMetadata* metadata) {
  const KernkitXlaVersion& xlas = frame.api->version;
  int minor = kKernkitXlaMinor;
  if (xlas.major_version == kKernkitXlaMajor) {
    const bool is_long =
        frame.struct_size >= sizeof frame && frame.args.struct_size >= sizeof frame.args &&
        frame.rets.struct_size >= sizeof frame.rets &&
        frame.attributes.struct_size >= sizeof frame.attributes &&
        metadata->struct_size >= offsetof(KernkitXlaMetadata, traits) + sizeof metadata->traits &&
        frame.api->struct_size >= offsetof(KernkitXlaApi, more);
    if (!is_long) {
      return xla_error(frame.api, kKernkitXlaInternal,
                       "kernkit: structs of XLA's FFI API are shorter than those of version 0.1");
    }
    if (xlas.minor_version < minor) minor = xlas.minor_version;
  }
  metadata->version.major_version = kKernkitXlaMajor;
  metadata->version.minor_version = minor;
  metadata->traits = has_graphs ? kKernkitXlaGraphs : 0;
  return nullptr;
}

/// Throws TypeError unless the attributes of an XLA program have the names that the schema line
/// declares, in the same order.
[[gnu::cold]] KERNKIT_LOCAL inline void check_names(const KernkitXlaAttributes& attributes,
                                                    const char* const* names, int num_names) {
  Message expected;
  bool are_same = attributes.size == num_names;
  for (int i = 0; i < num_names; ++i) {
    expected << (i > 0 ? ", " : "") << names[i];
    are_same = are_same && attributes.names[i]->size == strlen(names[i]) &&
               memcmp(attributes.names[i]->data, names[i], strlen(names[i])) == 0;
  }
  if (are_same) return;
  Message got;
  for (int i = 0; i < attributes.size; ++i) {
    got << (i > 0 ? ", " : "");
    got.append(attributes.names[i]->data, attributes.names[i]->size);
  }
  KERNKIT_THROW(TypeError) << "expected attributes [" << expected.c_str() << "], got ["
                           << got.c_str() << "]";
}

/// Runs the op on the device and the stream of XLA's call. If a function of XLA fails, sets *error
/// to the error that the function returned.
KERNKIT_LOCAL inline int run_on_xlas_stream(const XlaOp& op, DLDeviceType type,
                                            const KernkitXlaCallFrame& frame,
                                            KernkitXlaError** error) {
  KERNKIT_CHECK(frame.api->struct_size >= sizeof(KernkitXlaApi), RuntimeError)
      << "XLA's FFI API does not report the device; install a newer jaxlib";
  KernkitXlaStreamArgs stream = {sizeof stream, nullptr, frame.context, nullptr};
  KernkitXlaOrdinalArgs device = {sizeof device, nullptr, frame.context, 0};
  *error = frame.api->stream_get(&stream);
  if (*error == nullptr) *error = frame.api->ordinal_get(&device);
  if (*error != nullptr) return 0;
  const StreamGuard guard({type, device.ordinal}, stream.stream);
  return op.run(frame, {type, device.ordinal});
}

}  // namespace detail

KERNKIT_LOCAL inline KernkitXlaError* raised_for_xla(const KernkitXlaApi* api,
                                                     const char* name) noexcept {
  struct Code {
    const char* kind;
    int code;
  };
  static constexpr Code kCodes[] = {{kind::TypeError, kKernkitXlaInvalidArgument},
                                    {kind::ValueError, kKernkitXlaInvalidArgument},
                                    {kind::IndexError, kKernkitXlaOutOfRange},
                                    {kind::MemoryError, kKernkitXlaResourceExhausted},
                                    {kind::NotImplementedError, kKernkitXlaUnimplemented}};
  try {
    if (host_api::error_move_from_raised.get() != nullptr) kernkit::detail::throw_raised(name);
    throw Error(kernkit::detail::last_error());
  } catch (const Error& error) {
    int code = kKernkitXlaInternal;
    for (const Code& entry : kCodes)
      code = strcmp(error.kind(), entry.kind) == 0 ? entry.code : code;
    return detail::xla_error(api, code, error.what());
  } catch (...) {
    return detail::xla_error(api, kKernkitXlaResourceExhausted, "out of memory");
  }
}

KERNKIT_LOCAL inline KernkitXlaError* call_from_xla(const XlaOp& op, DLDeviceType type,
                                                    const KernkitXlaCallFrame& frame) noexcept {
  for (auto* extension = frame.extension; extension != nullptr; extension = extension->next) {
    if (extension->type == kKernkitXlaExtensionMetadata) {
      auto* query = reinterpret_cast<KernkitXlaMetadataExtension*>(extension);
      // An op that returns tensors cannot be captured in a graph: the memory of a captured call
      // belongs to the graph, and the op must not keep it after the call.
      return detail::describe(frame, type != kDLCPU && !op.returns, query->metadata);
    }
  }
  int code = 0;
  KernkitXlaError* error = nullptr;
  try {
    if (frame.stage == kKernkitXlaStageInstantiate) {
      KERNKIT_CHECK(op.owner[0] == '\0', TypeError)
          << op.owner + strlen(op.name) + strlen(": ")
          << " takes an owning Tensor, and XLA's memory is valid for one call: take a TensorView";
      detail::check_names(frame.attributes, op.attributes, op.num_attributes);
    } else if (frame.stage == kKernkitXlaStageExecute) {
      code = type == kDLCPU ? op.run(frame, {type, 0})
                            : detail::run_on_xlas_stream(op, type, frame, &error);
    }
  } catch (...) {
    code = kernkit::detail::raise_current_exception(op.name, op.location);
  }
  return code == 0 ? error : raised_for_xla(frame.api, op.name);
}

}  // namespace kernkit::shapes
