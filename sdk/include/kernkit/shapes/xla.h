// SPDX-License-Identifier: Apache-2.0
// An op's handlers for XLA's own FFI.
#pragma once

#include "kernkit/host_api/raise.h"
#include "kernkit/optional.h"
#include "kernkit/shapes/xla_arguments.h"
#include "kernkit/shapes/xla_results.h"

namespace kernkit::shapes {

/// True if a parameter of this type owns its tensor. Such a parameter is unsupported in XLA
/// handlers, because XLA's tensors do not outlive the call.
template <class T>
inline constexpr bool kOwnsTensor = std::is_same_v<T, Tensor>;
/// An Optional owns its tensor if its value type owns the tensor.
template <class T>
inline constexpr bool kOwnsTensor<Optional<T>> = kOwnsTensor<T>;

/// Returns the index of the first parameter of a function that owns a tensor, counted from 0, or
/// -1. Throws nothing.
template <class R, class... Params>
constexpr int first_owner(R (*)(Params...)) {
  constexpr bool kOwns[] = {kOwnsTensor<std::decay_t<Params>>..., false};
  for (size_t i = 0; i < sizeof...(Params); ++i) {
    if (kOwns[i]) return static_cast<int>(i);
  }
  return -1;
}

/// Returns the length of the longest parameter name of the op, without a NUL [bytes]. Throws
/// nothing.
template <class Line>
constexpr size_t longest_name() {
  int longest = 0;
  for (const schema::Param& param : kernkit::detail::Op<Line>::kSchema.params) {
    if (param.name.size > longest) longest = param.name.size;
  }
  return static_cast<size_t>(longest);
}

/// Capacity of an OwnerText [bytes].
template <class Line>
inline constexpr size_t kOwnerTextSize = sizeof(Line::kName) + sizeof(": ") + longest_name<Line>();
/// A text with room for "op: parameter" with any parameter of the op.
template <class Line>
using OwnerText = FixedText<kOwnerTextSize<Line>>;
/// Returns "op: parameter" for the parameter with index `index`, which owns a tensor; returns an
/// empty text for -1. Throws nothing.
template <class Line>
constexpr OwnerText<Line> owner_text(int index) {
  OwnerText<Line> result{};
  if (index < 0) return result;
  char* out = kernkit::detail::append(result.text, Line::kName);
  out = kernkit::detail::append(out, ": ");
  kernkit::detail::append(out, kernkit::detail::Op<Line>::name(static_cast<size_t>(index)));
  return result;
}

/// The description of an op that the op's XLA handlers use.
struct XlaOp {
  const char* name;               ///< name of the exported op, for messages
  const char* owner;              ///< "op: parameter" for a parameter that owns a tensor, or ""
  SourceLocation location;        ///< source line of the export
  const char* const* attributes;  ///< names of attributes, in XLA's order
  int num_attributes;             ///< number of names
  bool returns;                   ///< whether the op returns tensors, which the op allocates
  /// Calls the op with XLA's arguments on this device. Returns 0, or -1 on failure, as the op does.
  int (*run)(const KernkitXlaCallFrame& frame, DLDevice device) noexcept;
};

/// Calls an op on a device of this type and on XLA's stream. Also returns the handler's properties
/// if XLA queries them, and rejects a program with attributes that differ from the schema line.
/// Returns null, or XLA's error with the op's message, which XLA then owns. In stages other than
/// instantiation and execution, does nothing and returns null. Throws nothing. May be called from
/// any thread.
KernkitXlaError* call_from_xla(const XlaOp& op, DLDeviceType type,
                               const KernkitXlaCallFrame& frame) noexcept;

/// Creates an XLA error from the error that raise() has stored in the host or, without a host, in
/// this library. The XLA error has the code for the kind of that error (kernkit/abi/xla.h, the
/// codes of absl::Status) and a text such as "ValueError: <message>". The handler returns the error
/// to XLA, which then owns the error. Takes the error out of the host's slot; for an empty slot the
/// text is "RuntimeError: <name> failed without an error message". Without memory the error is
/// kKernkitXlaResourceExhausted, "out of memory". `name` is the name of the op. Throws nothing.
[[gnu::cold]] KernkitXlaError* raised_for_xla(const KernkitXlaApi* api, const char* name) noexcept;

/// Calls the op's exported function with XLA's arguments on this device, and copies the returned
/// tensors into XLA's buffers. Throws nothing. Returns 0, or -1 with an error in the host's or the
/// library's slot.
template <class Line, KernkitFunction Function>
[[gnu::noinline]] KERNKIT_LOCAL int run_for_xla(const KernkitXlaCallFrame& frame,
                                                DLDevice device) noexcept {
  using Arguments = XlaArguments<Line>;
  try {
    Arguments from(frame, device);
    KernkitAny result = {};
    if constexpr (Arguments::kReturns > 0) {
      const auto run = [&] {
        const int code = Function(nullptr, from.arguments, Arguments::kCount, &result);
        if (code == 0) copy_to_xla(&result, from.results(), Arguments::kReturns);
        return code;
      };
      if (is_cpu(device)) return run();
      const XlaGpuMemory memory;
      return run();
    } else {
      return Function(nullptr, from.arguments, Arguments::kCount, &result);
    }
  } catch (...) {
    return kernkit::detail::raise_current_exception(Line::kName, Line::kLocation);
  }
}

/// The XlaOp of an op. `Function` is the op's exported function, `Owner` the text in section
/// "kernkit_owner".
template <class Line, KernkitFunction Function, const OwnerText<Line>* Owner>
KERNKIT_LOCAL inline constexpr XlaOp kXlaOp = {Line::kName,
                                               Owner->text,
                                               Line::kLocation,
                                               kXlaLine<Line>.names,
                                               kXlaLine<Line>.num_attributes,
                                               XlaArguments<Line>::kReturns > 0,
                                               run_for_xla<Line, Function>};

/// Calls call_from_xla() for an op, with a fast path for ordinary calls on the CPU. Returns null,
/// or XLA's error with the op's message, which XLA then owns. Throws nothing.
template <class Line, KernkitFunction Function, const OwnerText<Line>* Owner>
KERNKIT_ACCESSOR inline KernkitXlaError* call_from_xla(DLDeviceType type,
                                                       const KernkitXlaCallFrame& frame) noexcept {
  const bool is_call = frame.extension == nullptr && frame.stage == kKernkitXlaStageExecute;
  if (type == kDLCPU && KERNKIT_USUALLY(is_call)) {
    const int code = run_for_xla<Line, Function>(frame, {kDLCPU, 0});
    return KERNKIT_USUALLY(code == 0) ? nullptr : raised_for_xla(frame.api, Line::kName);
  }
  return call_from_xla(kXlaOp<Line, Function, Owner>, type, frame);
}

}  // namespace kernkit::shapes

// Included here because kernkit.cc does not contain this code: the code belongs to a component that
// a vendored copy of kernkit may lack.
#include "kernkit/shapes/impl/xla.h"
