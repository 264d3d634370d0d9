// SPDX-License-Identifier: Apache-2.0
// KnownOp: the hook's data about one op.
#pragma once

#include <new>

#include "kernkit/call/hook.h"
#include "kernkit/logging/impl/describe.h"
#include "kernkit/logging/impl/settings.h"

namespace kernkit::logging {

struct KnownOp {
  bool is_logged = false;
  bool is_recorded = false;
  int32_t trace_index = -1;  // index in the trace's table of ops; -1 if the op is not in the table
};

/// A call of an op that the call hook logs, traces or records.
struct Call {
  const detail::CallSite* site;
  KnownOp* op;
  const KernkitAny* args;
  int32_t num_args;

  /// Returns parameter i of the schema line, counted from 0, or null if the schema line has no
  /// parameter i.
  const schema::Param* param(int32_t i) const {
    return i < site->signature.num_params ? &site->signature.params[i] : nullptr;
  }
};

/// Appends the name that the schema line gives to argument i, or "argument_<i + 1>" if the schema
/// line has no parameter i.
inline void append_name(Message& out, const Call& call, int32_t i) {
  const schema::Param* param = call.param(i);
  if (param != nullptr && param->name.size > 0) {
    out.append(call.site->line + param->name.begin, static_cast<size_t>(param->name.size));
  } else {
    out << "argument_" << i + 1;
  }
}

/// Appends a call, such as "scale(y=float32[4, 33] cuda:0, factor=2.0)".
inline void append_call(Message& out, const Call& call) {
  out << call.site->name << "(";
  for (int32_t i = 0; i < call.num_args; ++i) {
    append_name(i == 0 ? out : out << ", ", call, i);
    append_value(out << "=", call.args[i]);
  }
  out << ")";
}

/// Returns the device of the first tensor that is not in CPU memory, pinned memory included, or the
/// CPU if there is no such tensor.
inline DLDevice device_of(const KernkitAny* args, int32_t num_args) {
  for (int32_t i = 0; i < num_args; ++i) {
    const DLTensor* tensor = tensor_of(args[i]);
    if (tensor != nullptr && !is_host_memory(tensor->device)) return tensor->device;
  }
  return {kDLCPU, 0};
}

/// Returns the KnownOp of a call site; null if memory is exhausted. The first call creates a
/// KnownOp, and calls `complete(op)` to set its members.
template <class Complete>
KnownOp* known_op(detail::CallSite* site, const Complete& complete) {
  auto* op = static_cast<KnownOp*>(__atomic_load_n(&site->known, __ATOMIC_ACQUIRE));
  if (__builtin_expect(op != nullptr, 1)) return op;
  op = new (std::nothrow) KnownOp;
  if (op == nullptr) return nullptr;
  complete(op);
  void* first = nullptr;
  if (__atomic_compare_exchange_n(&site->known, &first, op, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return op;
  }
  delete op;  // another thread has already stored a KnownOp
  return static_cast<KnownOp*>(first);
}

}  // namespace kernkit::logging
